"""What people give: sources, among which processes find the files that they refer to, and what is `Said` beside them.

In: sources by name. Out: the one that a path of a process means. Nothing is read from a disk here: a path in a source
opens no file.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile

from fleetc.places.diagnostic import Span
from fleetc.text import leaks
from fleetc.toml.document import LineMap, Source

_USE = re.compile(
    r"\$\{?([A-Za-z_][A-Za-z0-9_]*)|\benvironment:[ \t]*[\"']?([A-Za-z_][A-Za-z0-9_]*)|printenv ([A-Z_a-z0-9]+)"
)
"""A variable in a text: `$NAME`, `${NAME...}`, and the one that a secret of Compose is."""


FLEET_NAME = "adopted"


@dataclass(frozen=True)
class Said:
    """What people say of sources. `hosts` says which host a source is about, `addresses` where hosts are, `only` which
    processes count, `role` what a process is that does not say it. `listed` are sources that nobody named, but their
    folder or another source. `answers` are values for places of the spec.

    `homes` and `directories` say whose home `~` is and where the folder of the sources is, by host, or "" for all; a
    directory may also be that of one source, by the folder of that. `nodes` are those of which no file says the host,
    by name, with their hosts; "" is for all that nobody names.
    """

    hosts: Mapping[str, str] = field(default_factory=dict)
    addresses: Mapping[str, str] = field(default_factory=dict)
    only: Collection[str] = ()
    role: str = ""
    listed: Collection[str] = ()
    answers: Sequence[str] = ()
    homes: Mapping[str, str] = field(default_factory=dict)
    directories: Mapping[str, str] = field(default_factory=dict)
    nodes: Mapping[str, str] = field(default_factory=dict)

    @property
    def claimed(self) -> set[str]:
        """The hosts that somebody names for something."""
        return {*self.hosts.values(), *self.nodes.values()}


@dataclass
class Library:
    """The sources; `used` are those that something referred to."""

    sources: dict[str, Source]
    used: set[str] = field(default_factory=set)
    _by_base: dict[str, list[str]] = field(default_factory=dict)
    _lines: dict[str, LineMap] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for source in self.sources.values():
            self.add(source)

    def add(self, source: Source) -> None:
        """Add a source, such as a file that a script writes."""
        self.sources[source.name] = source
        names = self._by_base.setdefault(posixpath.basename(source.name), [])
        names += [source.name] if source.name not in names else []

    @cached_property
    def variables(self) -> frozenset[str]:
        """The names of variables that the sources themselves use."""
        return frozenset("".join(names) for one in self.sources.values() for names in _USE.findall(one.text))

    def place(self, span: Span) -> str:
        """A place of a source as FILE:LINE."""
        if span.source not in self.sources:
            return leaks.shown(span.source)
        if span.source not in self._lines:
            self._lines[span.source] = LineMap(self.sources[span.source].text)
        return f"{leaks.shown(span.source)}:{self._lines[span.source].position(span.start)[0]}"

    def named(self, name: str) -> Source | None:
        """The source of a name, which is used now; None if there is none."""
        if name not in self.sources:
            return None
        self.used.add(name)
        return self.sources[name]

    def find(self, path: str, beside: str) -> Source | None:
        """The source that a path means to a process of the source `beside`; None if there is none, or several.

        Of sources with that file name, the one counts that shares the most folders at its end, then the nearest.
        """
        parts, home = _parts(path), _parts(beside)
        names = self._by_base.get(parts[-1], ()) if parts else ()
        ranks = sorted((_nearness(_parts(name), parts, home), name) for name in names)
        if not ranks or (len(ranks) > 1 and ranks[-1][0] == ranks[-2][0]):
            return None
        return self.named(ranks[-1][1])


def _nearness(own: Sequence[str], wanted: Sequence[str], home: Sequence[str]) -> tuple[int, int, int]:
    near = _alike(own[:-1], home)
    return near if own[:-1] == home[:-1] else 0, _alike(own[::-1], wanted[::-1]), near


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many parts are the same before the first that is not."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _parts(path: str) -> list[str]:
    return [part for part in path.replace("\\", "/").split("/") if part not in ("", ".", "~")]
