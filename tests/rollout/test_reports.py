"""Reports of a rollout: every host is in every form, and what hosts say is data in each."""

from __future__ import annotations

import json
import re
import time
from io import StringIO
from xml.etree import ElementTree

import pytest

from fleetc.messages.forms import RolloutFormat
from fleetc.rollout.findings import HostFinding
from fleetc.rollout.hosts import progress as progressing
from fleetc.rollout.hosts.begun import RolloutStep
from fleetc.rollout.hosts.deploy import Outcome
from fleetc.rollout.hosts.events import Event
from fleetc.rollout.hosts.gate import ACTIVATE, BEGIN, STAGE, HostOutcome
from fleetc.rollout.hosts.progress import progress
from fleetc.rollout.journal.lines import JournalEntry
from fleetc.rollout.moves import Move
from fleetc.rollout.reports import written
from fleetc.rollout.reports.events import entry_event

NASTY = "<script>alert(1)</script> | `x` \x1b[31m ::error::y {{ 1 }} &amp; \u202e"
OUTCOME = Outcome(
    (
        HostOutcome("one", "new", "", "a" * 64, "b" * 64, ("orch",), 12.4),
        HostOutcome("two", "reverted", NASTY, "a" * 64, "a" * 64, ("gate",), 3.0, (NASTY,)),
        HostOutcome("three", "old", "not begun, because of two"),
        HostOutcome("four", "orphan", "left the spec and could not be reached"),
        HostOutcome("five", "dead", "assumed dead, as stated"),
    ),
    (),
    False,
    (),
    (Move("gate", "one", "two"),),
)


OF_ROLLOUTS = [form for form in RolloutFormat if form not in (RolloutFormat.sarif, RolloutFormat.github)]


@pytest.mark.parametrize("form", OF_ROLLOUTS)
def test_every_host_is_in_every_form(form: RolloutFormat) -> None:
    text = written(form, OUTCOME)
    assert all(host.host in text for host in OUTCOME.hosts)
    assert "\x1b" not in text and text.endswith("\n")


def test_host_that_is_out_of_service_is_named_and_fails_nothing() -> None:
    hosts = (HostOutcome("one", "new", "", "a" * 64, "b" * 64), HostOutcome("two", "out", "out of service until then"))
    for check in (False, True):
        outcome = Outcome(hosts, (), check)
        assert outcome.exit_code == 0
        assert "out of service until then" in written(RolloutFormat.text, outcome)


def test_progress_says_what_a_host_did_and_no_name_of_a_task() -> None:
    said = "Failed to connect to the host via ssh: connect to host 192.0.2.1 port 22: No route to host\x1b[0m"
    heard = StringIO()
    with progress(heard) as show:
        show(Event("changed", "one", STAGE, ""))
        show(Event("failed", "one", BEGIN, "{}"))
        show(Event("batch", "", "batch 2 of 3", "one, two"))
        refused = {"format": 1, "ok": False, "message": "its disk is full\x1b[0m"}
        show(Event("failed", "two", BEGIN, "its disk is full", refused))
        switch = {"phase": "reverted", "reasons": ["gate does not run", "it stops at once"]}
        show(Event("failed", "one", ACTIVATE, "", {"format": 1, "ok": True, "switch": switch}))
        show(Event("failed", "one", ACTIVATE, "its program did not answer for 60 s", {"timedout": {}}))
        show(Event("unreachable", "two", BEGIN, said))
        show(Event("changed", "two", "Make the folder of rules", ""))
    lines = heard.getvalue().splitlines()
    assert all(re.fullmatch(r"[0-9:]{8}Z  .*", line) for line in lines)
    in_batch = "batch 2 of 3  "
    assert [line[11:].removeprefix(in_batch) for line in lines] == [
        "one: has the release",
        "one: cannot take part",
        "batch 2 of 3: one, two",
        "two: cannot take part: its disk is full\\x1b[0m",
        "one: did not switch, or did not keep the release: gate does not run; it stops at once",
        "one: did not switch, or did not keep the release: its program did not answer for 60 s",
        "two: could not be reached: connect to host 192.0.2.1 port 22: No route to host\\x1b[0m",
        "two: changed: Make the folder of rules",
    ]


