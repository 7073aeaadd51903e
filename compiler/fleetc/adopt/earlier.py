"""An earlier spec of the same sources, and what adopting again has done with it.

In: the text of that spec. Out: `Earlier`, with everything written out, and `Carried`, which `answers.py` fills.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from fleetc.language.fleet import NODE_TABLES
from fleetc.language.sharing import CLASSES, DEFAULTS, tables
from fleetc.language.spec import read_spec
from fleetc.places.diagnostic import Diagnostic, Label, Span, error, has_errors
from fleetc.toml.document import Source, value_at

Place = tuple[str, ...]


@dataclass(frozen=True)
class Earlier:
    """A spec that people have answered, with all that it says once written out.

    `asked` are the places that adopting the sources asks about, and it `asks_balances` of wallets; `typed` are those at
    which somebody has just typed another value than the sources have. If it was `compared`
    with the sources, nodes are the `same` there or `differ`, and `names` has the name here of each node there, by its
    table and its name.
    """

    source: Source
    raw: Mapping[str, Any]
    written: Mapping[str, Any]
    asked: frozenset[Place] = frozenset()
    typed: frozenset[Place] = frozenset()
    asks_balances: bool = False
    compared: bool = False
    same: frozenset[str] = frozenset()
    differ: frozenset[str] = frozenset()
    names: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def stands(self, kind: str, name: str) -> bool:
        """Whether a table is as the sources have it, so that it stays as people wrote it.

        Stacks of avatars stay too, although nothing compares them, because of their settings many say the same.
        """
        if not self.compared or kind == "runners":
            return False
        if kind == "avatars":
            return True
        if kind in NODE_TABLES:
            return name in self.same
        if kind == "fleet":
            return not self.differ
        return not any(mentions(values, name) for _, values in self._differing())

    def _differing(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        for kind in NODE_TABLES:
            yield from ((name, values) for name, values in tables_of(self.raw, kind) if name in self.differ)


@dataclass(frozen=True)
class Contradiction:
    """A value that the sources and the earlier spec have differently; that of the sources is taken."""

    place: Place
    sources: Any
    earlier: Any


@dataclass
class Carried:
    """What was done with an earlier spec: `answers` are places whose values were kept, `tables` those of no source.

    `renamed` has tables that keep the name that the earlier spec has: their kind, and the name that sources give.
    `stacks` are those of avatars that stay without having been compared, and `hosts` those of no source on which people
    have put nodes of the sources.
    """

    earlier: Earlier
    answers: list[Place] = field(default_factory=list)
    contradictions: list[Contradiction] = field(default_factory=list)
    tables: list[Place] = field(default_factory=list)
    renamed: list[tuple[str, str, str]] = field(default_factory=list)
    stacks: list[str] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)

    @property
    def shares(self) -> bool:
        """Whether the earlier spec said something once for many tables, which adopting decides anew."""
        written = self.earlier.written
        return DEFAULTS in written or CLASSES in written


def read_earlier(source: Source) -> tuple[Earlier | None, list[Diagnostic]]:
    """An earlier spec; none where it cannot be read."""
    document, found = read_spec([source])
    if document is None or has_errors(found):
        return None, found
    raw = document.raw
    if wrong := [path for path in _places(raw) if not isinstance(value_at(raw, path), Mapping)]:
        place = document.span(wrong[0]) or Span(source.name, 0, 1)
        name = ".".join(wrong[0])
        return None, [error("wrong-type", f"{name} is no table", Label(place), help=f"write a table: [{name}]")]
    return Earlier(source, document.raw, document.written), found


def _places(raw: Mapping[str, Any]) -> Iterator[Place]:
    """Where a spec has tables: the fleet, the kinds, and what is in these."""
    for kind in ("fleet", *tables()):
        if kind in raw:
            yield (kind,)
        if kind != "fleet" and isinstance(raw.get(kind), Mapping):
            yield from ((kind, name) for name in raw[kind])


def tables_of(raw: Mapping[str, Any], kind: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The tables of a kind, by name."""
    yield from raw.get(kind, {}).items()


def mentions(value: Any, name: str) -> bool:
    """Whether a value names a table."""
    if isinstance(value, Mapping):
        return any(key == name or mentions(item, name) for key, item in value.items())
    if isinstance(value, list | tuple):
        return any(mentions(item, name) for item in value)
    return bool(value == name)
