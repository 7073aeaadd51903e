"""The reference page and the text about one field: complete, fresh, and found by any name that a person would write."""

from __future__ import annotations

import re

import pytest

from fleetc.language.spec import json_schema
from fleetc.messages.explain import pages
from fleetc.messages.reference import lookup, markdown, names, tables
from fleetc.upstream.stream_api import SERVER_OWNED
from tests.support import ROOT, fleetc

PAGE = ROOT / "compiler" / "REFERENCE.md"


def test_committed_page_is_the_generated_one() -> None:
    assert PAGE.read_text(encoding="utf-8") == markdown(), "run make render"


def test_command_prints_the_page() -> None:
    assert fleetc("explain", "--all").stdout == markdown()


def test_every_field_of_the_schema_is_in_a_table_with_its_words() -> None:
    schema = json_schema()
    wanted = {(name, key) for name, table in schema["$defs"].items() for key in table["properties"]}
    shown = {(field.name, field.sentence) for table in tables() for field in table.fields}
    for definition, key in wanted:
        node = schema["$defs"][definition]["properties"][key]
        assert any(key == name and node.get("description", sentence) == sentence for name, sentence in shown), key
    for table in tables():
        for field in table.fields:
            assert field.kind and field.default and field.sentence, f"{table.name}.{field.name}"
            assert not re.search(r"\{ +=|None|\$ref|object", field.kind), field.kind


def test_every_code_has_its_page_and_its_line() -> None:
    text = markdown()
    for code, page in pages().items():
        assert f"\n### {code}\n\n{page.splitlines()[0]}\n" in text
        assert f"\n- [{code}](#{code}): " in text


def test_table_rows_have_four_cells() -> None:
    for line in markdown().splitlines():
        if line.startswith("|"):
            assert len(re.split(r"(?<!\\)\|", line)) == 6, line


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("gateways.max_price", "gateways.<name>.max_price"),
        ("gateways.gw-eu.max_price", "gateways.<name>.max_price"),
        ("gateways.wallet.wallet", "gateways.<name>.wallet"),
        ("gateways.tickets.max_ev", "gateways.<name>.tickets.max_ev"),
        ("gateways.tickets.tickets.max_ev", "gateways.<name>.tickets.max_ev"),
        ("hosts.gpus.model", "hosts.<name>.gpus.model"),
        ("hosts.gpu-1.gpus.0.model", "hosts.<name>.gpus.model"),
        ("orchestrators.a.environment.TZ", "orchestrators.<name>.environment"),
        ("silence.code", "silence.code"),
        ("spec", "spec"),
        ("hosts", "hosts.<name>"),
        ("hosts.edge-1", "hosts.<name>"),
    ],
)
def test_field_is_found_with_and_without_names(name: str, title: str) -> None:
    text = lookup(name)
    assert text is not None
    assert text.splitlines()[0] == title
    assert re.search(r"^Type: .+\nDefault: .+$", text, re.MULTILINE)


@pytest.mark.parametrize(
    "name", ["", "[", "gateways.max_prise", "gateways.gw.max_prise", "spec.x", "hosts.a.gpus.x.model"]
)
def test_unknown_name_is_nothing(name: str) -> None:
    assert lookup(name) is None


def test_every_name_that_can_be_proposed_is_found() -> None:
    for name in names():
        assert lookup(name) is not None, name


def test_command_explains_a_field_and_proposes_one() -> None:
    done = fleetc("explain", "gateways.gw-eu.max_price")
    assert (done.returncode, done.stdout) == (0, lookup("gateways.max_price"))
    done = fleetc("explain", "gateways.max_prise")
    assert done.returncode == 2 and 'did you mean "gateways.max_price"?' in done.stderr


def test_table_lists_its_fields() -> None:
    text = lookup("rollout")
    assert text is not None and "\n  canary: How many hosts go first, alone, " in text


@pytest.mark.parametrize("key", SERVER_OWNED)
def test_field_of_a_stream_that_the_service_sets(key: str) -> None:
    found = lookup(f"streams.{key}")
    assert found is not None
    assert found == lookup(f"streams.stage-main.{key}")
    assert found.startswith(f"streams.<name>.{key}\n\n")
    assert f"Set by the service; where a spec has it, {SERVER_OWNED[key]}." in found
    assert "Default" not in found


def test_fields_of_the_service_stand_in_streams_alone() -> None:
    assert lookup("streams.a.b.ingestRate") is None
    assert lookup("gateways.ingestRate") is None
    assert "| `ingestRate`" not in markdown()