def waiting(host: str, *waits: str, waited: float = 40, limit: float = 180) -> Event:
    """A host that answers that its switch goes on."""
    switch = {"phase": "watching", "waits": list(waits), "waited": waited, "limit": limit}
    return Event("waits", host, ACTIVATE, "", {"format": 1, "ok": True, "switch": switch})


class Terminal(StringIO):
    """A terminal that keeps all that was ever shown."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("stream", [StringIO, Terminal])
def test_progress_says_what_hosts_wait_for_also_while_they_are_silent(
    stream: type[StringIO], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hosts that wait for the same are on one line. One that has answered is not waited for any more."""
    monkeypatch.setattr(progressing, "_LOOK_SECONDS", 0.02)
    monkeypatch.setattr(progressing, "_EVERY_SECONDS", 0.2)
    monkeypatch.setenv("COLUMNS", "200")
    heard = stream()
    with progress(heard) as show:
        show(Event("batch", "", "batch 1 of 2", "one, two, three"))
        for host in ("one", "two", "three"):
            show(Event("start", host, ACTIVATE, ""))
        for host in ("one", "two"):
            show(waiting(host, "gate: it does not listen on port 8935"))
        show(Event("start", "four", STAGE, ""))
        show(Event("ok", "four", STAGE, ""))
        time.sleep(0.5)
        monkeypatch.setattr(progressing, "_SILENT_SECONDS", 0.1)
        time.sleep(0.3)
        show(Event("ended", "", "", ""))
        time.sleep(0.3)  # a terminal may still draw what it had
        said = heard.getvalue()
        time.sleep(0.3)
    assert "one, two: gate: it does not listen on port 8935, 40 s of 180" in said
    assert "three: switches to the release, 0 s" in said and "four" not in said
    silent = r"one, two: no answer for \d s; before that: gate: it does not listen on port 8935, 40 s of 180"
    assert re.search(silent, said)
    assert "one, two" not in heard.getvalue()[len(said) :].replace("one, two, three", "")
    if stream is StringIO:
        waits = [line for line in said.splitlines() if "gate:" in line]
        assert 1 <= len(waits) <= 5 and all(line[9:].startswith("  batch 1 of 2  one, two") for line in waits)


def test_rollout_goes_on_where_nobody_reads_what_it_says() -> None:
    """The terminal is gone, or the program behind the pipe has ended."""

    class Gone(StringIO):
        def write(self, _text: str) -> int:
            raise BrokenPipeError

    with progress(Gone()) as show:
        show(Event("changed", "one", STAGE, ""))
        show(Event("note", "", "", "interrupted"))


@pytest.mark.parametrize(
    ("host", "now", "then"),
    [
        (HostOutcome("h", "unknown", until="2027-01-15T08:00:00Z"), "it goes back by itself by 08:00:00Z", "to go on"),
        (HostOutcome("h", "unknown"), "nobody knows which release runs", "also before hosts go back: AGAIN"),
        (HostOutcome("h", "quarantined"), "no rollout touches it", "AGAIN --clear h"),
        (HostOutcome("h", "reverted", "gate: ill", restarted=("gate",)), "before runs again", "fleetc diagnose h/gate"),
        (HostOutcome("h", "old", "held; --take-over ab"), "not changed by this rollout", "dead: AGAIN --take-over ab"),
        (HostOutcome("h", "old", "its disk is full"), "not changed by this rollout", "named above, then: AGAIN"),
        (HostOutcome("h", "unwell", "gate: ill"), "something is not well", "the changed hosts back: fleetc rollback"),
        (HostOutcome("h", "orphan"), "its nodes may still run", "AGAIN --assume-dead h"),
        (HostOutcome("h", "dead"), "you stated that it is dead", "once h works again: AGAIN --limit x\n"),
    ],
)  # fmt: skip
def test_end_says_what_runs_now_and_what_to_type(host: HostOutcome, now: str, then: str) -> None:
    outcome = Outcome((HostOutcome("fine", "new"), host), (), False)
    again = "AGAIN --assume-dead h --limit x" if host.result == "dead" else "AGAIN"
    head, _, tail = written(RolloutFormat.text, outcome, again).partition("\nnow\n")
    of_now, _, of_next = tail.partition("\nnext\n")
    assert "fine: the release of this rollout runs" in of_now and now in of_now and then in of_next
    assert head.splitlines()[-1].startswith("2 hosts: 1 deployed, 1 ")


