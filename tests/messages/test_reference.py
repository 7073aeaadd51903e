"""The values that pages and reference are written from, and the reference: complete, fresh, with examples that hold."""

from __future__ import annotations

import copy
import re
import tomllib
from decimal import Decimal
from typing import Any

import pytest

from fleetc.language import example
from fleetc.language.spec import json_schema, read_fleet
from fleetc.messages.explain import pages
from fleetc.messages.reference import markdown
from fleetc.messages.setters import setter_of
from fleetc.messages.tables import NAME, Table, find, names, plain_name, tables
from fleetc.toml.document import Source, read_document
from fleetc.upstream import FLAGS
from tests.support import ROOT, check_text, fleetc, for_each

PAGE = ROOT / "compiler" / "REFERENCE.md"
FIELDS = [(table, field) for table in tables() for field in table.fields]


def test_committed_page_is_the_generated_one() -> None:
    assert PAGE.read_text(encoding="utf-8") == markdown(), "run make render"


def test_command_prints_the_page() -> None:
    assert fleetc("explain", "--all").stdout == markdown()


def test_every_field_of_the_schema_is_in_a_table_with_its_words() -> None:
    schema = json_schema()
    wanted = {(name, key) for name, table in schema["$defs"].items() for key in table["properties"]}
    shown = {(field.name, field.sentence) for _, field in FIELDS}
    for definition, key in wanted:
        node = schema["$defs"][definition]["properties"][key]
        assert any(key == name and node.get("description", sentence) == sentence for name, sentence in shown), key
    for table, field in FIELDS:
        assert field.kind and field.default and field.sentence, f"{table.name}.{field.name}"
        assert not re.search(r"\{ +=|None|\$ref|object", field.kind), field.kind
        assert "{" not in field.default, f"{table.name}.{field.name}: {field.default}"


@for_each("table", tables())
def test_groups_have_each_field_once_and_what_is_required_comes_first(table: Table) -> None:
    grouped = [field for _, fields in table.groups for field in fields]
    assert sorted(grouped) == sorted(table.fields)
    wanted = [field for field in table.fields if field.required]
    assert grouped[: len(wanted)] == wanted
    assert all(fields for _, fields in table.groups)
    if len(table.fields) > 12 and table.name:
        assert max(len(fields) for _, fields in table.groups) <= 14, "sort them by topic in messages/topics.py"


def test_every_code_has_its_page_and_its_line() -> None:
    text = markdown()
    for code, page in pages().items():
        assert f"\n### {code}\n\n{page.splitlines()[0]}\n" in text
        assert f"\n- [{code}](#{code}): " in text


def test_every_flag_of_the_node_has_a_line() -> None:
    text = markdown()
    for flag in FLAGS:
        assert text.count(f"\n| `-{flag}` `LP_{flag.upper()}` | ") == 1
        setter = setter_of(f"-{flag}")
        assert setter is not None
        (row,) = [line for line in text.splitlines() if line.startswith(f"| `-{flag}` ")]
        shown = [name for name in setter.fields if name in setter.sentence and "." in name]
        assert [name for name in shown if f"[{name}](#{name.partition('.')[0]}" not in row] == []


def test_table_rows_have_as_many_cells_as_their_head() -> None:
    width = 0
    for line in markdown().splitlines():
        cells = len(re.split(r"(?<!\\)\|", line))
        if re.match(r"\| (Key|Flag) ", line):
            width = cells
        elif line.startswith("|"):
            assert cells == width, line


# ------------------------------------------------------------------------------------------------------- examples


def test_the_example_fleet_checks_clean_and_has_every_table() -> None:
    assert check_text(example.text()) == "no problems\n"
    assert fleetc("explain", "--example").stdout == example.text()
    assert [table.name for table in tables() if table.name and example.first_at(table.name) is None] == []


