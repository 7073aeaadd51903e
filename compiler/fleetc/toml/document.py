"""Reads TOML texts into one document with a place for every value.

In: `Source` texts, decoded and with LF line ends (`disk/files.py` does both); the first is the base, later ones are
overlays. Out: a `Document`, or diagnostics at `Span`s, which `LineMap` shows without a document. Called by
`pipeline.py`, and for the specs that a tree keeps.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from fleetc.places.diagnostic import Diagnostic, Label, Path, Span, error
from fleetc.toml.including import INCLUDE, begins, fault
from fleetc.toml.reader import read
from fleetc.toml.scan import Marks, parse_key
from fleetc.toml.syntax_errors import cut

REMOVE = "remove"
"""The top-level key of an overlay that lists what to remove from the base."""


@dataclass(frozen=True, slots=True)
class Source:
    """One named piece of TOML text; `name` is what diagnostics show as the file.

    A file that the spec includes has its path from there in `part`; `problem` is why it cannot be read.
    """

    name: str
    text: str
    part: str = ""
    problem: str = ""

    @property
    def recorded_name(self) -> str:
        """What trees and plans call it: nothing of the machine."""
        return self.part or self.name.replace("\\", "/").rsplit("/", 1)[-1]


class LineMap:
    """The lines of one text. Lines and columns count from 1, columns in characters."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *[found.end() for found in re.finditer("\n", text)]]

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def start(self, line: int) -> int:
        """The offset of the first character of a line. Raises IndexError when there is no such line."""
        if not 1 <= line <= len(self._starts):
            raise IndexError(f"no line {line}")
        return self._starts[line - 1]

    def text(self, line: int) -> str:
        """The text of a line without its end. Raises IndexError when there is no such line."""
        start = self.start(line)
        end = self._starts[line] - 1 if line < len(self._starts) else len(self._text)
        return self._text[start:end]


@dataclass(frozen=True)
class Document:
    """The merged sources: `raw` is the merged table of dict, list, str, int, bool, Decimal and date.

    Places are computed on the first question about one, because a spec without problems asks none. If tables share
    values (`language/sharing.py`), `raw` has them written out, `written` is the source form. `layers` has the origins
    of each table, strongest first. `moved` has the places of values without a key in any source. `removed` has places
    where an overlay removes written-out tables. `lost` are kinds of tables with some that could not be written out.
    """

    sources: tuple[Source, ...]
    raw: dict[str, Any] = field(compare=False)
    written: dict[str, Any] = field(default_factory=dict, compare=False)
    layers: Mapping[Path, tuple[Path, ...]] = field(default_factory=dict, compare=False)
    moved: Mapping[Path, Path] = field(default_factory=dict, compare=False)
    removed: Mapping[Path, Label] = field(default_factory=dict, compare=False)
    lost: frozenset[str] = field(default=frozenset(), compare=False)

    def __post_init__(self) -> None:
        if not self.written:
            object.__setattr__(self, "written", self.raw)

    @cached_property
    def _marks(self) -> list[tuple[str, Marks]]:
        """The marks of each source, the last source first."""
        return [(source.name, Marks(source.text)) for source in reversed(self.sources)]

    @cached_property
    def _lines(self) -> dict[str, LineMap]:
        return {source.name: LineMap(source.text) for source in self.sources}

    def span(self, path: Path, on_key: bool = False) -> Span | None:
        """Where the value of a path, or its key, is in the last source that sets it; None if none does.

        A table's place is its header with the brackets, its inline form, or the key that implies it. An array's item
        has no key: its own place is used.
        """
        at = self.said_at(path)
        for name, marks in self._marks if at else ():
            mark = marks.find(at)
            if mark is not None:
                return Span(name, mark.key_start, mark.key_end) if on_key else Span(name, mark.start, mark.end)
        return None

    def said_at(self, path: Path) -> Path:
        """The place of a value in the sources: its path, or the path in the table it comes from; else ().

        A path of the sources, such as one in a class, is its own answer.
        """
        if value_at(self.raw, path) is None:
            return path if value_at(self.written, path) is not None else ()
        for length in range(len(path), 2, -1):  # an item of a list may be at another place than it is said
            if isinstance(path[length - 1], int) and path[:length] in self.moved:
                return (*self.moved[path[:length]], *path[length:])
        for layer in self.layers.get(path[:2], (path[:2],)):
            at = (*layer, *path[2:])
            if value_at(self.written, at) is not None:
                return at
        for length in range(len(path), 2, -1):
            if path[:length] in self.moved:
                return (*self.moved[path[:length]], *path[length:])
        return ()

    def nearest(self, path: Path, on_key: bool = False) -> Span:
        """The place of the longest part of a path that exists; the start of the text when none does."""
        for length in range(len(path), 0, -1):
            span = self.span(path[:length], on_key and length == len(path))
            if span is not None:
                return span
        return Span(self.sources[0].name, 0, 0)

    def in_base(self, path: Path) -> bool:
        """Whether the spec or an included file, without overlays, has a value at a path."""
        at = self.said_at(path)
        whole = {source.name for source in self.sources[:1]} | {source.name for source in self.sources if source.part}
        return any(marks.find(at) for name, marks in self._marks if name in whole)

    def position(self, source_name: str, offset: int) -> tuple[int, int]:
        """Line and column (from 1, in characters) of an offset. Raises KeyError for an unknown source."""
        return self._lines[source_name].position(offset)

    def line_text(self, source_name: str, line: int) -> str:
        """The text of a line of a source. Raises KeyError or IndexError if there is none."""
        return self._lines[source_name].text(line)


