"""Asks hosts what they run, and changes nothing there.

In: a compiled tree, names of hosts, the tool's settings. Out: a `HostSeen` of each host, UNKNOWN with the reason if it
did not answer. Answers are data: text of bounded length, shown in its visible form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from fleetc.emit.tree import Tree
from fleetc.planner.data import OBSERVED, UNKNOWN, HostState, ProcessState
from fleetc.planner.states import in_order
from fleetc.rollout.findings import NOT_REACHED
from fleetc.rollout.hosts.events import Event, RunResult
from fleetc.rollout.hosts.gate import OBSERVE, as_mapping
from fleetc.rollout.hosts.runner import ask_playbook, private_project, reaching
from fleetc.rollout.plan.data import NewestPlan
from fleetc.settings import Settings
from fleetc.text.encoders import visible

OBSERVE_PLAYBOOK = "observe.yml"

SSH_SAYS = ": ssh says "
"""The separator between the note about a host and the words of ssh. A plan keeps only the note: hosts share it."""

MEANINGLESS = (KeyError, TypeError, ValueError, AttributeError)

_MARK = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z) ([0-9a-f]{64}|-)")
_FORMAT = 1
_LIMIT = 300  # characters of one text of a host
_SETTING_LIMIT = 2000  # of one setting, which can have the id of a model in it
_MANY = 10_000  # processes of one host
_MESSAGE_LIMIT = 200
_SILENT = "its host does not say whether it runs"


class HostSeen(NamedTuple):
    """What a host runs, and the newest plan of a rollout there, if any."""

    state: HostState
    newest: NewestPlan | None = None


def observe(
    tree: Tree, hosts: Sequence[str], settings: Settings, on_event: Callable[[Event], None]
) -> dict[str, HostSeen]:
    """The answer of each of `hosts`. No secret is needed for it, and none is read."""
    options = reaching(settings, hosts)
    with private_project(tree) as project:
        result = ask_playbook(project, OBSERVE_PLAYBOOK, options, on_event, OBSERVE)
    return {host: _seen(host, result) for host in hosts}


def _seen(host: str, result: RunResult) -> HostSeen:
    failures = [event for event in result.failures if event.host == host]
    answer = as_mapping(result.answers.get(host, {}).get(OBSERVE))
    if failures:
        unreachable = failures[0].kind == "unreachable"
        words = f"{NOT_REACHED}{_reason(failures[0])}" if unreachable else f"failed: {failures[0].message}"
        return _unknown(host, words)
    if not answer:
        return _unknown(host, result.last_words[-1] if result.last_words else "Ansible did not ask it")
    if answer.get("format") != _FORMAT:
        return _unknown(host, "the program on it answers in a form of another fleetc")
    try:
        state, newest = said(host, answer["state"]), answer["state"]["newest"]
    except MEANINGLESS:
        return _unknown(host, "its answer makes no sense")
    try:
        return HostSeen(state, newest_plan(newest))
    except (TypeError, ValueError):
        return _unknown(host, "its record of the newest plan makes no sense")


def _unknown(host: str, words: str) -> HostSeen:
    return HostSeen(HostState(host, UNKNOWN, note=visible(words)[:_MESSAGE_LIMIT]))


def newest_plan(line: str) -> NewestPlan | None:
    """The newest plan by a host's report; None where there was none. Raises ValueError or TypeError."""
    match = _MARK.fullmatch(line)
    if line and match is None:
        raise ValueError("no record of a plan")
    return None if match is None else NewestPlan(match[1], match[2])


def _reason(failure: Event) -> str:
    """What ssh itself said, as the end of a sentence: the last line of it, behind which nothing more comes."""
    lines = [line.strip() for line in failure.message.splitlines() if line.strip()]
    words = lines[-1].rpartition("via ssh: ")[2].removeprefix("ssh: ") if lines else ""
    return f"{SSH_SAYS}{words}" if words else ""


def said(host: str, state: Mapping[str, Any]) -> HostState:
    """What a host runs by its report. Raises one of MEANINGLESS if it makes no sense."""
    processes = [_process(process) for process in state["processes"][:_MANY]]
    return HostState(host, OBSERVED, _text(state["release"]), in_order(processes))


def _process(entry: Mapping[str, Any]) -> ProcessState:
    runtime, running = entry["runtime"], entry["running"]
    if runtime not in ("systemd", "docker") or running not in (True, False, None):
        raise ValueError("no process")
    project, turn = _text(entry.get("project", "")), _text(entry.get("turn", ""))
    drift, unlinked, was_set, ill, unanswered = (
        tuple(_text(text) for text in entry.get(kind, [])[:_MANY])
        for kind in ("drift", "unlinked", "was_set", "ill", "unanswered")
    )
    if running is None:
        unanswered = (_SILENT,)
    live, silent, exclusive = (
        tuple(_text(text, _SETTING_LIMIT) for text in entry.get(kind, [])[:_MANY])
        for kind in ("live", "silent", "exclusive")
    )
    return ProcessState(
        _text(entry["node"]), _text(entry["digest"]), runtime, running, project, turn,
        drift=drift, unlinked=unlinked, was_set=was_set, ill=ill, unanswered=unanswered,
        rest=_text(entry.get("rest", "")), live=live, silent=silent, exclusive=exclusive,
        taken=entry.get("taken") is True,
    )  # fmt: skip


def _text(value: str, limit: int = _LIMIT) -> str:
    """Text from a host, as it can be stored and shown."""
    if len(value) > limit:
        raise ValueError("too long")
    return visible(value)
