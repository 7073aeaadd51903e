"""Nodes that a person restarts: they alone end and start, the release stays, and no other node is touched or judged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.host_program.test_live import Machine, Make, binary, make, place, pytestmark

__all__ = ["binary", "make", "place", "pytestmark"]

PLAN = {"created": "2026-03-01T12:00:00Z", "seal": "-"}


def begun(machine: Machine, *nodes: str) -> dict[str, Any]:
    """What the host says that there is to do; the spec at hand is newer than what runs."""
    text = machine.spec.replace('"1200 wei', '"1300 wei')
    return machine.ask("begin", plan=PLAN, restart=list(nodes), **machine.request(text))


def restarting(machine: Machine, *nodes: str) -> dict[str, Any]:
    """A switch that restarts nodes, before anybody carries it out."""
    staged = machine.ask("stage", restart=list(nodes), **machine.request(machine.spec))
    assert staged["ok"], staged
    switch: dict[str, Any] = machine.program["begin_switch"](
        staged["release"], {"id": staged["switch"], "restart": list(nodes)}
    )
    return switch


def test_node_restarts_and_everything_else_stays(make: Make) -> None:
    machine = make()
    machine.program |= {"need_program": lambda *_: None}
    Path(machine.program["NEWEST_PLAN"]).write_text("a plan")
    release = json.loads(Path(machine.program["RECORD"]).read_text())["release"]
    newest = Path(machine.program["NEWEST_PLAN"]).read_bytes()
    answer = begun(machine, "orch")
    assert answer["needed"] and [(one["do"], one["node"]) for one in answer["steps"]] == [("restart", "orch")]
    assert Path(machine.program["NEWEST_PLAN"]).read_bytes() == newest, "a restart supersedes no plan"
    machine.ill("gate", "unwell")
    switch = restarting(machine, "orch")
    machine.program["carry_out"](switch)
    assert (switch["phase"], switch["restarted"]) == ("healthy", ["orch"]), "nobody asks the gateway"
    assert machine.ask("confirm", id=switch["id"])["ok"]
    assert machine.starts == {"orch": 2, "gate": 1}
    machine.well("gate")
    assert json.loads(Path(machine.program["RECORD"]).read_text())["release"] == release
    machine.is_whole(machine.spec)


def test_node_that_is_not_here_is_refused(make: Make) -> None:
    answer = begun(make(), "orch", "other")
    assert (answer["ok"], answer["code"]) == (False, "node-not-here")
    assert "other is not in the release of this host, which has orch, gate; deploy it first" in answer["message"]


def test_node_that_is_not_well_after_it_is_restarted_once_more(make: Make) -> None:
    machine = make()
    machine.ill("orch", "unwell")
    switch = restarting(machine, "orch")
    switch["seconds"] |= {"deadline": 0.5}
    machine.program["carry_out"](switch)
    assert (switch["phase"], switch["from"]) == ("quarantined", switch["to"])
    assert machine.starts == {"orch": 3, "gate": 1}
    assert "orch" in switch["reasons"][0]