def test_rollout_that_went_well_ends_with_its_table() -> None:
    outcome = Outcome((HostOutcome("a", "new"), HostOutcome("b", "unchanged"), HostOutcome("c", "retired")), (), False)
    assert written(RolloutFormat.text, outcome).splitlines()[-1] == "3 hosts: 1 deployed, 1 unchanged, 1 retired"


def test_junit_has_a_case_for_each_host_and_fails_those_without_their_release() -> None:
    suite = ElementTree.fromstring(written(RolloutFormat.junit, OUTCOME))
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    assert list(cases) == ["one", "two", "three", "four", "five"]
    assert [name for name, case in cases.items() if case.find("failure") is not None] == ["two", "three", "four"]
    assert (suite.get("tests"), suite.get("failures")) == ("5", "3")
    failure = cases["two"].find("failure")
    assert failure is not None and "<script>" in (failure.text or "")


def test_markdown_table_stays_a_table() -> None:
    lines = written(RolloutFormat.markdown, OUTCOME).splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 7
    assert {line.replace("\\|", "").count("|") for line in table} == {7}
    assert not any("<script>" in line.split("`")[0] for line in lines)


def test_events_are_json_lines() -> None:
    last = json.loads(written(RolloutFormat.json, OUTCOME))
    assert (last["what"], last["exit_code"]) == ("outcome", 4)
    assert [host["host"] for host in last["hosts"]] == ["one", "two", "three", "four", "five"]
    event = json.loads(entry_event(JournalEntry("2026-01-31T09:00:00Z", "r", "host", {"host": "one", "reason": NASTY})))
    assert (event["what"], event["run"], event["reason"]) == ("host", "r", NASTY)


def test_text_names_causes_and_log_lines() -> None:
    text = written(RolloutFormat.text, OUTCOME)
    assert "three: not begun, because of two" in text
    assert "gate moves from one to two" in text
    assert (
        text.partition("\n\nnow\n")[0].splitlines()[-1]
        == "5 hosts: 1 deployed, 1 reverted, 1 not begun, 1 orphan, 1 assumed dead"
    )


def test_rollback_is_called_one_and_its_dry_run_says_where_it_leads() -> None:
    host = HostOutcome("one", "new", "", "b" * 64, "a" * 64)
    step = RolloutStep("one", "copy", "", "")
    done = Outcome((host,), (), False, kind="rollback")
    assert written(RolloutFormat.text, done).splitlines()[-1] == "1 host: 1 rolled back"
    tried = written(RolloutFormat.text, Outcome((host,), (step,), True, kind="rollback"))
    assert "one: would go back to a release that it keeps\n" in tried
    assert "one   bbbbbbbbbbbb  aaaaaaaaaaaa  would go back\n" in tried
    assert "deployed" not in tried and "copy" not in tried
    for form in OF_ROLLOUTS:
        assert form is RolloutFormat.json or "rolled back" in written(form, done)


def test_dry_run_has_each_host_once_and_what_it_lacks_in_forms_for_programs() -> None:
    silent = HostOutcome("one", "old", "could not be reached: No route to host")
    lacks = HostFinding("two", "ports-free", "port 1 is taken", "gate")
    tried = Outcome((silent, HostOutcome("two", "old", "port 1 is taken")), (), True, findings=(lacks,))
    text = written(RolloutFormat.text, tried)
    assert text.count("one") == 1 and "one   -     -   could not be reached: No route to host\n" in text
    assert "error[ports-free]: port 1 is taken" in written(RolloutFormat.junit, tried)
    (found,) = json.loads(written(RolloutFormat.json, tried))["findings"]
    assert (found["host"], found["code"]) == ("two", "ports-free")
