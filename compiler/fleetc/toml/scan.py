"""Finds where every key and value is in a TOML text.

In: text that `tomli` has accepted, or the part of a text before the place where it failed. Out: a `Scan`, which holds
the offsets of each key path. Called by `document.py` to find a place, by `syntax_errors.py` and by `edits.py`.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import NamedTuple

import tomli

from fleetc.places.diagnostic import Path

_BASIC = r'"(?!"")(?:[^"\\\n]++|\\.)*+"'
_LITERAL = r"'(?!'')[^'\n]*+'"
STRINGS = (
    r'"""(?:[^"\\]++|\\.|"{1,2}(?!"))*+"""(?:"{0,2})'
    r"|'''(?:[^']++|'{1,2}(?!'))*+'''(?:'{0,2})"
    rf"|{_BASIC}|{_LITERAL}"
)
"""A regular expression for one whole string of any of the four kinds; needs re.DOTALL."""
KEY_PART = rf"[A-Za-z0-9_-]++|{_BASIC}|{_LITERAL}"
"""A regular expression for one part of a dotted key; needs re.DOTALL."""

_part = re.compile(KEY_PART, re.DOTALL)
_dot = re.compile(r"[ \t]*+\.[ \t]*+")
_equals = re.compile(r"[ \t]*+=[ \t]*+")
_blank = re.compile(r"[ \t]*+")
_gap = re.compile(r"(?:[ \t\n]++|#[^\n]*+)*+")
_scalar = re.compile(rf"""{STRINGS}|(?=[^"'\s,\]}}])[^,\]}}#\n]*[^,\]}}#\s]""", re.DOTALL)
_IN_TABLE = rf"\{{(?:{_BASIC}|[^\[\]{{}}\"'#\n]++)*+\}}"
_IN_ARRAY = rf"\[(?:{_BASIC}|{_IN_TABLE}|[^\[\]{{}}\"'#]++)*+\]"
_PLAIN = rf"(?:{_BASIC}|[A-Za-z0-9+-](?:[^,\]}}#\n]*[^,\]}}#\s])?+|{_IN_ARRAY}|{_IN_TABLE})"
_plain_pairs = re.compile(rf"(?:[A-Za-z0-9_-]++{_equals.pattern}{_PLAIN}{_gap.pattern})++", re.DOTALL)
"""A run of plain pairs: a bare key, and text in double quotes, a number, a boolean, or a flat list or table."""


class KeySpans(NamedTuple):
    """Offsets in characters, ends exclusive: of the key, and of the value (of the header, for a table)."""

    key_start: int
    key_end: int
    start: int
    end: int


class Clash(NamedTuple):
    """The last statement mentions a path that an earlier one had mentioned (which TOML may allow)."""

    path: Path
    earlier: KeySpans
    start: int
    end: int


class _StopError(Exception):
    """The text is not TOML from here on."""


class Scan:
    """One pass over a text. `marks` holds every path; the other fields only help to explain a syntax error.

    `stopped` is where the text stops being TOML, or None; `opened` are the brackets open there; `clash`: the last
    statement repeats a path.
    """

    def __init__(self, text: str) -> None:
        self.marks: dict[Path, KeySpans] = {}
        self.opened: list[int] = []
        self.clash: Clash | None = None
        self.stopped: int | None = None
        self._text = text
        self._counts: dict[Path, int] = {}
        try:
            self._document()
        except _StopError as stop:
            self.stopped = stop.args[0]

    def _document(self) -> None:
        text = self._text
        table: Path = ()
        pos = self._match(_gap, 0)
        while pos < len(text):
            self.clash = None
            if text[pos] == "[":
                table, pos = self._header(pos)
            else:
                pos = self._pair(pos, table)
            pos = self._match(_gap, pos)

    def _header(self, start: int) -> tuple[Path, int]:
        """Read `[a.b]` or `[[a.b]]`; return the path of the table that it opens and the offset after it."""
        text = self._text
        many = text.startswith("[[", start)
        parts, pos = key_parts(text, self._match(_blank, start + 1 + many))
        closing = self._match(_blank, pos)
        end = closing + 1 + many
        path: Path = ()
        for depth, (part, key_start, key_end) in enumerate(parts):
            path += (part,)
            mark = KeySpans(key_start, key_end, start, end)
            if depth < len(parts) - 1:
                self._mention(path, mark)
                if path in self._counts:
                    path += (self._counts[path] - 1,)
            elif many:
                index = self._counts.get(path, 0)
                self._mention(path, mark)
                self._counts[path] = index + 1
                path += (index,)
                self.marks[path] = mark
            else:
                self._mention(path, mark)
                self.marks[path] = mark
        if not text.startswith("]]" if many else "]", closing):
            raise _StopError(closing)
        return path, end

    def _pair(self, pos: int, table: Path) -> int:
        """Read `key = value` inside a table; return the offset after it."""
        parts, pos = key_parts(self._text, pos)
        path = table
        for part, start, end in parts[:-1]:
            path += (part,)
            self._mention(path, KeySpans(start, end, start, end))
        part, start, end = parts[-1]
        path += (part,)
        pos = self._match(_equals, pos)
        value_end = self._value(pos, path)
        mark = KeySpans(start, end, pos, value_end)
        self._mention(path, mark)
        self.marks[path] = mark
        return value_end

    def _value(self, pos: int, path: Path) -> int:
        """Read one value of any kind; return the offset after it."""
        if self._text.startswith("[", pos):
            return self._array(pos, path)
        if self._text.startswith("{", pos):
            return self._inline_table(pos, path)
        return self._match(_scalar, pos)

    def _array(self, pos: int, path: Path) -> int:
        self.opened.append(pos)
        pos = self._match(_gap, pos + 1)
        index = 0
        while not self._text.startswith("]", pos):
            end = self._value(pos, (*path, index))
            self.marks[(*path, index)] = KeySpans(pos, end, pos, end)
            index += 1
            pos = self._next(self._match(_gap, end), "]", _gap)
        self.opened.pop()
        return pos + 1

    def _inline_table(self, pos: int, path: Path) -> int:
        self.opened.append(pos)
        pos = self._match(_blank, pos + 1)
        while not self._text.startswith("}", pos):
            self.clash = None
            end = self._pair(pos, path)
            pos = self._next(self._match(_blank, end), "}", _blank)
        self.opened.pop()
        return pos + 1

    def _next(self, pos: int, closing: str, space: re.Pattern[str]) -> int:
        """Step over the comma behind an item; stay when the closing bracket comes."""
        if self._text.startswith(",", pos):
            return self._match(space, pos + 1)
        if self._text.startswith(closing, pos):
            return pos
        raise _StopError(pos)

    def _mention(self, path: Path, mark: KeySpans) -> None:
        """Note a path; its first mention stays its mark until a statement sets it."""
        earlier = self.marks.setdefault(path, mark)
        if earlier is not mark:
            self.clash = Clash(path, earlier, mark.key_start, mark.key_end)

    def _match(self, pattern: re.Pattern[str], pos: int) -> int:
        """The offset behind the pattern, which must match at `pos`."""
        found = pattern.match(self._text, pos)
        if found is None:
            raise _StopError(pos)
        return found.end()


class Marks(Scan):
    """The marks of a text that `tomli` has accepted, for few look-ups.

    It skips runs of plain pairs, and parses them when a key of their table is needed.
    """

    def __init__(self, text: str) -> None:
        self._runs: dict[Path, list[tuple[int, int]]] = {}
        super().__init__(text)

    def find(self, path: Path) -> KeySpans | None:
        """The mark of a path; None if the text does not have it."""
        for length in range(len(path)):
            for pos, end in self._runs.pop(path[:length], ()):
                while pos < end:
                    pos = self._match(_gap, Scan._pair(self, pos, path[:length]))
        return self.marks.get(path)

    def _pair(self, pos: int, table: Path) -> int:
        run = None if self.opened else _plain_pairs.match(self._text, pos)
        if run is None:
            return super()._pair(pos, table)
        self._runs.setdefault(table, []).append(run.span())
        return run.end()


class Statement(NamedTuple):
    """A header, or one `key = value`, from `start` to `end` without the comment behind it.

    `path` is the table that a header opens, or the key that a pair sets in `table`; an `inline` pair stands in braces.
    """

    path: Path
    table: Path
    start: int
    end: int
    inline: bool = False


class Layout(Scan):
    """A scan with the data for edits of the text. Called by `edits.py`.

    `mentions` holds every place of each key, where `marks` holds one. `headers` and `pairs` hold the statements in the
    order of their ends, by the table they open or are in; `dotted` holds, for each table that dotted keys imply, the
    pairs that do.
    """

    def __init__(self, text: str) -> None:
        self.mentions: dict[Path, list[KeySpans]] = {}
        self.headers: dict[Path, Statement] = {}
        self.pairs: dict[Path, list[Statement]] = {}
        self.dotted: dict[Path, list[Statement]] = {}
        super().__init__(text)

    @cached_property
    def ordered(self) -> list[Statement]:
        """The headers by their place in the text."""
        return sorted(self.headers.values(), key=lambda statement: statement.start)

    def _header(self, start: int) -> tuple[Path, int]:
        path, end = super()._header(start)
        self.headers[path] = Statement(path, path, start, end)
        return path, end

    def _pair(self, pos: int, table: Path) -> int:
        end = super()._pair(pos, table)
        parts, _ = key_parts(self._text, pos)
        path = (*table, *(part for part, _, _ in parts))
        statement = Statement(path, table, pos, end, inline=bool(self.opened))
        self.pairs.setdefault(table, []).append(statement)
        for depth in range(len(table) + 1, len(path)):
            self.dotted.setdefault(path[:depth], []).append(statement)
        return end

    def _mention(self, path: Path, mark: KeySpans) -> None:
        self.mentions.setdefault(path, []).append(mark)
        super()._mention(path, mark)


def key_parts(text: str, pos: int) -> tuple[list[tuple[str, int, int]], int]:
    """Read a dotted key at `pos`: each part with its start and end, and the offset behind the last one."""
    parts: list[tuple[str, int, int]] = []
    while True:
        found = _part.match(text, pos)
        if found is None:
            raise _StopError(pos)
        parts.append((_plain(found.group()), found.start(), found.end()))
        dot = _dot.match(text, found.end())
        if dot is None:
            return parts, found.end()
        pos = dot.end()


def parse_key(text: str) -> Path | None:
    """The path that a text such as `gateways."gw us"` names in TOML key syntax; None if it is not a key."""
    try:
        parts, end = key_parts(text, 0)
        return tuple(part for part, _, _ in parts) if end == len(text) else None
    except (_StopError, tomli.TOMLDecodeError):
        return None


def _plain(part: str) -> str:
    """A key part without its quotes and escapes."""
    if "\\" in part and part[0] == '"':
        plain: str = tomli.loads(f"key = {part}")["key"]
        return plain
    return part[1:-1] if part[0] in "\"'" else part
