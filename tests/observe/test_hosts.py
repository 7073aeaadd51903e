"""Logs that come from hosts: what a host answers is data, and what it does not answer is said."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fleetc import pipeline
from fleetc.disk.files import FilesError
from fleetc.pipeline import check_spec
from fleetc.rollout.hosts import runner
from fleetc.rollout.hosts.events import Event, RunResult
from fleetc.rollout.hosts.logs import TASK, LogRequest, fetch
from fleetc.rollout.hosts.runner import RunOptions
from fleetc.settings import Settings
from fleetc.toml.document import Source
from tests.observe.support import CAPPED, SPEC, diagnose, glog
from tests.support import ROOT, compiled_example

TREE = compiled_example("demo").tree
ASKED = LogRequest("studio", "gate", 3600, 1000)
FAR = Event("unreachable", "studio", TASK, "Failed to connect to the host via ssh: no route to host")


def packed(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data)).decode()


SOUND: dict[str, Any] = {"format": 1, "ok": True, "log": packed(CAPPED.encode() + b"\n"), "bytes": 9, "cut": False}


class Host:
    """A stand-in for a run of Ansible: what it was asked, and the answer that it gives."""

    def __init__(self, answer: Any, *failures: Event) -> None:
        self.answer, self.failures, self.variables = answer, failures, dict[str, Any]()

    def run(self, project: object, playbook: str, options: RunOptions, values: object, *_: object) -> RunResult:
        assert (playbook, values) == ("log.yml", {})
        self.variables, self.limit = dict(options.variables), options.limit
        hosts = () if self.answer is None else ("studio", "edge", "farm")
        answers = {name: {TASK: self.answer} for name in hosts}
        return RunResult("successful", 0, {}, self.failures, answers=answers)


@pytest.fixture(autouse=True)
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    made = Host(SOUND)
    monkeypatch.setattr(runner, "run_playbook", made.run)
    return made


def refused(host: Host) -> str:
    assert TREE is not None
    with pytest.raises(FilesError) as problem:
        fetch(TREE, ASKED, Settings(), lambda _: None)
    assert problem.value.code == "log-not-fetched"
    return problem.value.message


def test_log_is_asked_for_with_its_bounds(host: Host) -> None:
    assert TREE is not None
    log = fetch(TREE, ASKED, Settings(), lambda _: None)
    assert log == (CAPPED.encode() + b"\n", False)
    assert host.variables == {"fleet_host_log": {"nodes": ["gate"], "seconds": 3600, "bytes": 1000}}
    assert host.limit == ("studio",)


def test_bomb_is_not_decompressed(host: Host) -> None:
    host.answer = {**SOUND, "log": packed(b"x" * 10_000_000)}
    assert "makes no sense" in refused(host)


@pytest.mark.parametrize(
    "answer",
    [
        {"log": "%%%"},
        {"log": "QUJD"},
        {"log": 7},
        {"log": None},
        {"log": packed(CAPPED.encode() * 50)[:40]},
        {"log": "\ud800"},
        {"log": []},
    ],
)
def test_answer_that_makes_no_sense(answer: dict[str, Any], host: Host) -> None:
    host.answer = {**SOUND, **answer}
    assert "makes no sense" in refused(host)


def test_host_that_refuses_or_is_away(host: Host) -> None:
    host.answer = {"format": 1, "ok": False, "code": "log-missing"}
    host.failures = (Event("failed", "studio", TASK, "gate has never run on this host"),)
    assert refused(host) == "host studio does not give the log of gate: gate has never run on this host"
    host.answer, host.failures = None, (FAR,)
    assert "could not be reached: no route to host" in refused(host)
    host.failures = ()
    assert "Ansible did not ask it" in refused(host)
    host.answer = {**SOUND, "format": 2}
    refused(host)


def test_node_of_the_spec_in_the_working_directory(place: Path, host: Host) -> None:
    host.answer = {**SOUND, "log": packed(f"{CAPPED}\n{glog('hello')}\n".encode()), "cut": True}
    run = diagnose("edge/gate", "--since", "30m", "--size", "2 MiB", "--format", "json")
    (found,) = json.loads(run.stdout)["diagnostics"]
    assert found["code"] == "orchestrator-capped" and "Write max_sessions = 16 for orch" in found["help"]
    assert found["related"][-1]["file"] == "edge/gate"
    assert host.variables["fleet_host_log"] == {"nodes": ["gate"], "seconds": 1800, "bytes": 2 << 20}
    assert "edge/gate has more in that time" in run.stderr


def test_live_runner_is_named_as_a_node_is(place: Path, host: Host) -> None:
    (place / "fleet.toml").write_text((ROOT / "tests/data/runner_fleet.toml").read_text("utf-8"))
    host.answer = {**SOUND, "log": packed(b"CUDA error: out of memory\n")}
    run = diagnose("farm/echo", "--format", "json")
    (found,) = json.loads(run.stdout)["diagnostics"]
    assert (found["code"], found["primary"]["path"]) == ("cuda-out-of-memory", "runners.echo")
    assert host.variables["fleet_host_log"]["nodes"] == ["echo"]
    assert "echo is on host farm: write farm/echo" in diagnose("box/echo").stderr


def test_spec_is_checked_once(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[object] = []

    def counted(sources: Sequence[Source], *rest: Any) -> pipeline.Checked:
        checked.append(sources)
        return check_spec(sources, *rest)

    monkeypatch.setattr(pipeline, "check_spec", counted)
    (place / "node.log").write_text(CAPPED)
    for arguments in (("edge/gate",), ("node.log", "--spec", ".")):
        diagnose(*arguments)
        assert len(checked) == 1
        checked.clear()


def test_spec_with_errors_asks_no_host_and_still_explains_a_file(place: Path, host: Host) -> None:
    (place / "fleet.toml").write_text(SPEC.replace("max_sessions = 12", "max_sessions = 40"))
    (place / "node.log").write_text(CAPPED)
    refused = diagnose("edge/gate")
    assert refused.returncode == 1 and "error[encode-sessions-exceeded]" in refused.stderr and host.variables == {}
    assert "fleet.toml:78:16" in diagnose("node.log", "--spec", ".").stdout


def test_host_that_gives_nothing_is_an_error_beside_what_others_say(place: Path, host: Host) -> None:
    host.answer = None
    (place / "node.log").write_text(CAPPED)
    run = diagnose("edge/gate", "node.log")
    assert run.returncode == 1
    assert "error[log-not-fetched]: host edge does not give the log of gate" in run.stdout
    assert "orchestrator-capped" in run.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("gpu/gate",), "gate is on host edge: write edge/gate"),
        (("edge/gat",), 'there is no node "gat"; did you mean "gate"?'),
        (("logs/node.log",), 'there is no file "logs/node.log", and the spec has no host "logs"'),
        (("edge/gate", "--since", "soon"), "--since and --size: "),
        (("edge/gate", "--since", "999999h"), "a year"),
        (("edge/gate", "--size", "1 TiB"), "64 MiB"),
        (("edge/gate", "--size", "0 B"), "64 MiB"),
    ],
)
def test_usage(arguments: tuple[str, ...], words: str, place: Path) -> None:
    run = diagnose(*arguments)
    assert run.returncode == 2, run.stdout + run.stderr
    assert words in run.stderr


def test_without_a_spec_it_is_a_file_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = diagnose("edge/gate")
    assert run.returncode == 1 and "cannot read edge/gate" in run.stdout
