"""What a host says is data: of any size, type and content. It is judged, shown and journalled, and never more.

An answer that makes no sense is a host of which nobody knows what it runs, with a reason; it is no error of fleetc.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleetc.planner.data import UNKNOWN
from fleetc.rollout.findings import diagnostics_of
from fleetc.rollout.hosts.begun import begun_of
from fleetc.rollout.hosts.deploy import Outcome, _findings, _steps, _write_host
from fleetc.rollout.hosts.events import Event, RunResult
from fleetc.rollout.hosts.gate import ACTIVATE, BEGIN, END, OBSERVE, STAGE, outcomes
from fleetc.rollout.hosts.journal import opened, to_read
from fleetc.rollout.hosts.observe import _seen
from fleetc.rollout.hosts.runner import RunOptions, _command_line
from fleetc.rollout.moves import moves_of
from fleetc.rollout.reports.events import outcome_event
from fleetc.rollout.reports.junit import as_junit
from fleetc.rollout.reports.markdown import as_markdown
from fleetc.rollout.reports.terminal import lines
from tests.rollout.odd_answers import HUGE, JSON, places, with_other
from tests.support import compiled_example

BLUEPRINT = compiled_example("two-regions").blueprint
A, B = "a" * 64, "b" * 64
PROCESS = {"node": "gate", "digest": A, "runtime": "systemd", "running": True, "drift": [], "exclusive": ["x"]}
SWITCH = {"phase": "healthy", "to": f"{B}.1", "reasons": ["r"], "words": ["w"], "restarted": ["gate"], "live": ["gate"]}
SOUND: dict[str, Any] = {
    BEGIN: {
        "format": 1, "ok": True, "needed": True, "clock": 1.0, "received": 2.0,
        "state": {"release": A, "processes": [PROCESS], "newest": "", "host": "h", "switch": {"owner": {"id": "1"}}},
        "steps": [{"do": "start", "node": "gate", "reason": "it is new here"}],
        "wants": [{"node": "gate", "exclusive": ["x"]}],
        "findings": [{"code": "disk-space", "message": "full", "node": "gate"}],
        "code": "host-claimed", "owner": {"id": "1", "boot": "b", "pid": "1", "started": "1"},
    },
    STAGE: {"format": 1, "ok": True, "release": f"{B}.1"},
    ACTIVATE: {"format": 1, "ok": True, "switch": SWITCH, "seconds": 7},
    END: {"format": 1, "ok": True, "switch": SWITCH, "seconds": 7},
    OBSERVE: {"format": 1, "ok": True, "state": {"release": A, "processes": [PROCESS], "newest": ""}},
}  # fmt: skip


def judged(answers: Mapping[str, Any], journals: Path, failures: tuple[Event, ...] = ()) -> Outcome:
    """All that fleetc does with answers: it judges, shows and journals them."""
    run = RunResult("successful", 0, {"ok": {"h": 1}}, failures, answers={"h": answers})
    (begun,) = begun_of(["h"], run).values()
    moves = moves_of({"h": begun.runs, "i": {}}, {"h": {}, "i": begun.wants})
    outcome = Outcome(outcomes(["h"], run), _steps({"h": begun}), False, (), moves, _findings({"h": begun}))
    text = "\n".join([*lines(outcome), as_markdown(outcome), as_junit(outcome), outcome_event(outcome)])
    assert len(text) < 2_000_000
    assert text.encode(errors="backslashreplace").isascii() or "\x1b" not in text
    assert "\x1b" not in text
    assert BLUEPRINT is not None
    diagnostics_of(outcome.findings, BLUEPRINT)
    seen = _seen("h", run).state
    assert seen.known != UNKNOWN or seen.note
    with opened(journals, "f", "1") as journal:
        _write_host(journal, outcome.hosts[0])
    return outcome


PLACES = [path for path in places(SOUND) if path]


@given(st.sampled_from(PLACES), JSON)
def test_no_answer_breaks_anything(tmp_path_factory: pytest.TempPathFactory, path: tuple[Any, ...], value: Any) -> None:
    judged(with_other(SOUND, path, value), tmp_path_factory.mktemp("journal"))


@pytest.mark.parametrize("what", HUGE)
def test_huge_and_odd_values_everywhere(tmp_path: Path, what: str) -> None:
    for number, path in enumerate(PLACES):
        outcome = judged(with_other(SOUND, path, HUGE[what]), tmp_path / str(number))
        assert len(outcome.hosts[0].reason) <= 2000
        assert sum(path.stat().st_size for path in tmp_path.rglob("*.jsonl")) < 10_000_000


@pytest.mark.parametrize("answer", [None, [], "yes", {}, {"format": 2, "ok": True, "needed": False}, {"ok": True}])
def test_answer_of_another_program_is_not_believed(tmp_path: Path, answer: Any) -> None:
    answers = dict.fromkeys(SOUND, answer)
    run = RunResult("successful", 0, {"ok": {"h": 1}}, answers={"h": answers})
    (begun,) = begun_of(["h"], run).values()
    assert not begun.answered
    outcome = judged(answers, tmp_path)
    assert outcome.hosts[0].result in ("old", "unknown") and outcome.exit_code != 0
    state = _seen("h", run).state
    assert state.known == UNKNOWN and state.note


TEMPLATE = "{{ lookup('pipe', 'touch /tmp/x') }}"


def test_no_text_of_a_host_comes_to_ansible_as_a_template(tmp_path: Path) -> None:
    """What one host says goes to others, and to Ansible here: ids of rollouts, digests, names of nodes."""
    own = {"node": TEMPLATE, "exclusive": [TEMPLATE]}
    state = {"release": TEMPLATE, "processes": [own], "switch": {"owner": {"id": TEMPLATE}}}
    answers = {BEGIN: {"format": 1, "ok": True, "state": state, "wants": [own], "code": "host-claimed"}}
    answers[BEGIN]["owner"] = {"id": TEMPLATE}
    (begun,) = begun_of(["h"], RunResult("successful", 0, {}, answers={"h": answers})).values()
    assert (begun.release, begun.runs, begun.wants) == ("", {}, {})
    given: dict[str, Any] = {"fleet_host_dead": [TEMPLATE], "fleet_host_back_to": {"h": TEMPLATE}, "number": 1}
    _command_line(tmp_path, RunOptions(variables=given), {})
    told = {"__ansible_unsafe": TEMPLATE}
    written = json.loads((tmp_path / "variables.json").read_text())
    assert written == {"fleet_host_dead": [told], "fleet_host_back_to": {"h": told}, "number": 1}


def test_journal_that_was_written_from_such_answers_can_be_read(tmp_path: Path) -> None:
    with opened(tmp_path, "f", "1") as journal:
        journal.write("begin", kind="deploy", who="ci", manifest=A, hosts=[], shard="")
    judged(with_other(SOUND, (END, "switch", "restarted"), ["\ud800\u2028\n{{ x }}"] * 3), tmp_path)
    (run,) = to_read(tmp_path, "f").history.runs
    assert run.changes["h"].result == "new"
