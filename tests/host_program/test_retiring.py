"""Nodes that leave a host: nothing of them is forgotten while they still run, and nothing else is touched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.host_program.program import loaded
from tests.host_program.test_broken_off import Machine, request

SECONDS = {"stable": 0, "deadline": 0, "confirm": 60}
LEAVING = {"fleet": "aurora", "host": "edge", "owner": {}, "dead": [], "seconds": SECONDS, "lease": 330}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A host that runs release 1."""
    made = Machine(tmp_path)
    assert made.forward(1) == ""
    return made


def test_host_that_gets_a_release_meanwhile_keeps_its_nodes_away(machine: Machine) -> None:
    """Hosts of one batch exchange nodes: its own switch takes the place of the one that waits."""
    for _ in range(2):  # it may be asked again
        assert machine.ask("retire", nodes=["gate"], **LEAVING)["ok"]
    asked, program = request(2, machine.program), machine.program
    del asked["wanted"]["services"][0]
    release = machine.ask("stage", **asked)["release"]
    program["wait_for_end"] = lambda _: program["read_state"](program["SWITCH"])
    assert machine.ask("activate", release=release, id="own")["ok"]
    program["carry_out"](program["open_switch"]())
    assert machine.ask("left", nodes=["gate"])["ok"]
    program["back"](program["open_switch"](), [])
    assert program["read_state"](program["SWITCH"])["phase"] == "reverted"
    assert list(machine.running) == ["orch"], "also on its way back"


def test_nodes_that_leave_for_two_hosts_wait_for_both(machine: Machine) -> None:
    """For a rollout that begins meanwhile, they are still here."""
    for node in ("gate", "orch"):
        assert machine.ask("retire", nodes=[node], **{**LEAVING, "lease": 0})["ok"]
    assert machine.ask("left", nodes=["orch"])["ok"]
    here = {one["node"]: one["running"] for one in machine.ask("observe")["state"]["processes"]}
    assert here == {"gate": False}
    machine.program["resume"](False)
    assert list(machine.running) == ["gate"]


def test_node_out_of_service_stops_and_its_release_stays_for_the_way_back(machine: Machine) -> None:
    """A release with a file more, which has the node's directory and does not want the node."""
    whole = machine.ask("observe")["state"]["release"]
    asked = request(2, machine.program)
    orch = asked["wanted"]["services"][1]
    asked["wanted"] |= {"services": [orch], "out": {"gate": "until 2027-01-31: new power supply"}}
    shown = machine.program["steps"](machine.program["look"](), machine.program["wanted_state"](asked["wanted"]))
    reasons = {step["node"]: step["reason"] for step in shown if step["do"] == "retire"}
    assert reasons == {"gate": "it is out of service until 2027-01-31: new power supply"}
    staged = machine.ask("stage", **asked)
    switch = machine.program["begin_switch"](staged["release"], {"id": staged["switch"]})
    machine.program["carry_out"](switch)
    assert machine.ask("confirm", id=switch["id"])["ok"]
    assert list(machine.running) == ["orch"]
    assert Path(machine.program["RELEASES"], staged["release"], "gate").is_dir()
    assert not Path(machine.program["CURRENT"], "gate").exists()
    back = machine.program["begin_switch"](machine.program["kept_release"](whole), {"id": "back"})
    machine.program["carry_out"](back)
    assert back["phase"] == "healthy" and sorted(machine.running) == ["gate", "orch"]


def test_node_that_still_runs_after_it_was_stopped_keeps_all_that_tells_of_it(machine: Machine) -> None:
    systemd = machine.program["run"]

    def lying(*words: str, **options: Any) -> Any:
        return machine.program["Done"](0, "", "") if words[:2] == ("systemctl", "stop") else systemd(*words, **options)

    machine.program["run"] = lying
    refused = machine.ask("retire", nodes=["gate"], **LEAVING)
    assert (refused["code"], refused["message"]) == ("step-failed", "gate still runs here after it was stopped")
    assert Path(machine.program["UNITS"], "livepeer-gate.service").exists()
    assert Path(machine.program["MARKERS"], "gate").exists()


@pytest.mark.parametrize(
    "done",
    [(127, "docker: No such file or directory"), (1, "Cannot connect to the Docker daemon")],
    ids=["no command", "no daemon"],
)
def test_docker_that_is_missing_is_no_container_that_stopped(tmp_path: Path, done: tuple[int, str]) -> None:
    program = loaded(tmp_path)
    program["run"] = lambda *_, **__: program["Done"](done[0], "", done[1])
    with pytest.raises(program["RefusedError"], match="gate does not stop: " + done[1]):
        program["stop"]("gate", "docker")


def test_container_that_is_gone_counts_as_stopped(tmp_path: Path) -> None:
    program = loaded(tmp_path)
    said, asked = "Error response from daemon: No such container: livepeer-gate", list[str]()

    def gone(*words: str, **_: Any) -> Any:
        asked.append(words[2])
        return program["Done"](1, "", said)

    program["run"] = gone
    program["stop"]("gate", "docker")
    assert asked == ["stop", "rm"]


@pytest.mark.parametrize("name", ["..", ".", "", "a/b", "../../etc/passwd", "-x", 7, "a\n"])
def test_name_that_leads_elsewhere_is_refused(machine: Machine, name: object) -> None:
    outside = machine.root / "etc/passwd"
    outside.write_text("root")
    assert machine.ask("retire", nodes=[name], **LEAVING)["code"] == "node-name"
    wanted = {"fleet": "aurora", "host": "edge", "services": [{"name": name}]}
    assert machine.ask("begin", wanted=wanted, plan={"created": "", "seal": "-"})["code"] == "node-name"
    assert outside.exists() and sorted(machine.running) == ["gate", "orch"]
    assert "left" not in json.loads(Path(machine.program["RECORD"]).read_text())


@pytest.mark.parametrize(
    ("place", "counts"),
    [
        ("etc/systemd/system.control/livepeer-{}.service.d", True),
        ("run/systemd/system.control/livepeer-{}.service.d", True),
        ("etc/systemd/system/livepeer-.service.d", True),
        ("usr/lib/systemd/system/livepeer-{}.service.d", False),
        ("run/systemd/generator/livepeer-{}.service.d", False),
    ],
)
def test_additions_to_units_are_put_aside_where_they_can_be(machine: Machine, place: str, counts: bool) -> None:
    """What cannot be put aside for good is no reason to restart a node in each rollout."""
    systemd = machine.program["run"]
    files = {node: machine.root / place.format(node) / "50-limits.conf" for node in ("gate", "orch")}
    for file in files.values():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("[Service]\nCPUQuota=5%\n")

    def with_additions(*words: str, **options: Any) -> Any:
        done = systemd(*words, **options)
        if words[:2] != ("systemctl", "show"):
            return done
        lines = []
        for line in done.out.splitlines():
            lines.append(line)
            node = line.removeprefix("Id=livepeer-").removesuffix(".service")
            if node in files and files[node].exists():
                lines.append(f"DropInPaths={files[node]}")
        return machine.program["Done"](0, "\n".join(lines), "")

    machine.program["run"] = with_additions
    plan = {"created": "2026-03-01T12:00:00Z", "seal": "-"}
    assert machine.ask("begin", plan=plan, **request(1, machine.program))["needed"] is counts
    assert machine.forward(1) == ""
    assert machine.ask("begin", plan=plan, **request(1, machine.program))["needed"] is False
    assert any(file.exists() for file in files.values()) is not counts