def test_the_part_of_a_table_has_all_of_it_and_nothing_else() -> None:
    part = tomllib.loads(example.part_of(f"gateways.{NAME}"))
    whole = tomllib.loads(example.text())
    assert part == {"gateways": {"gw-eu": whole["gateways"]["gw-eu"]}}
    assert tomllib.loads(example.part_of("gateways.<name>.tickets"))["gateways"]["gw-eu"].keys() == {"tickets"}
    assert tomllib.loads(example.part_of("monitoring")) == {"monitoring": whole["monitoring"]}
    assert example.part_of("ladders.<name>.profiles") == "", "it stands in a line of its ladder"
    assert example.part_of("nothing") == ""


@for_each(("table", "field"), FIELDS)
def test_the_example_of_a_field_is_a_value_that_the_language_takes(table: Table, field: Any) -> None:
    """The value is put into the example fleet; an error about the very field would be one about the value."""
    assert field.example, f"give {table.name}.{field.name} an example: examples=[...] in its Field"
    if field.example.startswith("["):
        return
    raw = copy.deepcopy(_EXAMPLE)
    holders = [(path, node) for path, node in _at(raw, table.name.split(".") if table.name else [], ())]
    path, holder = holders[0]
    value = tomllib.loads(field.example, parse_float=Decimal)[field.name]
    if not field.target:
        holder[field.name] = value
    document, found = read_document([Source("fleet.toml", example.text())])
    assert document is not None and not found
    object.__setattr__(document, "raw", raw)
    _, diagnostics = read_fleet(document)
    wrong = [
        one for one in diagnostics if _below(one.primary.place, (*path, field.name)) and one.code in _ABOUT_A_VALUE
    ]
    assert wrong == []


_EXAMPLE: dict[str, Any] = tomllib.loads(example.text(), parse_float=Decimal)
_ABOUT_A_VALUE = ("invalid-value", "wrong-type", "unknown-value", "number-out-of-range", "inline-secret", "unknown-key")


def _at(node: Any, parts: list[str], path: tuple[Any, ...]) -> Any:
    if isinstance(node, list):
        for place, one in enumerate(node):
            yield from _at(one, parts, (*path, place))
    elif not parts:
        yield path, node
    elif isinstance(node, dict):
        for key, value in node.items():
            if parts[0] in (key, NAME):
                yield from _at(value, parts[1:], (*path, key))


def _below(place: Any, path: tuple[Any, ...]) -> bool:
    return isinstance(place, tuple) and place[: len(path)] == path


# ---------------------------------------------------------------------------------------------------------- finding


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("gateways.max_price", "gateways.<name>.max_price"),
        ("gateways.gw-eu.max_price", "gateways.<name>.max_price"),
        ("gateways.<name>.max_price", "gateways.<name>.max_price"),
        ("gateways.wallet.wallet", "gateways.<name>.wallet"),
        ("gateways.tickets.max_ev", "gateways.<name>.tickets.max_ev"),
        ("gateways.tickets.tickets.max_ev", "gateways.<name>.tickets.max_ev"),
        ("hosts.gpus.model", "hosts.<name>.gpus.model"),
        ("hosts.gpu-1.gpus.0.model", "hosts.<name>.gpus.model"),
        ("orchestrators.a.environment.TZ", "orchestrators.<name>.environment"),
        ("silences.<name>.code", "silences.<name>.code"),
        ("spec", "spec"),
        ("hosts", "hosts.<name>"),
    ],
)
def test_field_is_found_with_and_without_names(name: str, title: str) -> None:
    found = find(name)
    assert found is not None and found[0] == title


@pytest.mark.parametrize(
    "name",
    [
        *("", "[", "gateways.max_prise", "gateways.gw.max_prise", "spec.x", "hosts.a.gpus.x.model"),
        *("gateways.price", "hosts.edge-1", "gateways.gw-eu", "gateways.gw-eu.gw-eu", "hosts.a.gpus.0", "a.b.c"),
    ],
)
def test_what_is_no_field_is_nothing_and_never_its_table(name: str) -> None:
    assert find(name) is None


def test_every_name_that_can_be_proposed_is_found() -> None:
    for name in names():
        found = find(name)
        assert found is not None and plain_name(found[0]) == name
