"""Where a planned value came from: written in the spec, a named default, or derived from other values.

Made by `language/effective.py` and `lower/`; carried by every argument, variable and file of the blueprint; printed by
people's questions about the output. Holds key paths, never lines.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Generic, NamedTuple, TypeVar

from fleetc.places.diagnostic import Path

T = TypeVar("T")


class Origin(NamedTuple):
    """`kind` is given, default or derived; `paths` the spec places; `reason` why, for defaults and derivations."""

    kind: str
    paths: tuple[Path, ...]
    reason: str = ""


class Chosen(NamedTuple, Generic[T]):
    """A value that is in force, and its origin."""

    value: T
    origin: Origin


@lru_cache(maxsize=64)  # what comes from one place shares one value
def given(*path: str | int) -> Origin:
    """The value is in the spec at this path."""
    return Origin("given", (path,))


def default(reason: str, *near: Path) -> Origin:
    """The spec is silent; `near` are the tables that the default belongs to."""
    return Origin("default", near, reason)


@lru_cache(maxsize=64)
def derived(reason: str, *paths: Path) -> Origin:
    """The value follows from those at `paths`."""
    return Origin("derived", paths, reason)
