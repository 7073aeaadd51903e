"""Facts about the avatar stack as data: its releases, what they can do, ports, limits and settings.

In: `avatar.toml` beside this file; `avatar_settings.toml` on the first question. Out: `AvatarRelease` and its order,
`read_release`, `SLOT_PORTS`, `FIXED_PORTS`, `settings()`. Rules, the model and lowering ask here.

Releases have two forms, v1.3.6 (with -beta.1 before it) and v2026.3.1-alpha.1. They have the order of Semantic
Versioning 2 without the v: releases in date form follow all others, as in time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, total_ordering
from typing import Any

from fleetc.upstream import load

_NUMBER = "(0|[1-9][0-9]{0,8})"
_PLAIN = re.compile(rf"v(0|[1-9][0-9]{{0,2}})\.{_NUMBER}\.{_NUMBER}(?:-(beta)\.{_NUMBER})?")
_DATED = re.compile(rf"v([1-9][0-9]{{3}})\.([1-9]|1[0-2])\.{_NUMBER}-(alpha)\.{_NUMBER}")


@total_ordering
@dataclass(frozen=True, slots=True)
class AvatarRelease:
    """A release: three numbers, and "alpha" or "beta" with its number before the release itself, else ""."""

    parts: tuple[int, int, int]
    stage: str = ""
    number: int = 0

    @property
    def dated(self) -> bool:
        """Whether it has the date form: year, month and a number."""
        return self.parts[0] >= 1000

    def _rank(self) -> tuple[tuple[int, int, int], bool, str, int]:
        return self.parts, not self.stage, self.stage, self.number

    def __lt__(self, other: object) -> bool:
        return self._rank() < other._rank() if isinstance(other, AvatarRelease) else NotImplemented

    def __str__(self) -> str:
        plain = "v" + ".".join(map(str, self.parts))
        return f"{plain}-{self.stage}.{self.number}" if self.stage else plain


@dataclass(frozen=True, slots=True)
class FixedPort:
    """A port of other parts than slots. `usual`: often there, although no spec names it."""

    service: str
    port: int
    purpose: str
    usual: bool = False


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of the stack. `field` is its key below the avatars table; else `decided` is its source.

    `default` is what a host does when nothing is written; None where that is not one text. `marks`: M mission,
    P public code, I inferred.
    """

    name: str
    type: str
    marks: str
    field: str = ""
    decided: str = ""
    branded: bool = False
    default: str | None = None
    since: AvatarRelease | None = None
    note: str = ""

    def variable(self, prefix: str) -> str:
        """Its name on a host; `prefix` is AVATAR or EMBODY."""
        return f"{prefix}_{self.name}" if self.branded else self.name


def read_release(text: str) -> AvatarRelease | None:
    """The release that a text names, exactly written; None for any other text."""
    found = _PLAIN.fullmatch(text) or _DATED.fullmatch(text)
    if found is None:
        return None
    major, minor, patch, stage, number = found.groups()
    return AvatarRelease((int(major), int(minor), int(patch)), stage or "", int(number or 0))


@cache
def settings() -> dict[str, Setting]:
    """Every setting of the stack, by its name without brand."""
    return {name: _setting(name, row) for name, row in load("avatar_settings.toml")["settings"].items()}


def _release(text: str) -> AvatarRelease:
    release = read_release(text)
    if release is None:
        raise ValueError(f"not a release of the avatar stack: {text}")
    return release


def _setting(name: str, row: dict[str, Any]) -> Setting:
    since = row.pop("since", None)
    return Setting(name=name, since=_release(since) if since else None, **row)


_DATA = load("avatar.toml")

RELEASES: tuple[AvatarRelease, ...] = tuple(map(_release, _DATA["releases"]))
"""The known releases, oldest first."""

NEWEST_RELEASE: AvatarRelease = max(release for release in RELEASES if not release.stage)
"""The newest stable one."""

ABILITIES: dict[str, AvatarRelease] = {name: _release(text) for name, text in _DATA["abilities"].items()}
"""The first release that can do it."""

LIMITS: dict[str, int] = dict(_DATA["limits"])
SLOT_PORTS: dict[str, int] = dict(_DATA["slot_ports"])
"""Port of slot 0 by service: signaling, runner, recorder and game."""

HIGHEST_SLOT: int = 65535 - max(SLOT_PORTS.values())
"""The last slot with existing ports."""

FIXED_PORTS: tuple[FixedPort, ...] = tuple(FixedPort(**row) for row in _DATA["fixed_ports"])
NEIGHBOURS: tuple[str, ...] = tuple(sorted({row.service for row in FIXED_PORTS} - {"health", "turn"}))
"""Services that may run beside slots and that a spec can name."""
