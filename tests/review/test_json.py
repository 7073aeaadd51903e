"""The JSON report: it follows its published schema, holds everything, and cuts nothing."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import jsonschema
import pytest

from fleetc.review.data import Review
from fleetc.review.reports.json import as_json, schema
from tests.review.report_support import everyday, wild
from tests.review.samples import mixed, nasty
from tests.support import ROOT, fleetc

VALIDATOR = jsonschema.Draft202012Validator(schema())


def test_schema_is_a_schema_and_the_published_one() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    published = (ROOT / "inventories/review.schema.json").read_text(encoding="utf-8")
    assert json.loads(published) == schema()
    assert fleetc("explain", "--schema", "review").stdout == published


def test_schema_of_a_spec_has_its_tables() -> None:
    assert '"wallets"' in fleetc("explain", "--schema", "spec").stdout
    assert 'fleetc calls it "explain --schema spec"' in fleetc("schema").stderr


def test_every_review_follows_the_schema() -> None:
    for review in (*everyday(), *map(wild, range(6))):
        VALIDATOR.validate(json.loads(as_json(review)))


def test_schema_knows_every_name_and_no_other() -> None:
    found = json.loads(as_json(mixed()))
    compare_names(found, schema())


def compare_names(value: Any, described: dict[str, Any]) -> None:
    if isinstance(value, dict):
        assert list(value) == list(described["properties"]) == described["required"]
        for name, part in value.items():
            compare_names(part, described["properties"][name])
    elif isinstance(value, list):
        for part in value:
            compare_names(part, described["items"])
    else:
        assert described["description"]


@pytest.mark.parametrize("change", [{"format": 2}, {"files": None}, {"restarts": [{"host": "a"}]}, {"fleet": 3}])
def test_schema_refuses_what_is_none(change: dict[str, Any]) -> None:
    found = {**json.loads(as_json(mixed())), **change}
    assert not VALIDATOR.is_valid(found)


def test_nothing_is_lost_or_cut() -> None:
    for review in everyday():
        assert restored(json.loads(as_json(review))) == plain(review)


def plain(review: Review) -> dict[str, Any]:
    """The review as JSON could hold it; half a surrogate survives the way through JSON."""
    found: dict[str, Any] = json.loads(json.dumps(asdict(review), default=str))
    for change in found["changes"]:
        del change["parts"]  # the same effects once more, host by host, for plans
    return found


def restored(found: dict[str, Any]) -> dict[str, Any]:
    picture = found.pop("picture")
    for name in ("format", "verdict", "gravest", "impacts", "broken"):
        del found[name]
    for change in found["changes"]:
        del change["impacts"]
    for box in picture["hosts"]:
        box["facts"] = [[fact["node"], fact["text"]] for fact in box["facts"]]
    found["restarts"] = [[{"host": r["host"], "node": r["node"]}, r["live_sessions"]] for r in found["restarts"]]
    found["cold_starts"] = [[{"host": c["host"], "node": c["node"]}, c["model"]] for c in found["cold_starts"]]
    return {
        **found,
        "picture": picture["hosts"],
        "edges": [list(edge.values()) for edge in picture["edges"]],
    }


def test_text_holds_no_control_and_no_command_of_a_runner() -> None:
    for review in (*everyday(), nasty("##vso[x] ##[error]")):
        text = as_json(review)
        assert text.isascii()
        assert text.replace("\n", "").isprintable()
        assert "##[" not in text
        assert "##vso[" not in text
