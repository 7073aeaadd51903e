"""A file of the tree before it is rendered. The artifact and the answer of `fleetc why` are two readings of a draft.

In: the parts of a file from a format. Out: `Draft`, whose body is `Lines`, `JsonFile`, `Verbatim` or `Rendered` of
`templates.py`. Formats make drafts and `formats.py` reads them; a compile reads every text, `fleetc why` the lines of
one file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from fleetc.blueprint.blueprint import AVATAR_DIRECTORY, BlueprintFile, HostBlueprint, Service, StackBlueprint
from fleetc.emit.artifacts import json_document, json_lines, tables_of
from fleetc.emit.traced import Line, Origins, TracedLine, together
from fleetc.emit.tracing import Body
from fleetc.emit.tree import Artifact
from fleetc.places.origin import Origin, derived


class Lines:
    """A file whose lines are written by code: every read calls `make`, which yields them.

    If origins are expensive to find, `explain` yields the same lines with origins, and `make` without.
    """

    __slots__ = ("_explain", "_make")

    def __init__(self, make: Callable[[], Iterable[Line]], explain: Callable[[], Iterable[Line]] | None = None) -> None:
        self._make = make
        self._explain = explain or make

    def text(self) -> str:
        """All lines, each with its line end."""
        return text_of(self._make())

    def lines(self) -> list[TracedLine]:
        """The lines with their origins."""
        lines = ((line, together(origins)) for text, origins in self._explain() for line in text.split("\n"))
        return [TracedLine(line, origins) for line, origins in lines]


def text_of(lines: Iterable[Line]) -> str:
    """The text of lines, each with its line end."""
    return "".join([f"{text}\n" for text, _ in lines])


class JsonFile:
    """A file of plain values as JSON; the blueprint has the origin of each part."""

    def __init__(self, file: BlueprintFile) -> None:
        self._file = file

    def text(self) -> str:
        """The document."""
        return json_document(self._file.content)

    def lines(self) -> list[TracedLine]:
        """The same document, each line with the origin of its part."""
        return [TracedLine(text, self._file.origins_at(place)) for text, place in json_lines(self._file.content)]


class Verbatim:
    """A text that is copied: from the spec itself, or from a file of fleetc that `template` names."""

    def __init__(self, text: str, *origins: Origin, template: str = "") -> None:
        self._text = text
        self._origins = origins
        self._template = template

    def text(self) -> str:
        """The text, byte for byte."""
        return self._text

    def lines(self) -> list[TracedLine]:
        """Its lines, which all have the same origins."""
        return [
            TracedLine(line, self._origins, (), self._template, number if self._template else 0)
            for number, line in enumerate(self._text.splitlines(), 1)
        ]


class Draft:
    """One file: its path in the tree, and its content.

    The manifest names the spec tables of a file: `tables`, and those of `origins`. `presence` is why the file exists.
    """

    __slots__ = ("_artifact", "_digest", "_origins", "_presence", "_tables", "body", "path")

    def __init__(
        self,
        path: str,
        body: Body,
        origins: Iterable[Origin] = (),
        tables: tuple[str, ...] = (),
        presence: Origin | None = None,
    ) -> None:
        self.path = path
        self.body = body
        self._origins = origins
        self._tables = tables
        self._presence = presence
        self._artifact: Artifact | None = None
        self._digest = ""

    def artifact(self) -> Artifact:
        """The file as written, rendered once. Raises EncodingError."""
        if self._artifact is None:
            tables = tables_of(self._origins, self._tables)
            self._artifact = Artifact(self.path, self.body.text().encode(), origins=tables)
        return self._artifact

    def digest(self) -> str:
        """The SHA-256 of the file, in hex, computed once."""
        if not self._digest:
            self._digest = self.artifact().sha256
        return self._digest

    def lines(self) -> list[TracedLine]:
        """The lines of the same text with their origins."""
        if self._presence is None:
            return self.body.lines()
        there = (self._presence,)
        return [
            TracedLine(text, origins, (*deciding, there), template, number)
            for text, origins, deciding, template, number in self.body.lines()
        ]


def origins_of(files: Iterable[Draft]) -> Origins:
    """The origins of everything in these files, and of their presence."""
    return together(*((*line.origins, *line.presence) for file in files for line in file.lines()))


def service_file(
    host: HostBlueprint, service: Service, name: str, body: Body, origins: Iterable[Origin], *, by_runtime: bool = False
) -> Draft:
    """A file of a service, on hosts of any runtime or of one. Its tables are host, node and those of the origins."""
    node = (service.table, service.name)
    there = derived("every node has this file on its host", (*node, "host"))
    if by_runtime:
        why = "every node has this file on a host of this runtime"
        there = derived(why, ("hosts", host.name, "runtime"), (*node, "host"))
    return Draft(f"hosts/{host.name}/{service.name}/{name}", body, origins, _tables(host.name, *node), there)


def avatar_file(host: HostBlueprint, avatar: StackBlueprint, name: str, body: Body, origins: Iterable[Origin]) -> Draft:
    """A file of a host's avatar stack. Its tables are those of the host, the stack and the origins."""
    there = derived("every host with avatars has this file", ("avatars", avatar.name, "host"))
    tables = _tables(host.name, "avatars", avatar.name)
    return Draft(f"hosts/{host.name}/{AVATAR_DIRECTORY}/{name}", body, origins, tables, there)


@lru_cache(maxsize=4)  # the files of a host come one after the other, and those of a node share the value
def _tables(host: str, kind: str, name: str) -> tuple[str, ...]:
    return f"hosts.{host}", f"{kind}.{name}"
