"""JSON files of a process: exact numbers, and the strings that a parser gives back."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleetc.blueprint.blueprint import BlueprintFile
from fleetc.emit import data_files
from fleetc.emit.artifacts import json_document, json_line
from fleetc.emit.templates import Templates
from fleetc.text.encoders import HIDDEN
from tests.emit import support

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    max_leaves=20,
)


def file_of(content: Any) -> str:
    files = (BlueprintFile("aiModels.json", content, support.HERE),)
    (draft,) = data_files.emit(support.host("edge-1", support.service("gw-eu", files=files)), Templates({}))
    assert draft.path == "hosts/edge-1/gw-eu/aiModels.json"
    return draft.body.text()


def test_amounts_are_bare_numbers_with_all_their_digits() -> None:
    amounts = [Decimal("1E+3"), Decimal("0.000000000000000000000000001"), 10**30, Decimal("0.50")]
    text = file_of(amounts)
    assert text == "[\n  1000,\n  0.000000000000000000000000001,\n  1000000000000000000000000000000,\n  0.50\n]\n"
    assert [Decimal(a) for a in json.loads(text, parse_float=Decimal)] == amounts


def test_keys_keep_the_order_of_the_plan() -> None:
    assert file_of([{"pipeline": "p", "model_id": "m", "warm": True}]) == (
        '[\n  {\n    "pipeline": "p",\n    "model_id": "m",\n    "warm": true\n  }\n]\n'
    )
    assert file_of({"gateways": []}) == '{\n  "gateways": []\n}\n'


def test_parser_reads_every_odd_value_back() -> None:
    assert json.loads(file_of({"odd": list(support.ODD_VALUES)})) == {"odd": list(support.ODD_VALUES)}


@given(VALUES)
def test_any_value_comes_back_and_hides_nothing(value: Any) -> None:
    for text in (json_document(value), json_line(value)):
        assert json.loads(text) == value
        assert not HIDDEN.search(text)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=18))
def test_any_decimal_comes_back_exactly(value: Decimal) -> None:
    text = json_document(value)
    assert "e" not in text.lower()
    assert json.loads(text, parse_float=Decimal, parse_int=Decimal) == value


@pytest.mark.parametrize("value", [0.1, object(), {"a": [1.5]}])
def test_what_has_no_exact_form_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        json_document(value)
    with pytest.raises(ValueError, match="finite"):
        json_document(Decimal("NaN"))