def read_document(sources: Sequence[Source]) -> tuple[Document | None, list[Diagnostic]]:
    """Read a base, what it includes, and its overlays. The document is None exactly when a diagnostic is an error.

    No table is in two files of a spec. Overlays merge tables deeply and replace everything else; their top-level
    `remove = ["hosts.edge-1"]` first removes keys. Raises ValueError without sources.
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
    merged, found = _with_parts(documents[0], [one for one in documents[1:] if one.sources[0].part])
    diagnostics += found
    for overlay in documents[1:]:
        if not overlay.sources[0].part:
            merged, found = _overlay(merged, overlay)
            diagnostics += found
    return (None, diagnostics) if diagnostics else (merged, [])


def _with_parts(base: Document, parts: Sequence[Document]) -> tuple[Document, list[Diagnostic]]:
    """The base with the files that it includes."""
    if INCLUDE not in base.raw and not parts:
        return base, []
    raw = dict(base.raw)
    diagnostics = list(_wrongly_included(base, raw.pop(INCLUDE, []), [part.sources[0] for part in parts]))
    owners: dict[Path, Document] = dict.fromkeys(_tables_of(raw), base)
    for part in parts:
        diagnostics += (
            error("include-invalid", f"only the spec itself may have {key}", Label(part.nearest((key,), on_key=True)))
            for key in ("spec", INCLUDE, REMOVE)
            if key in part.raw
        )
        for path in _tables_of(part.raw):
            below = (one for known, one in owners.items() if known[0] == path[0]) if len(path) == 1 else iter(())
            first = owners.get(path) or owners.get(path[:1]) or next(below, None)
            if first is None:
                owners[path] = part
                _put(raw, path, value_at(part.raw, path))
            else:
                diagnostics.append(_in_two_files(path, first, part))
    return Document((*base.sources, *(part.sources[0] for part in parts)), raw), diagnostics


def _tables_of(raw: dict[str, Any]) -> Iterator[Path]:
    """The paths that belong to one file: of tables by name, or of a whole table or value."""
    for key, value in raw.items():
        if isinstance(value, dict) and value and all(isinstance(inner, dict) for inner in value.values()):
            yield from ((key, name) for name in value)
        else:
            yield (key,)


def _put(raw: dict[str, Any], path: Path, value: Any) -> None:
    """Set a value of one or two keys, without changing the tables that the raw values came from."""
    key = str(path[0])
    raw[key] = value if len(path) == 1 else {**raw.get(key, {}), str(path[1]): value}


def _in_two_files(path: Path, first: Document, second: Document) -> Diagnostic:
    message = f"{cut('.'.join(map(str, path)))} is in two files of this spec"
    here, there = (Label(one.nearest(path, on_key=True)) for one in (second, first))
    return error("table-in-two-files", message, here, (replace(there, note="the first"),), "keep it in one of them")


def _wrongly_included(base: Document, said: object, parts: Sequence[Source]) -> Iterator[Diagnostic]:
    """Patterns that are none or name nothing, and files that cannot be included."""
    example = f'write {INCLUDE} = ["regions/*.toml"]'
    if not isinstance(said, list):
        place = Label(base.nearest((INCLUDE,)))
        yield error("include-invalid", f"{INCLUDE} takes a list of patterns", place, help=example)
        return
    for position, pattern in enumerate(said):
        place = Label(base.nearest((INCLUDE, position)))
        found = [part for part in parts if not fault(pattern) and begins(pattern, part.part)]
        if fault(pattern):
            yield error("include-invalid", fault(pattern), place, help=example)
        elif not found:
            advice = "correct the pattern; it counts from the directory of the spec"
            yield error("include-finds-nothing", f"no file is named {cut(pattern)}", place, help=advice)
        for part in found:
            if part.problem:
                advice = "include regular files other than the spec"
                yield error("include-refused", f"{cut(part.part)} {part.problem}", place, help=advice)


def _overlay(base: Document, overlay: Document) -> tuple[Document, list[Diagnostic]]:
    """Apply one overlay to the sources before it."""
    top = dict(overlay.raw)
    removed = dict(base.removed)
    kept, diagnostics = _remove(base.raw, top.pop(REMOVE, []), overlay, removed)
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
    return Document((*base.sources, *overlay.sources), merged, removed=removed), diagnostics


def _remove(
    base: dict[str, Any], removals: object, overlay: Document, later: dict[Path, Label]
) -> tuple[dict[str, Any], list[Diagnostic]]:
    """The base without the tables and keys that an overlay removes; `later` gets members of tables for many."""
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
        elif value_at(base, path) is None and len(path) == 2 and any("{" in key for key in _table(base, path[0])):
            later[path] = place
        elif value_at(base, path) is None:
            diagnostics.append(nothing_to_remove(path, place))
        else:
            base = _without(base, path)
    return base, diagnostics


def nothing_to_remove(path: Path, place: Label) -> Diagnostic:
    """The error for a path in an overlay's `remove` that the sources before it do not have."""
    message = f"there is no {cut('.'.join(map(str, path)))} to remove"
    advice = "correct the path: it can name tables and keys of the base, but not items of arrays"
    return error("overlay-remove", message, place, help=advice)


def _table(raw: dict[str, Any], key: str | int) -> dict[str, Any]:
    table = raw.get(str(key))
    return table if isinstance(table, dict) else {}


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
    """Both in one: tables merge, all else is replaced. A table against another kind of value goes to `clashes`."""
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
    """The value at a path of tables and arrays; None if there is none (TOML has no null)."""
    for part in path:
        if isinstance(raw, dict) and isinstance(part, str):
            raw = raw.get(part)
        elif isinstance(raw, list) and isinstance(part, int) and 0 <= part < len(raw):
            raw = raw[part]
        else:
            return None
    return raw
