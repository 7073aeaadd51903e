"""What each node release changed for operators, besides flags.

In: `releases.toml` beside this file, read on the first question, because only reviews of another release ask. Out:
`releases()`, the oldest first.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from fleetc.upstream import NEWEST_RELEASE, Release, load, parse_release


@dataclass(frozen=True, slots=True)
class ReleaseChange:
    """A change of the node's behaviour from `release` on: `now` is the new behaviour, `before` the old one.

    It concerns a node that meets every given condition: one of `roles` and `modes`, `on_chain`, one of `flags` and none
    of `without` on its launch line. Also: one of `settings` (dotted, below its table), one of `variables` in its
    environment, and `unset`, a flag that its launch line lacks.
    """

    name: str
    release: Release
    now: str
    before: str
    roles: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    on_chain: bool = False
    flags: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    unset: str = ""


@dataclass(frozen=True, slots=True)
class ReleaseFacts:
    """One release. `day` is its date, as 2026-08-12. `FLAGS` has its flags.

    Of a `partial` one only single facts are known, and its day is "".
    """

    release: Release
    day: str
    changes: tuple[ReleaseChange, ...]
    partial: bool = False


@cache
def releases() -> tuple[ReleaseFacts, ...]:
    """Every release with known facts, oldest first. A spec may name any later one too."""
    found = (_facts(parse_release(name), row) for name, row in load("releases.toml")["releases"].items())
    return tuple(sorted(found, key=lambda facts: facts.release))


@cache
def unplaced() -> tuple[ReleaseChange, ...]:
    """Changes merged upstream for an unknown release after the last completely known one."""
    return tuple(_change(NEWEST_RELEASE, row) for row in load("releases.toml").get("unplaced", ()))


def between(older: Release, newer: Release) -> tuple[ReleaseFacts, ...]:
    """The releases after `older`, up to and with `newer`."""
    return tuple(facts for facts in releases() if older < facts.release <= newer)


def _facts(release: Release, row: dict[str, Any]) -> ReleaseFacts:
    return ReleaseFacts(
        release=release,
        day=row.get("date", ""),
        changes=tuple(_change(release, change) for change in row.get("changes", ())),
        partial=row.get("partial", False),
    )


def _change(release: Release, row: dict[str, Any]) -> ReleaseChange:
    columns: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in row.items()}
    return ReleaseChange(release=release, **columns)
