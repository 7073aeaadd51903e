"""Which releases a rollback leads to.

In: what the journal says, and what a person names. Out: a digest for each host that goes back. Whether a host still
keeps that release, only the host can say.
"""

from __future__ import annotations

from fleetc.blueprint.blueprint import Blueprint
from fleetc.rollout.hosts.secrets import DeployError
from fleetc.rollout.journal.history import History
from fleetc.text.encoders import visible

_SHORTEST = 8
_CHANGED = ("new", "unknown", "quarantined")


def releases_before(history: History, blueprint: Blueprint, to: str, limit: tuple[str, ...]) -> dict[str, str]:
    """By host, the digest of the release to go back to.

    `to` is the start of a digest: of the manifest of an earlier rollout, or of a release of a host; "" is what hosts
    ran before the last rollout that changed any. Raises DeployError.
    """
    names = [host.name for host in blueprint.in_order]
    for name in limit:
        if name not in names:
            raise DeployError(f'there is no host "{visible(name)}"', 2)
    if to and (len(to) < _SHORTEST or not set(to) <= set("0123456789abcdef")):
        raise DeployError(f"--to takes at least {_SHORTEST} characters of a digest, in lower case", 2)
    found = _named(history, to) if to else _before_the_last(history)
    chosen = {name: found[name] for name in names if found.get(name) and (not limit or name in limit)}
    if not chosen:
        what = (
            f"no rollout in the journal had {to}"
            if to
            else "no rollout in the journal changed a host that had a release before"
        )
        raise DeployError(f"there is nothing to go back to: {what}", 1)
    return chosen


def _before_the_last(history: History) -> dict[str, str]:
    for run in reversed(history.runs):
        changed = {host: change.before for host, change in run.changes.items() if change.result in _CHANGED}
        if changed and run.kind == "rollback":
            words = "the last rollout was a rollback already, so this would bring back what it took away"
            raise DeployError(f"{words}: say where to go with --to DIGEST, the start of a manifest or a release", 1)
        if changed:
            return changed
    return {}


def _named(history: History, to: str) -> dict[str, str]:
    """The releases of the last rollout whose manifest or one of whose releases has this start."""
    for run in reversed(history.runs):
        if run.manifest.startswith(to):
            return dict(run.releases)
        own = {host: release for host, release in run.releases.items() if release.startswith(to)}
        if own:
            return own
    return {}
