"""Asks hosts what they run, and changes nothing there.

In: a compiled tree, names of hosts, the tool's settings. Out: what each `HostSeen` host says, UNKNOWN with the reason
where it did not answer. What a host says is data: text of bearable length, shown in its visible form.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fleetc.emit.tree import Tree
from fleetc.rollout.hosts.runner import Event, InterruptedRunError, RunOptions, RunResult, run_playbook
from fleetc.rollout.plan.data import OBSERVED, UNKNOWN, HostState, NewestPlan, Process
from fleetc.rollout.plan.stacks import observed_units
from fleetc.rollout.plan.states import in_order
from fleetc.settings import Settings
from fleetc.text.encoders import visible

OBSERVE_PLAYBOOK = "observe.yml"

LINK = "Look up the current release"
MARKERS = "Look up what was started here"
DIGESTS = "Look up which files it was started from"
UNITS = "Look up the units of nodes"
ACTIVE = "Look up which units are active"
CONTAINERS = "Look up which containers run"
STACK = "Look up which files the avatar stack was started from"
PROJECTS = "Look up which Compose projects have containers"
TABLES = "Look up which tables the packet filter has"
NEWEST = "Look up the newest plan that was rolled out here"
TASKS = (LINK, MARKERS, DIGESTS, UNITS, ACTIVE, CONTAINERS, STACK, PROJECTS, TABLES, NEWEST)
"""The tasks of the role fleet_observe."""

SSH_SAYS = ": ssh says "
"""The separator between the note about a host and the words of ssh. A plan keeps only the note: hosts share it."""

_RELEASES = "releases/"
_TABLE = "table inet fleetc_avatar"
"""The table of the avatar stack in the packet filter, as nft lists it."""
_MARK = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z) ([0-9a-f]{64}|-)")
_NO_FILE = "skipped, since "
"""How Ansible begins to say that a file is not there."""
_LIMIT = 300  # characters of one text that a host says
_MESSAGE_LIMIT = 200


class HostSeen(NamedTuple):
    """What a host runs, and the newest plan with which a rollout began there, if any did."""

    state: HostState
    newest: NewestPlan | None = None


def observe(
    tree: Tree, hosts: Sequence[str], settings: Settings, on_event: Callable[[Event], None]
) -> dict[str, HostSeen]:
    """What each of `hosts` says, by host. No secret is needed for it, and none is read."""
    options = RunOptions(
        limit=tuple(hosts),
        forks=settings.forks,
        connect_timeout=settings.connect_timeout,
        ssh_key=_absolute(settings.ssh_key),
        ssh_known_hosts=_absolute(settings.ssh_known_hosts),
    )
    try:
        result = run_playbook(tree, OBSERVE_PLAYBOOK, options, {}, on_event, TASKS)
    except InterruptedRunError:
        raise KeyboardInterrupt from None
    return {host: _seen(host, result) for host in hosts}


def _absolute(path: Path | None) -> Path | None:
    return None if path is None else path.expanduser().absolute()


def _seen(host: str, result: RunResult) -> HostSeen:
    failures = [event for event in result.failures if event.host == host]
    answers = result.answers.get(host, {})
    if failures:
        unreachable = failures[0].kind == "unreachable"
        words = f"could not be reached{_reason(failures[0])}" if unreachable else f"failed at: {failures[0].task}"
        return HostSeen(HostState(host, UNKNOWN, note=visible(words)[:_MESSAGE_LIMIT]))
    if set(answers) != set(TASKS):
        words = result.last_words[-1] if result.last_words else "Ansible did not ask it"
        return HostSeen(HostState(host, UNKNOWN, note=visible(words)[:_MESSAGE_LIMIT]))
    try:
        newest = newest_plan(answers[NEWEST])
    except (KeyError, TypeError, ValueError, AttributeError):
        return HostSeen(HostState(host, UNKNOWN, note="its record of the newest plan makes no sense"))
    try:
        return HostSeen(said(host, answers), newest)
    except (KeyError, TypeError, ValueError, AttributeError):
        return HostSeen(HostState(host, UNKNOWN, note="its answers make no sense"))


def newest_plan(answer: Mapping[str, Any]) -> NewestPlan | None:
    """The newest plan that a host says it was given; None where there was none.

    Raises KeyError, TypeError, ValueError or AttributeError where it says anything else.
    """
    (line,) = answer["stdout_lines"]
    if answer["rc"] == 0 and line.startswith(_NO_FILE):
        return None
    found = _MARK.fullmatch(line)
    if found is None or answer["rc"] != 0:
        raise ValueError("no record of a plan")
    return NewestPlan(found[1], found[2])


def _reason(failure: Event) -> str:
    """What ssh itself said, as the end of a sentence: the last line of it, behind which nothing more comes."""
    lines = [line.strip() for line in failure.message.splitlines() if line.strip()]
    said = lines[-1].rpartition("via ssh: ")[2].removeprefix("ssh: ") if lines else ""
    return f"{SSH_SAYS}{said}" if said else ""


def said(host: str, answers: Mapping[str, Mapping[str, Any]]) -> HostState:
    """What the answers of a host mean.

    Raises KeyError, TypeError, ValueError or AttributeError where they mean nothing.
    """
    link = answers[LINK]["stat"]
    release = ""
    if link["exists"]:
        release = _text(link["lnk_target"]).removeprefix(_RELEASES) if link["islnk"] else "not a link"
    digests = _digests(answers[DIGESTS].get("stdout_lines", []))
    units = {_name(file["path"]).removeprefix("livepeer-").removesuffix(".service") for file in answers[UNITS]["files"]}
    active = _running(answers[ACTIVE], ".service")
    containers = _running(answers[CONTAINERS], "")
    processes = []
    for node in (_name(file["path"]) for file in answers[MARKERS]["files"]):
        runtime, running = ("systemd", active) if node in units else ("docker", containers)
        runs = None if running is None else node in running
        processes.append(Process(node, digests.get(node, ""), runtime, runs))
    tables = _lines(answers[TABLES])
    filtered = None if tables is None else _TABLE in tables
    markers = [_text(line) for line in answers[STACK].get("stdout_lines", [])]
    processes += observed_units(markers, _lines(answers[PROJECTS]), filtered)
    return HostState(host, OBSERVED, release, in_order(processes))


def _lines(answer: Mapping[str, Any]) -> set[str] | None:
    """The lines of a program's output; None where the program could not tell."""
    return {_text(line) for line in answer["stdout_lines"]} if answer.get("rc") == 0 else None


def _running(answer: Mapping[str, Any], ending: str) -> set[str] | None:
    """Names of the nodes that run, from the first word of each line; None where the program could not tell."""
    if answer.get("rc") != 0:
        return None
    words = [_text(line).split()[0] for line in answer["stdout_lines"] if line.strip()]
    return {word.removeprefix("livepeer-").removesuffix(ending) for word in words}


def _digests(lines: Sequence[str]) -> dict[str, str]:
    """Digest by node, from lines such as /var/lib/fleetc/running/gate:0123..."""
    found: dict[str, str] = {}
    for line in lines:
        path, _, digest = _text(line).rpartition(":")
        found.setdefault(_name(path), digest)
    return found


def _name(path: str) -> str:
    return os.path.basename(_text(path))  # noqa: PTH119  # a path of another machine


def _text(value: str) -> str:
    """Text from a host, as it can be stored and shown."""
    if len(value) > _LIMIT:
        raise ValueError("too long")
    return visible(value)
