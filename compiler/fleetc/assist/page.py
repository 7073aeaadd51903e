"""One text of a spec in an editor: its tables, and the element at an offset, also in a half-written line.

In: a text, and the page of the text before the last key was pressed. Out: `Page`. It cuts a text at table headers,
parses each piece by itself, and reuses unchanged pieces: so an answer costs what changed. A line that is not TOML costs
itself alone.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from typing import NamedTuple

from fleetc.places.diagnostic import Path
from fleetc.toml.document import LineMap
from fleetc.toml.scan import KEY_PART, KeySpans, Scan, key_parts

_OPENING = (
    rf"^[ \t]*+(?P<open>\[\[?+)[ \t]*+(?P<key>(?:{KEY_PART})(?:[ \t]*+\.[ \t]*+(?:{KEY_PART}))*+)"
    r"[ \t]*+(?P<shut>\]\]?+)[ \t]*+(?:#[^\n]*+)?+$"
)
_HEADER = re.compile(_OPENING, re.MULTILINE | re.DOTALL)
_HEADER_OR_STRING = re.compile(
    r'^[ \t]*+#[^\n]*+|"""(?:[^"\\]++|\\.|"{1,2}(?!"))*+"""|\'\'\'(?:[^\']++|\'{1,2}(?!\'))*+\'\'\'' + f"|{_OPENING}",
    re.MULTILINE | re.DOTALL,
)
"""The same among strings of several lines, which may have a line that looks like a header."""


_Parts = tuple[tuple[Path, int, int], ...]


class Block(NamedTuple):
    """A table of the text: the path that its header opens, where each part of the header is, and what is below it.

    `start` is where the header begins and `body` where it ends; the keys before the first header are a block without
    one. Offsets are in characters, ends exclusive.
    """

    path: Path
    parts: _Parts
    start: int
    body: int
    end: int


class Spot(NamedTuple):
    """A key path and where its key or its value stands; `on_key` is which."""

    path: Path
    start: int
    end: int
    on_key: bool


class Page:
    """One text. It is parsed on demand."""

    def __init__(self, text: str, before: Page | None = None) -> None:
        self.text = text
        self._read: dict[str, Mapping[Path, KeySpans]] = before._read if before is not None else {}

    @cached_property
    def lines(self) -> LineMap:
        """The lines of the text."""
        return LineMap(self.text)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The tables in the order of the text, the one without a header first."""
        blocks: list[Block] = []
        path: Path = ()
        parts: _Parts = ()
        start = body = 0
        counts: dict[Path, int] = {}
        several = '"""' in self.text or "'''" in self.text
        for header in (_HEADER_OR_STRING if several else _HEADER).finditer(self.text):
            opening, key, closing = header.group("open", "key", "shut")
            if key is None or len(opening) != len(closing):
                continue
            blocks.append(Block(path, parts, start, body, header.start("open")))
            start, body = header.start("open"), header.end("shut")
            path, parts = _opened(key, header.start("key"), len(opening) == 2, counts)
        blocks.append(Block(path, parts, start, body, len(self.text)))
        self._forget(blocks)
        return tuple(blocks)

    def _forget(self, blocks: list[Block]) -> None:
        """Drop parsed pieces that left the text, once they are the majority."""
        if len(self._read) > 2 * len(blocks) + 100:
            here = {self.text[block.body : block.end] for block in blocks}
            self._read = {piece: marks for piece, marks in self._read.items() if piece in here}

    @cached_property
    def _by_path(self) -> dict[Path, list[Block]]:
        by_path: dict[Path, list[Block]] = {}
        for block in self.blocks:
            by_path.setdefault(block.path, []).append(block)
        return by_path

    @cached_property
    def _headed(self) -> dict[Path, tuple[int, int]]:
        """The first place in a header of each table, also of implied ones."""
        spans: dict[Path, tuple[int, int]] = {}
        for block in self.blocks:
            for path, start, end in block.parts:
                spans.setdefault(path, (start, end))
        return spans

    def block_at(self, offset: int) -> Block:
        """The table that an offset is in."""
        return self.blocks[max(0, bisect_right(self.blocks, offset, key=lambda block: block.start) - 1)]

    def marks(self, block: Block) -> Mapping[Path, KeySpans]:
        """The content of a table: paths from the table on, and offsets from `Block.body` on."""
        piece = self.text[block.body : block.end]
        known = self._read.get(piece)
        if known is None:
            known = self._read[piece] = _marks(piece)
        return known

    def at(self, offset: int) -> Spot | None:
        """The innermost key or value at an offset; None between them, and in comments."""
        block = self.block_at(offset)
        for path, start, end in block.parts:
            if start <= offset <= end:
                return Spot(path, start, end, True)
        spot: Spot | None = None
        for path, mark in self.marks(block).items():
            whole = (*block.path, *path)
            for start, end, on_key in ((mark.key_start, mark.key_end, True), (mark.start, mark.end, False)):
                start, end = block.body + start, block.body + end
                inner = spot is None or end - start < spot.end - spot.start
                if start <= offset <= end and inner:
                    spot = Spot(whole, start, end, on_key and isinstance(path[-1], str))
        return spot

    def find(self, path: Path) -> Spot | None:
        """Where the key of a path is, or the item of a list; None if the text does not have it."""
        if path in self._headed:
            return Spot(path, *self._headed[path], True)
        below = ((block.body + mark.key_start, block.body + mark.key_end) for block, mark in self._below(path))
        return next((Spot(path, start, end, True) for start, end in below), None)

    def value(self, path: Path) -> Spot | None:
        """Where the value of a path is; None if the text does not have it, and for a table with a header."""
        below = ((block.body + mark.start, block.body + mark.end) for block, mark in self._below(path))
        return next((Spot(path, start, end, False) for start, end in below), None)

    def _below(self, path: Path) -> Iterator[tuple[Block, KeySpans]]:
        for length in range(len(path) - 1, -1, -1):
            for block in self._by_path.get(path[:length], ()):
                mark = self.marks(block).get(path[length:])
                if mark is not None:
                    yield block, mark

    def mentions(self, path: Path) -> Iterator[Spot]:
        """Every place of a path's key: in its header, in headers of inner tables, as a key."""
        for block in self.blocks:
            for known, start, end in block.parts:
                if known == path:
                    yield Spot(path, start, end, True)
        for block, mark in self._below(path):
            yield Spot(path, block.body + mark.key_start, block.body + mark.key_end, True)

    def leaves(self) -> Iterator[tuple[Path, Block, KeySpans]]:
        """Every key and item of every table, with its whole path; offsets count from the body of the block."""
        for block in self.blocks:
            for path, mark in self.marks(block).items():
                yield (*block.path, *path), block, mark


def _opened(header: str, pos: int, many: bool, counts: dict[Path, int]) -> tuple[Path, _Parts]:
    """The path that a header at an offset opens, with its place in a list, and where its parts are."""
    known = _keys(header)
    if not many and not counts:
        return known[-1][0], tuple([(path, pos + start, pos + end) for path, start, end in known])
    path: Path = ()
    parts = []
    for depth, (plain, start, end) in enumerate(known):
        path = (*path, plain[-1])
        parts.append((path, pos + start, pos + end))
        last = depth == len(known) - 1
        if last and many:
            counts[path] = counts.get(path, 0) + 1
        if path in counts and (many or not last):
            path = (*path, counts[path] - 1)
    return path, tuple(parts)


@lru_cache(maxsize=1 << 15)
def _keys(header: str) -> _Parts:
    """The path and place of each part of a header, outside of lists; needed at each key press."""
    keys, _ = key_parts(header, 0)
    names = tuple(key for key, _, _ in keys)
    return tuple((names[: depth + 1], start, end) for depth, (_, start, end) in enumerate(keys))


def _marks(piece: str) -> dict[Path, KeySpans]:
    """The marks of a piece; lines that are not TOML are skipped."""
    marks: dict[Path, KeySpans] = {}
    begin = 0
    while True:
        scan = Scan(piece[begin:])
        for path, mark in scan.marks.items():
            marks.setdefault(path, KeySpans(*(begin + offset for offset in mark)))
        if scan.stopped is None:
            return marks
        line_end = piece.find("\n", begin + scan.stopped)
        if line_end < 0:
            return marks
        begin = line_end + 1
