"""Reads TOML texts into one document whose every value can be traced to a place in them.

In: `Source` texts, decoded and with LF line ends (`disk/files.py` does both); the first is the base, later ones
are overlays. Out: a `Document`, or diagnostics whose places are all `Span`s, so that they can be shown
without a document (with `LineMap`). Called by `pipeline.py`, and for the specs that a tree keeps.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from fleetc.places.diagnostic import Diagnostic, Label, Path, Span, error
from fleetc.toml.reader import read
from fleetc.toml.scan import KeySpans, Scan, parse_key
from fleetc.toml.syntax_errors import cut

REMOVE = "remove"
"""The top-level key of an overlay that lists what to remove from the base."""


@dataclass(frozen=True, slots=True)
class Source:
    """One named piece of TOML text; `name` is what diagnostics show as the file."""

    name: str
    text: str


class LineMap:
    """The lines of one text. Lines and columns count from 1, columns in characters."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def text(self, line: int) -> str:
        """The text of a line without its end. Raises IndexError when there is no such line."""
        if not 1 <= line <= len(self._starts):
            raise IndexError(f"no line {line}")
        start = self._starts[line - 1]
        end = self._starts[line] - 1 if line < len(self._starts) else len(self._text)
        return self._text[start:end]


@dataclass(frozen=True)
class Document:
    """What the sources say together: `raw` is the merged table of dict, list, str, int, bool, Decimal and date.

    Places are computed on the first question about one, because a spec without problems asks none.
    """

    sources: tuple[Source, ...]
    raw: dict[str, Any] = field(compare=False)

    @cached_property
    def _marks(self) -> list[tuple[str, dict[Path, KeySpans]]]:
        """The marks of each source, the last source first."""
        return [(source.name, Scan(source.text).marks) for source in reversed(self.sources)]

    @cached_property
    def _lines(self) -> dict[str, LineMap]:
        return {source.name: LineMap(source.text) for source in self.sources}

    def span(self, path: Path, on_key: bool = False) -> Span | None:
        """Where the value of a path, or its key, is in the last source that sets it; None if none does.

        A table's place is its header with the brackets, its inline form, or the key that implies it. An
        array's item has no key: its own place stands for it.
        """
        if not path or value_at(self.raw, path) is None:
            return None
        for name, marks in self._marks:
            mark = marks.get(path)
            if mark is not None:
                return Span(name, mark.key_start, mark.key_end) if on_key else Span(name, mark.start, mark.end)
        return None

    def nearest(self, path: Path, on_key: bool = False) -> Span:
        """The place of the longest part of a path that exists; the start of the text when none does."""
        for length in range(len(path), 0, -1):
            span = self.span(path[:length], on_key and length == len(path))
            if span is not None:
                return span
        return Span(self.sources[0].name, 0, 0)

    def in_base(self, path: Path) -> bool:
        """Whether the first source says anything at a path, whatever overlays say."""
        return path in self._marks[-1][1]

    def position(self, source_name: str, offset: int) -> tuple[int, int]:
        """Line and column (from 1, in characters) of an offset. Raises KeyError for an unknown source."""
        return self._lines[source_name].position(offset)

    def line_text(self, source_name: str, line: int) -> str:
        """The text of a line of a source. Raises KeyError or IndexError when there is none."""
        return self._lines[source_name].text(line)


def read_document(sources: Sequence[Source]) -> tuple[Document | None, list[Diagnostic]]:
    """Read a base and its overlays. The document is None exactly when a diagnostic is an error.

    Overlays merge tables deeply and replace everything else; their top-level `remove = ["hosts.edge-1"]`
    first removes keys. Raises ValueError without sources.
    """
    if not sources:
        raise ValueError("no source to parse")
    documents: list[Document] = []
    diagnostics: list[Diagnostic] = []
    for source in sources:
        raw, found = read(source.name, source.text)
        documents.append(Document((source,), raw))
        diagnostics += found
    if diagnostics:
        return None, diagnostics
    merged = documents[0]
    for overlay in documents[1:]:
        merged, found = _overlay(merged, overlay)
        diagnostics += found
    return (None, diagnostics) if diagnostics else (merged, [])


def _overlay(base: Document, overlay: Document) -> tuple[Document, list[Diagnostic]]:
    """Lay one overlay over what the sources before it say."""
    top = dict(overlay.raw)
    kept, diagnostics = _remove(base.raw, top.pop(REMOVE, []), overlay)
    clashes: list[Path] = []
    merged = _merge(kept, top, (), clashes)
    for path in clashes:
        table_there = isinstance(value_at(base.raw, path), dict)
        there, here = ("a table", "not a table") if table_there else ("not a table", "a table")
        key = cut(".".join(str(part) for part in path))
        diagnostics.append(
            error(
                "overlay-conflict",
                f"{key} is {there} in {base.nearest(path).source} but {here} in the overlay",
                Label(overlay.nearest(path, on_key=True), f"{here} here"),
                (Label(base.nearest(path, on_key=True), f"{there} here"),),
                f'give both the same shape, or remove the old one first: remove = ["{key}"]',
            )
        )
    return Document((*base.sources, *overlay.sources), merged), diagnostics


def _remove(base: dict[str, Any], removals: object, overlay: Document) -> tuple[dict[str, Any], list[Diagnostic]]:
    """The base without the tables and keys that an overlay removes."""
    example = f'write {REMOVE} = ["gateways.gw-us"]'
    if not isinstance(removals, list):
        place = Label(overlay.nearest((REMOVE,)))
        return base, [error("overlay-remove", f"{REMOVE} takes a list of key paths", place, help=example)]
    diagnostics: list[Diagnostic] = []
    for index, text in enumerate(removals):
        place = Label(overlay.nearest((REMOVE, index)))
        path = parse_key(text) if isinstance(text, str) else None
        if path is None:
            diagnostics.append(error("overlay-remove", "this is not a key path", place, help=example))
        elif value_at(base, path) is None:
            message = f"there is no {cut(str(text))} to remove"
            advice = "correct the path: it can name tables and keys of the base, but not items of arrays"
            diagnostics.append(error("overlay-remove", message, place, help=advice))
        else:
            base = _without(base, path)
    return base, diagnostics


def _without(table: dict[str, Any], path: Path) -> dict[str, Any]:
    """A copy of a table without the key at a path that exists."""
    copy = dict(table)
    key = str(path[0])
    if len(path) == 1:
        del copy[key]
    else:
        copy[key] = _without(copy[key], path[1:])
    return copy


def _merge(base: dict[str, Any], over: dict[str, Any], path: Path, clashes: list[Path]) -> dict[str, Any]:
    """Both in one: tables merge, all else is replaced. A table against something else goes to `clashes`."""
    merged = dict(base)
    for key, value in over.items():
        old = merged.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            merged[key] = _merge(old, value, (*path, key), clashes)
        elif old is not None and isinstance(old, dict) != isinstance(value, dict):
            clashes.append((*path, key))
        else:
            merged[key] = value
    return merged


def value_at(raw: Any, path: Path) -> Any:
    """The value at a path of tables and arrays; None when there is none (TOML has no null)."""
    for part in path:
        if isinstance(raw, dict) and isinstance(part, str):
            raw = raw.get(part)
        elif isinstance(raw, list) and isinstance(part, int) and 0 <= part < len(raw):
            raw = raw[part]
        else:
            return None
    return raw
