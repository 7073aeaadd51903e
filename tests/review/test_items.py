"""Nothing of a plan is left out: every field has items or a written reason, and every flag and kind has its classes."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any, get_args, get_origin, get_type_hints

import pytest

from fleetc.blueprint import blueprint, listeners, market, monitoring
from fleetc.blueprint import rollout as of_rollout
from fleetc.blueprint.blueprint import RUNNERS, Blueprint, HostBlueprint, Service
from fleetc.places.origin import given
from fleetc.review.data import IMPACTS
from fleetc.review.impact.meanings import FUNDS, HOST, KINDS, meaning
from fleetc.review.items import of_blueprint, of_stacks
from fleetc.review.items.item import Item, entries_of
from fleetc.review.items.of_blueprint import HOST_FIELDS, items_of
from fleetc.upstream import FLAGS, load
from fleetc.upstream.impacts import meaning_of, passing
from tests.support import EXAMPLES, compiled_example

NAMES = {Service: "service", HostBlueprint: "host", Blueprint: "blueprint", market.MarketTables: "market"}
"""What the code calls a record whose fields have names that others have too."""
MODULES = tuple(module.__name__ for module in (blueprint, listeners, of_rollout, market, monitoring))
WHOLE = {
    **dict.fromkeys(
        (
            *(blueprint.Argument, blueprint.Variable, blueprint.SecretVariable, blueprint.Mount, blueprint.Silenced),
            *(blueprint.Connection, listeners.Listening, blueprint.AllowedNetwork, blueprint.Allowlist),
        ),
        "all of it stands in the item",
    ),
    of_rollout.Health: "see Service.health",
    of_rollout.LiveValue: "see Service.live",
    of_rollout.RolloutTimes: "each has an item of its own",
    blueprint.BlueprintFile: "taken apart entry by entry",
    market.MarketRow: "see Market.rows",
    market.MarketSummary: "see Market.summaries",
    market.Assumed: "its gas price, where it is stated; the size of the active set is always the same",
}
"""Records that are taken apart as a whole, and how."""
_MARKET = "it follows from prices, caps, loads and lists, which are items; the impact has the market"
_NEEDS = "it follows from accounts, secrets, programs, directories and ports, which are items"
LEFT_OUT = {
    "Service.prices": "the arguments and files that carry prices are items",
    **dict.fromkeys(("PriceLine.pays", "PriceLine.work", "PriceLine.price"), "see Service.prices"),
    "Service.exclusive": "it follows from the argument reward and the account",
    "Service.health": "it follows from ports, prices and the release",
    "Service.live": "it follows from arguments and prices, which are items",
    "Program.version": "the release of the node says the same",
    "Program.member": "one item of the node has the whole program",
    "HostBlueprint.needs": _NEEDS,
    **dict.fromkeys((f"Need.{field}" for field in ("subject", "words", "nodes", "facts")), _NEEDS),
    "Blueprint.pairs": "it follows from the batches",
    "Blueprint.needed": "it follows from gateways and their lists",
    "MarketTables.whole": "how the page shows the market; the fleet's size decides",
    **dict.fromkeys(("MarketTables.rows", "MarketTables.summaries", "FundsRow.cost", "FundsRow.runway"), _MARKET),
    "StackBlueprint.cluster": "the items of the slots say it",
    "StackBlueprint.checkout_files": "variables of the slots name them",
    "Startable.networks": "the same for each stack",
    "AvatarSlot.number": "it is the key of the items of the slot",
    "RequestSecret.form": "what the value has to look like; the place decides",
    "Alert.group": "a heading of the file",
    "Panel.group": "a heading of the dashboard",
    **dict.fromkeys(
        (f"Container.{field}" for field in ("user", "configured", "sees_host")), "the same for each program"
    ),
    "Container.ready": "where the program listens says it",
    "Programs.prometheus": "where Prometheus listens says it",
}
"""Fields that have no items, and why."""


def fields_of(record: type) -> list[str]:
    """The fields of a record; how it came about is no part of what it says."""
    return [name for name in get_type_hints(record) if name not in ("origin", "origins")]


def records() -> list[type]:
    """Every record that a plan is made of."""
    found: list[type] = []

    def walk(kind: Any) -> None:
        for inner in get_args(kind):
            walk(inner)
        if not isinstance(kind, type) or kind in found or get_origin(kind) is not None:
            return
        record = dataclasses.is_dataclass(kind) or hasattr(kind, "_fields")
        if kind.__module__ in MODULES and record:
            found.append(kind)
            for hint in get_type_hints(kind).values():
                walk(hint)

    walk(Blueprint)
    return found


@pytest.mark.parametrize("record", records(), ids=lambda record: record.__name__)
def test_every_field_of_the_plan_has_items_or_a_reason_and_not_both(record: type) -> None:
    """The code that makes items names each field; a new one is named here."""
    source = inspect.getsource(of_blueprint) + inspect.getsource(of_stacks)
    for name in fields_of(record) if record not in WHOLE else ():
        read = f"{NAMES.get(record, '')}.{name}" in source or (record is HostBlueprint and name in HOST_FIELDS)
        assert read != (f"{record.__name__}.{name}" in LEFT_OUT), f"{record.__name__}.{name}"


def test_every_reason_belongs_to_a_field() -> None:
    assert set(LEFT_OUT) <= {f"{record.__name__}.{name}" for record in records() for name in fields_of(record)}


@pytest.mark.parametrize("name", EXAMPLES)
def test_keys_are_unique_and_every_item_has_an_origin(name: str) -> None:
    compiled = compiled_example(name)
    assert compiled.blueprint is not None
    found = items_of(compiled.blueprint)
    services = [one for host in compiled.blueprint.hosts for one in host.services if one.table != RUNNERS]
    arguments = sum(item.kind == "argument" for item in found.values())
    assert sum(len(service.arguments) for service in services) == arguments
    assert all(item.origin.paths for item in found.values() if item.kind != "port")
    for item in found.values():
        assert meaning(item, "gateway").none or meaning(item, "gateway").always or meaning(item, "gateway").computed


def test_entries_of_a_list_are_told_apart() -> None:
    twice = [{"pipeline": "llm", "model_id": "a"}, {"pipeline": "llm", "model_id": "a", "warm": True}]
    assert list(entries_of(twice)) == ["llm a", "llm a (2)"]
    assert entries_of({"gateways": [{"ethaddress": "0x1"}], "other": 1}) == {
        "0x1": (("gateways", 0), {"ethaddress": "0x1"}),
        "": ((), {"other": 1}),
    }


def test_every_flag_has_its_classes_or_a_reason() -> None:
    for flag in FLAGS:
        row = meaning_of(flag)
        missing = f"write what a change of it means as its impact in compiler/fleetc/upstream/node_flags.toml: -{flag}"
        assert row.always or row.computed or row.none, missing
        assert set(row.always) | set(row.computed) <= set(IMPACTS) - {"none", "restart"}, flag
        for role in FLAGS[flag].impact.get("roles", {}):
            assert role in {"gateway", "orchestrator", "transcoder", "ai-worker", "redeemer", "remote-signer"}


def test_every_kind_of_item_has_its_classes_or_a_reason() -> None:
    kinds = {"argument", "variable", "secret", "host", "funds", "spec"} | set(KINDS)
    for name in EXAMPLES:
        compiled = compiled_example(name)
        assert compiled.blueprint is not None
        assert {item.kind for item in items_of(compiled.blueprint).values()} <= kinds
    for row in (*KINDS.values(), *HOST.values(), *FUNDS.values()):
        assert row.none or row.always
        assert set(row.always) | set(row.computed) <= set(IMPACTS)


def test_flag_that_nobody_knows_may_do_anything() -> None:
    item = Item(("node", "n", "argument", "-new"), "h", "n", "argument", "-new", "1", given("gateways", "n"))
    found = meaning(item, "gateway")
    assert set(found.always) == {"exposure", "price", "funds", "identity", "chain"}
    assert all("does not know" in text for text in found.always.values())


def test_rows_of_passing_processes_and_directions_name_what_there_is() -> None:
    data = load("impacts.toml")
    for way in ("comes", "goes", "moves"):
        assert set(data[way]) <= set(FLAGS)
        for flag, row in data[way].items():
            for texts in (row, *row.get("roles", {}).values()):
                assert {name for name in texts if name != "roles"} <= set(IMPACTS)
            assert passing(way, flag, "orchestrator")
    assert not passing("comes", "serviceAddr", "ai-worker")
    said = [(ways, data["stack"][name]) for name, ways in data["says"].items()]
    for ways, row in said + [(flag.says, flag.impact) for flag in FLAGS.values() if flag.says]:
        assert "exposure" in row or any("exposure" in inner for inner in row["roles"].values())
        assert set(ways) <= {"added", "removed", "true", "false", "0", "1"}
