"""Judges an Ansible run: the result of each of its hosts.

In: the hosts of the run and what the runner reported. Out: a `HostOutcome` for each. Pure. Ansible's own status is no
evidence: a play without hosts ends "successful" with code 0, and an unreachable host does not stop the next batch. Only
the answers of the program on each host count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

from fleetc.rollout.findings import NOT_REACHED
from fleetc.rollout.hosts.events import RunResult
from fleetc.text.encoders import visible

BEGIN = "Ask the host what there is to do"
STAGE = "Bring the release to the host"
ACTIVATE = "Switch to the release and wait until it is healthy"
END = "Keep the release, or take it back if another host of the batch failed"
OBSERVE = "Ask the host what it runs"
LET_GO = "Let other rollouts at the host"
WITH_MOVES, ASKED_BEFORE, CHECKED_HERE = ("all", "moves"), ("ask",), ("always", "gate")
"""Tags of site.yml: work only for moving nodes; questions already answered by claimed hosts; and checks only for stock
Ansible (compiled role variables, the gate between batches)."""
TASKS = (BEGIN, STAGE, ACTIVATE, END, OBSERVE, LET_GO)
"""The tasks of the role fleet_host that the program on the host answers."""

Result = Literal[
    "new", "unchanged", "old", "reverted", "quarantined", "unknown", "unwell", "retired", "orphan", "dead", "out",
    "behind",
]  # fmt: skip
"""What a host runs after a rollout: the new release; the same release as before the rollout; the old one, untouched;
the old one, rolled back; unknown after a failed rollback; unknown; its release, with a node that is not as reviewed.
For hosts that left the spec: nothing; unknown because unreachable; nothing by a person's statement. Out of service by
the spec, and not reached. Left behind: not reached, or in quarantine before."""

_SSH_SAYS = re.compile("^.*(?:via|over) ssh: ?")
"""What Ansible says before the words of ssh."""
_LIMIT = 300  # characters of a text of a host
_MANY = 1000  # items of a list of a host
_REASON_LIMIT = 2000
_LARGEST = 2**53
_LAST = 253_402_300_799  # the last second of the year 9999
_WORDS = 120  # log lines of one host


_NOT_BEGUN = ("too-late", "switch-open", "host-quarantined")
"""Refusals of a switch before it begins: nothing has changed on the host."""


class HostOutcome(NamedTuple):
    """What became of one host. `before` and `after` are digests of releases, `words` last log lines of its nodes.

    `restarted` and `live` name the restarted nodes, and those changed while they ran. `undone` is what differed on
    nodes that keep their files, in words.
    """

    host: str
    result: Result
    reason: str = ""
    before: str = ""
    after: str = ""
    restarted: tuple[str, ...] = ()
    seconds: float = 0.0
    words: tuple[str, ...] = ()
    live: tuple[str, ...] = ()
    undone: tuple[str, ...] = ()
    until: str = ""
    """When it goes back by itself unless somebody confirms its release, as 2026-01-31T09:00:00Z; "" if it does not."""


def until_of(answer: Mapping[str, Any]) -> str:
    """When a host goes back by itself, by an answer with its switch."""
    left, received = as_number(as_mapping(answer.get("switch")).get("returns")), as_number(answer.get("received"))
    return moment(received + left) if left is not None and received is not None else ""


def moment(seconds: float) -> str:
    """A time of the clock for people, in UTC."""
    return f"{datetime.fromtimestamp(min(max(seconds, 0), _LAST), UTC):%Y-%m-%dT%H:%M:%SZ}"


def waits_in(answer: Mapping[str, Any]) -> tuple[str, float, float]:
    """What the switch of a host waits for, in words, for how many seconds now, and for how many at most."""
    switch = as_mapping(_plain(answer).get("switch"))
    words = "; ".join(as_text(text) for text in as_list(switch.get("waits")))
    return words, as_number(switch.get("waited")) or 0.0, as_number(switch.get("limit")) or 0.0


def why_in(answer: Mapping[str, Any]) -> str:
    """Why a host refused, went back or is in quarantine, in the words of its program; "" where it said nothing."""
    own = _plain(answer)
    reasons = [as_text(text) for text in as_list(as_mapping(own.get("switch")).get("reasons"))]
    return "; ".join(reasons)[:_REASON_LIMIT] or as_text(own.get("message"))


def told_wait(words: str, waited: float, limit: float) -> str:
    """What is waited for, with the seconds."""
    return f"{words}, {waited:.0f} s{f' of {limit:.0f}' if limit else ''}"


def outcomes(hosts: Sequence[str], run: RunResult, before: Mapping[str, str] = {}) -> tuple[HostOutcome, ...]:
    """What became of each host of a batch, from a run of site.yml; `before` are releases that hosts said earlier."""
    return tuple(_outcome(host, run, before.get(host, "")) for host in hosts)


def _outcome(host: str, run: RunResult, earlier: str) -> HostOutcome:
    answers = {task: _plain(answer) for task, answer in run.answers.get(host, {}).items()}
    failed = [event for event in run.failures if event.host == host]
    reason = reason_of(host, run)
    ended, active = answers.get(END, {}), answers.get(ACTIVATE, {})
    begun = answers.get(BEGIN, {})
    before = as_text(as_mapping(begun.get("state")).get("release")) or earlier
    switch = as_mapping(ended.get("switch")) or as_mapping(active.get("switch"))
    outcome = HostOutcome(host, "unknown", reason, before, before)
    if switch:
        target = as_text(switch.get("to")).partition(".")[0]
        restarted = tuple(as_text(node) for node in as_list(switch.get("restarted")))
        live = tuple(as_text(node) for node in as_list(switch.get("live")))
        seconds = ended.get("seconds") or active.get("seconds")
        words = tuple(as_text(line) for line in as_list(switch.get("words")))[-_WORDS:]
        own = "; ".join(as_text(line) for line in as_list(switch.get("reasons")))[:_REASON_LIMIT]
        outcome = outcome._replace(
            after=target,
            restarted=restarted,
            live=live,
            seconds=as_number(seconds) or 0.0,
            words=words,
            reason=own or reason,
        )
    if switch.get("phase") == "reverted":
        return outcome._replace(result="reverted", after=before)
    if switch.get("phase") == "quarantined":
        return outcome._replace(result="quarantined", after="")
    if switch.get("phase") == "stuck":
        last = ended or active
        return outcome._replace(reason=f"{outcome.reason}; {waits_in(last)[0]}", until=until_of(last))
    if ended and not failed:
        return outcome._replace(result="new", reason="")
    if begun.get("ok") and begun.get("needed") is False and not failed:
        return outcome._replace(result="unchanged")
    waits = waits_in(active)
    if waits[0]:
        reason = f"{reason or _ended_by(run) or 'its switch did not end'}; it waited: {told_wait(*waits)}"
    return outcome._replace(**_not_ended(host, run, reason, failed[-1].task if failed else ""), until=until_of(active))


def _not_ended(host: str, run: RunResult, reason: str, task: str) -> dict[str, Any]:
    """The result of a host with an unconfirmed switch and no report of a rollback."""
    if run.stats is None or run.status in ("timeout", "canceled"):
        return {"result": "unknown", "reason": reason or _ended_by(run)}
    refused = as_mapping(run.answers.get(host, {}).get(ACTIVATE)).get("code") in _NOT_BEGUN
    if task in (BEGIN, STAGE) or refused or host not in {name for counts in run.stats.values() for name in counts}:
        return {"result": "old", "reason": reason or "Ansible did not reach it"}
    if task in (ACTIVATE, END) or ACTIVATE in run.answers.get(host, {}):
        why = reason or "it did not report how its switch ended"
        return {"result": "unknown", "reason": f"{why}; without a confirmation it goes back by itself"}
    return {"result": "old", "reason": reason or "another host of its batch could not take part"}


def _ended_by(run: RunResult) -> str:
    """Why a run ended before its hosts did; "" where it did not."""
    if run.status == "canceled":
        return "interrupted"
    if run.stats is not None and run.status != "timeout":
        return ""
    return visible(run.last_words[-1] if run.last_words else f"the run ended with {run.status}")[:_LIMIT]


def reason_of(host: str, run: RunResult) -> str:
    """Why tasks failed on a host, or why it was not reached; "" without a failure."""
    failed = [event for event in run.failures if event.host == host]
    return "; ".join(dict.fromkeys(reason_in(event.kind, event.message) for event in failed))


def reason_in(kind: str, message: str) -> str:
    """Why a task failed, or a host was not reached, in the words of one event."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    if kind == "unreachable":
        words = _SSH_SAYS.split(lines[-1])[-1].removeprefix("ssh: ") if lines else ""
        words = words or ("the connection broke off" if lines else "")
        return visible(f"{NOT_REACHED}: {words}" if words else NOT_REACHED)[:_LIMIT]
    return as_text(lines[0] if lines else "failed")


def _plain(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """An answer of this program's format; of any other nothing is believed."""
    return answer if isinstance(answer, Mapping) and answer.get("format") == 1 else {}


def as_mapping(value: object) -> Mapping[str, Any]:
    """An object of a host's answer, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def as_list(value: object) -> Iterator[object]:
    """A list of a host's answer, cut to a readable length; else empty."""
    return iter(value[:_MANY]) if isinstance(value, list) else iter(())


def as_number(value: object) -> float | None:
    """A usable number of a host's answer."""
    if not isinstance(value, int | float) or not abs(value) < _LARGEST:
        return None
    return float(value)


def as_text(value: object) -> str:
    """A text of a host's answer, cut and visible."""
    return visible(value[:_LIMIT])[:_LIMIT] if isinstance(value, str) else ""
