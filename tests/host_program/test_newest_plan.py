"""The record of the newest plan on a host: who is refused, and what is written down."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.host_program.program import loaded

A, B = "a" * 64, "b" * 64
OLD, NOW, LATER = "2026-03-01T11:00:00Z", "2026-03-01T12:00:00Z", "2026-03-01T13:00:00Z"
FAR = "2999-01-01T00:00:00Z"


class Case(NamedTuple):
    """What a host has written down before and after the plan of NOW with the seal; None is no file."""

    before: str | None
    after: str | None
    refused: str = ""
    seal: str = A


CASES: dict[str, Case] = {
    "first": Case(None, f"{NOW} {A}\n"),
    "again": Case(f"{NOW} {A}\n", f"{NOW} {A}\n"),
    "after an older one": Case(f"{OLD} {B}\n", f"{NOW} {A}\n"),
    "after an older rollout": Case(f"{OLD} -\n", f"{NOW} {A}\n"),
    "superseded": Case(f"{LATER} {B}\n", f"{LATER} {B}\n", f"made at {LATER}"),
    "in the same second": Case(f"{NOW} {B}\n", f"{NOW} {B}\n", f"made at {NOW}"),
    "superseded by a rollout": Case(f"{LATER} -\n", f"{LATER} -\n", f"made at {LATER}"),
    "without a plan": Case(f"{OLD} {B}\n", f"{NOW} -\n", seal="-"),
    "without a plan at first": Case(None, f"{NOW} -\n", seal="-"),
    "without a plan, and a clock that is behind": Case(f"{FAR} {B}\n", f"{FAR} -\n", seal="-"),
    "a record that makes no sense": Case("{{ 7 * 7 }}\n", "{{ 7 * 7 }}\n", "makes no sense"),
    "a record that makes no sense, without a plan": Case("\x00\xff", f"{NOW} -\n", seal="-"),
}


def record(root: Path, case: Case, **more: Any) -> tuple[dict[str, Any], Path]:
    space = loaded(root)
    file = Path(space["NEWEST_PLAN"])
    if case.before is not None:
        file.parent.mkdir(parents=True)
        file.write_text(case.before)
    wanted = {"fleet": "aurora", "host": "edge"}
    request = {"format": 1, "do": "record", "wanted": wanted, "plan": {"created": NOW, "seal": case.seal}, **more}
    answer: dict[str, Any] = space["answer"](request)
    return answer, file


@pytest.mark.parametrize("name", CASES)
def test_record_before_and_after(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    answer, file = record(tmp_path, case)
    assert (file.read_text() if file.exists() else None) == case.after
    assert answer["ok"] == (not case.refused)
    assert re.search(case.refused, answer.get("message", ""))
    assert answer["changed"] is False, "a rollout that changes nothing says so"
    assert answer.get("needed") is (None if case.refused else False), "nothing else is to be done"


@pytest.mark.parametrize("name", ["first", "superseded", "without a plan"])
def test_dry_run_writes_nothing_down(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    answer, file = record(tmp_path, case, check=True)
    assert (file.read_text() if file.exists() else None) == case.before
    assert answer["ok"] == (not case.refused)


@pytest.mark.parametrize(("fleet", "host"), [("other", "edge"), ("aurora", "other")])
def test_release_of_another_host_is_refused(fleet: str, host: str, tmp_path: Path) -> None:
    space = loaded(tmp_path)
    space["write_json"](space["RECORD"], {"fleet": fleet, "host": host})
    answer, file = record(tmp_path, CASES["first"])
    assert answer["code"] == "other-host"
    assert f"the host {host} of the fleet {fleet}" in answer["message"]
    assert not file.exists()
    answer, file = record(tmp_path, CASES["first"], renamed=True)
    assert answer["ok"] and file.exists()
