"""Which releases a rollback leads to.

In: the journal, and the user's choice. Out: a digest for each host to roll back, and the known releases of hosts. Only
the host knows whether it still keeps one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fleetc.rollout.hosts.secrets import DeployError
from fleetc.rollout.journal.history import History, HostChange, Run
from fleetc.rollout.verify.data import Back
from fleetc.text.encoders import visible

_SHORTEST = 8
_SHORT = 12
_NAMED = 5
_CHANGED = ("new", "unwell", "unknown", "quarantined")
_RUNS = ("new", "unwell")
"""Results of a host that runs the release which it was given."""

SEE_LIST = "fleetc rollback --list shows the digests that the journal has"


class Ran(NamedTuple):
    """A release that a host had. `run` is the last rollout that brought it there, None where the journal has none."""

    release: str
    run: Run | None


def releases_before(history: History, names: Sequence[str], to: str) -> dict[str, str]:
    """By host of `names`, the digest of the release to go back to.

    `to` is the start of a digest: of the manifest of an earlier rollout, or of a release of a host; "" is what hosts
    ran before the last rollout that changed any. Raises DeployError.
    """
    if to and (len(to) < _SHORTEST or not set(to) <= set("0123456789abcdef")):
        raise DeployError(f"--to takes at least {_SHORTEST} characters of a digest, in lower case; {SEE_LIST}", 2)
    releases = _named(history, to) if to else _before_the_last(history, names)
    chosen = {name: releases[name] for name in names if releases.get(name)}
    if not chosen:
        what = (
            f"no rollout in the journal had {to}; {SEE_LIST}"
            if to
            else "no rollout in the journal changed a host that had a release before"
        )
        raise DeployError(f"there is nothing to go back to: {what}", 1)
    return chosen


def releases_of(history: History, host: str) -> list[Ran]:
    """The releases of a host, newest first."""
    brought_by: dict[str, Run | None] = {}
    for run in history.runs:
        change = run.changes.get(host)
        if change is None or change.result not in _RUNS:
            continue
        if change.before:
            brought_by.setdefault(change.before, None)
        if change.after == change.before:
            continue  # what differed there was undone, or found
        brought = brought_by.pop(change.after, None) if run.kind == "rollback" else run
        brought_by.pop(change.after, None)
        brought_by[change.after] = brought
    return [Ran(release, run) for release, run in reversed(brought_by.items())]


def rolled_out(history: History, host: str, release: str) -> Run | None:
    """The last rollout that brought a release to a host; None where the journal has none."""
    return next((ran.run for ran in releases_of(history, host) if ran.release == release), None)


def rolled_back(history: History) -> dict[str, Back]:
    """The hosts that rollouts took back and have not changed since."""
    backs: dict[str, Back] = {}
    for run in history.runs:
        for host, change in run.changes.items():
            if change.result in _RUNS and change.after == change.before:
                continue
            backs.pop(host, None)
            if run.kind == "rollback" and change.result in _RUNS:
                backs[host] = Back(run.begun, run.who, change.after)
    return backs


def _before_the_last(history: History, names: Sequence[str]) -> dict[str, str]:
    for run in reversed(history.runs):
        changed = {host: change for host, change in run.changes.items() if _has_changed(change)}
        changed = changed if run.kind != "restart" else {}
        if changed and run.kind == "rollback":
            words = (
                f"the last rollout that changed a host was the rollback at {visible(run.begun)}, so this would bring "
            )
            words += "back what it took away: choose a release with --to DIGEST"
            raise DeployError(f"{words}{_choices(history, names)}; {SEE_LIST}", 1)
        if changed:
            return {host: change.before for host, change in changed.items()}
    return {}


def _has_changed(change: HostChange) -> bool:
    """Whether a run brought another release to a host, or may have."""
    return change.result in _CHANGED and not (change.result in _RUNS and change.after == change.before)


def _choices(history: History, names: Sequence[str]) -> str:
    """The releases that hosts do not run now, the first of many, as the end of a sentence."""
    hosts: dict[str, list[str]] = {}
    for name in names:
        for ran in releases_of(history, name)[1:]:
            hosts.setdefault(ran.release, []).append(name)
    choices = [f"{release[:_SHORT]} ({', '.join(on[:_NAMED])})" for release, on in list(hosts.items())[:_NAMED]]
    return f", such as {', '.join(choices)}" if choices else ""


def _named(history: History, to: str) -> Mapping[str, str]:
    """The releases of the last rollout with a manifest or release of this prefix.

    The manifest of a rollback or a restart is that of the spec it was run with, which is not where it led.
    """
    for run in reversed(history.runs):
        if run.manifest.startswith(to) and run.kind == "deploy":
            return dict(run.releases)
        own = {host: release for host, release in run.releases.items() if release.startswith(to)}
        if own:
            return own
    return {}
