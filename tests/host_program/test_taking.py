"""Nodes that ran in their units before fleetc came: taken over without a restart, or given back to those units.

The program is real, and so are its files, the compiled releases and the processes, which are the stand-in node; systemd
is the stand-in of the tests of live settings, which starts what a unit says.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.host_program.test_live import Machine, binary, edited, pytestmark
from tests.support import compile_text

__all__ = ["binary", "pytestmark"]


@pytest.fixture
def machine(binary: Path, tmp_path: Path) -> Iterator[Machine]:
    """A host on which both nodes of a spec run in units that somebody wrote: fleetc was never there."""
    made = Machine(tmp_path, binary, "never")
    units, compiled = Path(made.program["UNITS"]), compile_text(made.spec)
    assert compiled.blueprint is not None
    assert compiled.tree is not None
    (tmp_path / "by-hand").mkdir()
    for path, artifact in compiled.tree.as_mapping().items():
        if path.startswith("hosts/edge/") and path.endswith(".json"):
            (tmp_path / "by-hand" / Path(path).name).write_bytes(artifact.content)
    units.joinpath("multi-user.target.wants").mkdir(parents=True)
    for service in compiled.blueprint.hosts[0].services:
        words = sorted((argument.text for argument in service.arguments), reverse=True)
        lines = "".join(f' \\\n  "-{word}"' for word in words)  # two dashes, in another order
        lines = lines.replace(f"/opt/fleetc/current/{service.name}", f"{tmp_path}/by-hand")
        unit = units / f"livepeer-{service.name}.service"
        unit.write_text(f"# by hand\n[Service]\nExecStart={made.binary}{lines}\n")
        made.start(service.name)
    units.joinpath("multi-user.target.wants", "livepeer-gate.service").symlink_to("../livepeer-gate.service")
    yield made
    for name in list(made.nodes):
        made.stop(name)


def take(machine: Machine, *nodes: str) -> dict[str, Any]:
    """Have the host know that the processes of nodes are as good as their releases."""
    now = machine.program["process_now"]
    wanted = machine.request(machine.spec)["wanted"]
    return machine.ask("take", nodes=list(nodes), processes={node: now(node) for node in nodes}, wanted=wanted)


def units(machine: Machine) -> dict[str, str]:
    """What systemd reads of the nodes: files by their path, links by where they lead."""
    place = Path(machine.program["UNITS"])
    found = (path for path in place.rglob("livepeer-*") if path.is_symlink() or path.is_file())
    return {
        str(path.relative_to(place)): f"-> {path.readlink()}" if path.is_symlink() else path.read_text()
        for path in found
    }


def test_a_node_as_good_as_its_release_goes_on(machine: Machine) -> None:
    assert take(machine, "orch", "gate")["ok"]
    before = {name: node.process.pid for name, node in machine.nodes.items()}
    assert machine.steps(machine.spec) == {"orch": "keep: ", "gate": "keep: "}
    switch = machine.roll_out(machine.spec)
    assert (switch["phase"], switch["restarted"]) == ("healthy", []), switch["reasons"]
    assert {name: node.process.pid for name, node in machine.nodes.items()} == before
    assert all(text.startswith("-> ") for text in units(machine).values())
    machine.is_whole(machine.spec)
    assert not list(Path(machine.program["TAKEN"]).iterdir())
    machine.restart("gate")
    machine.is_whole(machine.spec)
    assert machine.starts == {"orch": 1, "gate": 2}


def test_a_node_with_another_secret_is_restarted(machine: Machine) -> None:
    assert take(machine, "orch", "gate")["ok"]
    machine.rpc = "https://other.example.net"
    assert set(machine.steps(machine.spec).values()) == {"restart: its secrets change"}
    switch = machine.roll_out(machine.spec)
    assert (switch["phase"], sorted(switch["restarted"])) == ("healthy", ["gate", "orch"]), switch["reasons"]


def test_a_change_since_then_restarts_its_node_alone(machine: Machine) -> None:
    assert take(machine, "orch", "gate")["ok"]
    text = edited(machine, "max_sessions = 4", "max_sessions = 8")
    assert machine.steps(text) == {"orch": "restart: its files change", "gate": "keep: "}
    assert machine.roll_out(text)["restarted"] == ["orch"]
    assert machine.starts == {"orch": 2, "gate": 1}


def test_way_back_leaves_all_as_it_was(machine: Machine) -> None:
    assert take(machine, "orch", "gate")["ok"]
    was, text = units(machine), edited(machine, "max_sessions = 4", "max_sessions = 8")
    gate = machine.nodes["gate"].process.pid
    machine.program["healthy"] = lambda *_: ["gate: it does not answer"]
    switch = machine.roll_out(text)
    assert switch["phase"] == "quarantined"  # because the stand-in for health says so of the way back too
    assert units(machine) == was
    assert machine.nodes["gate"].process.pid == gate
    assert (machine.starts, machine.nodes["orch"].process.poll()) == ({"orch": 3, "gate": 1}, None)
    assert not list(Path(machine.program["MARKERS"]).iterdir())
    state = machine.ask("observe")["state"]
    assert [(one["node"], one["drift"]) for one in state["processes"]] == [("gate", [])]  # orch is another process now


def test_a_node_that_was_started_again_is_a_stranger(machine: Machine) -> None:
    assert take(machine, "orch")["ok"]
    machine.stop("orch")
    assert machine.ask("observe")["state"]["processes"] == []
    refused = machine.ask("take", nodes=["gate"], processes={"gate": "x"}, wanted={"services": []})
    assert (refused["ok"], refused["code"]) == (False, "take-changed")
    assert machine.roll_out(machine.spec)["phase"] == "healthy"
    assert machine.starts == {"orch": 2, "gate": 2}
    machine.is_whole(machine.spec)
    assert take(machine, "gate")["code"] == "take-managed"


def test_a_node_that_is_in_no_spec_is_left_alone(machine: Machine) -> None:
    assert take(machine, "orch", "gate")["ok"]
    wanted = machine.request(machine.spec)["wanted"]
    wanted["services"] = [one for one in wanted["services"] if one["name"] == "orch"]
    answer = machine.ask("observe", wanted=wanted, values={"env": {"RPC": "https://rpc.example.net"}})
    assert [one["do"] for one in answer["steps"] if one["node"] == "gate"] == []


@pytest.mark.parametrize(
    ("words", "variables", "files", "same"),
    [
        (["-orchSecret", "one"], {}, {"LP_ORCHSECRET": "one"}, True),
        (["--orchSecret=one"], {"LP_ORCHSECRET": "two"}, {"LP_ORCHSECRET": "one"}, True),
        (["-v=6"], {"LP_ORCHSECRET": "one"}, {"LP_ORCHSECRET": "one"}, True),
        (["-v=6"], {"LP_ORCHSECRET": "two"}, {"LP_ORCHSECRET": "one"}, False),
        (["-v=6"], {}, {"LP_ORCHSECRET": "one"}, False),
        (["-orchSecret=one", "-orchSecret=two"], {}, {"LP_ORCHSECRET": "two"}, False),
        (["-ethPassword", "{folder}/password"], {}, {"file LP_ETHPASSWORD": "one"}, True),
        (["-ethPassword", "{folder}/password"], {}, {"file LP_ETHPASSWORD": "two"}, False),
        (["-ethPassword=one"], {}, {"file LP_ETHPASSWORD": "one"}, True),
        (["-ethPassword={folder}/missing"], {}, {"file LP_ETHPASSWORD": "one"}, False),
        (["-v=6"], {}, {}, True),
    ],
)
def test_secrets_of_a_process(
    words: list[str], variables: dict[str, str], files: dict[str, str], same: bool, machine: Machine, tmp_path: Path
) -> None:
    (tmp_path / "password").write_text("one\n")
    program = machine.program
    content = {name[5:]: value.encode() for name, value in files.items() if name.startswith("file ")}
    lines = "".join(f'{name}="{value}"\n' for name, value in files.items() if not name.startswith("file "))
    if lines:
        content["secrets.env"] = lines.encode()
    real = program["read"]
    there = {
        "/cmdline": "\0".join(["livepeer", *(word.format(folder=tmp_path) for word in words), ""]),
        "/environ": "".join(f"{name}={value}\0" for name, value in variables.items()),
    }
    program["read"] = lambda path: there[path[7:]].encode() if path.startswith("/proc/1") else real(path)
    assert program["has_secrets"]({"process": "boot 1 2"}, content) is same


def test_journal_says_what_was_taken_and_given_back(machine: Machine) -> None:
    assert take(machine, "gate")["ok"]
    machine.program["healthy"] = lambda *_: ["it does not answer"]
    machine.roll_out(machine.spec)
    lines = [json.loads(line) for line in Path(machine.program["JOURNAL"]).read_text().splitlines()]
    told = [(line["what"], line["node"]) for line in lines if line["what"] in ("taken", "given-back")]
    assert told == [("taken", "gate"), ("given-back", "gate")]
