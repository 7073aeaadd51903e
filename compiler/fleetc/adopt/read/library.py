"""The texts that processes refer to, among the sources: config files, environment files, lists of models and prices.

In: sources by name. Out: the one that a path of a process means. Nothing is read from a disk here: a path in a source
opens no file.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import cached_property

from fleetc.toml.document import Source

_USE = re.compile(
    r"\$\{?([A-Za-z_][A-Za-z0-9_]*)|\benvironment:[ \t]*[\"']?([A-Za-z_][A-Za-z0-9_]*)|printenv ([A-Z_a-z0-9]+)"
)
"""A variable in a text: `$NAME`, `${NAME...}`, and the one that a secret of Compose is."""


def variables_in(texts: Iterable[str]) -> frozenset[str]:
    """The names of variables that some texts use."""
    return frozenset("".join(names) for text in texts for names in _USE.findall(text))


@dataclass
class Library:
    """The sources, and files that scripts write; `used` are those that something referred to, and `mounted` those that
    containers have at paths of their own.
    """

    sources: dict[str, Source]
    written: dict[str, Source] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    mounted: set[str] = field(default_factory=set)
    _by_base: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in sorted(self.sources):
            self._by_base.setdefault(posixpath.basename(name), []).append(name)

    @cached_property
    def variables(self) -> frozenset[str]:
        """The names of variables that the sources themselves use."""
        return variables_in(one.text for one in self.sources.values())

    def named(self, name: str) -> Source | None:
        """The source of a name, which is used now; None if there is none."""
        if name not in self.sources:
            return None
        self.used.add(name)
        return self.sources[name]

    def renamed(self, path: str, beside: str) -> Source | None:
        """The source that has the name of the source `beside` up to its ending, and ends as a path does: copies of a
        file from several hosts have the names of those in front.
        """
        name = f"{posixpath.splitext(beside)[0]}{posixpath.splitext(path)[1]}"
        base = posixpath.basename(path)
        alike = base != "" and name != beside and name.endswith((f".{base}", f"-{base}", f"_{base}"))
        return self.named(name) if alike else None

    def find(self, path: str, beside: str, without: Collection[str] = ()) -> Source | None:
        """The source that a path means to a process of the source `beside`; None if there is none, or several.

        Of sources with that file name, the one counts that shares the most folders at its end, then the nearest.
        """
        parts = _parts(path)
        if not parts:
            return None
        for written in (path, parts[-1]):
            if written in self.written:
                return self.written[written]
        best: list[tuple[tuple[int, int, int], str]] = []
        home = _parts(beside)[:-1]
        for name in self._by_base.get(parts[-1], ()):
            if name in without:
                continue
            own = _parts(name)
            shared = 0
            while shared < min(len(own), len(parts)) and own[-1 - shared] == parts[-1 - shared]:
                shared += 1
            near = 0
            while near < min(len(own) - 1, len(home)) and own[near] == home[near]:
                near += 1
            best.append(((near if own[:-1] == home else 0, shared, near), name))
        if not best:
            return None
        best.sort(reverse=True)
        if len(best) > 1 and best[0][0] == best[1][0]:
            return None
        self.used.add(best[0][1])
        return self.sources[best[0][1]]


def _parts(path: str) -> list[str]:
    return [part for part in path.replace("\\", "/").split("/") if part not in ("", ".", "~")]
