"""Writes TOML text in its one form: order of tables and keys, spacing, quotes of keys. Comments stay where they belong.

In: text that `tomli` has accepted, and the order of keys. Out: text with the same values and the same comments; to
format it again changes nothing. Called by `formatting.py`, which checks that.

Groups stay together: a blank or comment line divides a table between its keys, and a file between its tables. Order is
within such a part, and keys below a comment line stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from fleetc.places.diagnostic import Path
from fleetc.toml.scan import STRINGS, key_parts

WIDTH = 120
"""Characters of the longest line with a list; a list that is longer has one item on a line."""

_ALIGNED = 60
"""Longest line with an aligned comment; behind longer lines the comment follows directly."""

Rank = Callable[[Path], int]
"""The rank of a key in its table, by its path; equal ranks keep their order."""

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BLANK = re.compile(r"[ \t]*+")
_BLANK_LINE = re.compile(r"[ \t]*+(?:\n|\Z)")
_COMMENT = re.compile(r"[ \t]*+(#[^\n]*+)")
_EQUALS = re.compile(r"[ \t]*+=[ \t]*+")
_SCALAR = re.compile(rf"""{STRINGS}|[^,\]}}#\n]*[^,\]}}#\s]""", re.DOTALL)
_INDENT = "  "


@dataclass(slots=True)
class _Entry:
    """One `key = value` and the comment behind it. `path` is that of the key."""

    path: Path
    text: str
    behind: str


@dataclass(slots=True)
class _Piece:
    """Comment lines, and the keys below them without a blank line between. `gap` is whether one comes before."""

    gap: bool
    comments: list[str]
    entries: list[_Entry] = field(default_factory=list)


@dataclass(slots=True)
class _Block:
    """A table: its header, "" for the keys before the first one, the comments that touch it, and its pieces."""

    path: Path
    header: str
    above: list[str]
    pieces: list[_Piece] = field(default_factory=list)


@dataclass(slots=True)
class _Part:
    """Tables without a blank or comment line between, below comments that stand by themselves."""

    comments: list[list[str]]
    blocks: list[_Block] = field(default_factory=list)


def canonical(text: str, rank: Rank) -> str:
    """The text in its one form."""
    shown = (paragraph for part in _Reader(text).parts() for paragraph in _paragraphs(part, rank))
    return "".join("\n".join(lines) + "\n\n" for lines in shown if lines)[:-1]


# ---------------------------------------------------------------------------------------------------------- writing


def _paragraphs(part: _Part, rank: Rank) -> Iterator[list[str]]:
    """The lines of a part, in pieces that have a blank line between them."""
    yield from part.comments
    for block in _ordered(part.blocks, rank):
        lines = [*block.above, block.header] if block.header else []
        for number, piece in enumerate(block.pieces):
            if piece.gap and (number or not block.header):
                yield lines
                lines = []
            lines += _lines(piece, rank)
        yield lines


def _ordered(blocks: Sequence[_Block], rank: Rank) -> list[_Block]:
    """The tables in the order of the language. Those of one name stay together, and items of lists in their order."""
    first: dict[Path, int] = {}
    for number, block in enumerate(blocks):
        first.setdefault(block.path[:2], number)
    lists = {block.path for block in blocks if block.header.startswith("[[")}

    def place(at: int) -> tuple[int, ...]:
        path = blocks[at].path
        kind = rank(path[:1]) if path else -1
        if path[:1] in lists or path[:2] in lists:
            return kind, at
        name = first[path[:2]] if len(path) > 1 else -1
        if any(path[:length] in lists for length in range(3, len(path) + 1)):
            return kind, name, at
        return kind, name, *(rank(path[:length]) for length in range(3, len(path) + 1))

    return [blocks[at] for at in sorted(range(len(blocks)), key=place)]


def _lines(piece: _Piece, rank: Rank) -> list[str]:
    """The lines of a piece; the comments behind its keys stand below each other."""
    entries = piece.entries if piece.comments else sorted(piece.entries, key=lambda entry: rank(entry.path))
    short = [len(entry.text) for entry in entries if entry.behind and "\n" not in entry.text]
    column = max((length for length in short if length <= _ALIGNED), default=0)
    lines = list(piece.comments)
    for entry in entries:
        room = max(0, column - len(entry.text)) if "\n" not in entry.text else 0
        lines.append(entry.text + _behind(" " * room, entry.behind))
    return lines


def _behind(room: str, comment: str) -> str:
    return f"{room}  {comment}" if comment else ""


def _key(parts: Sequence[tuple[str, int, int]], text: str) -> str:
    """A dotted key without spaces, and without quotes where TOML needs none."""
    return ".".join(part if _BARE.fullmatch(part) else text[start:end] for part, start, end in parts)


# ---------------------------------------------------------------------------------------------------------- reading


class _Reader:
    """One pass over a text that is sound."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._pos = 0

    def parts(self) -> list[_Part]:
        """The text, in its order."""
        block = _Block((), "", [])
        parts = [_Part([], [block])]
        loose: list[_Piece] = []  # comments before a blank line; their owner follows
        held = _Piece(False, [])  # comments that touch what comes next
        while self._pos < len(self._text):
            if self._take(_BLANK_LINE) is not None:
                if held.comments:
                    loose.append(held)
                held = _Piece(True, [])
            elif (comment := self._take(_COMMENT)) is not None:
                held.comments.append(comment[1].rstrip())
                self._pos += 1
            elif self._text[self._skip()] == "[":
                if loose and not loose[0].gap and (block.header or block.pieces):
                    block.pieces.append(loose.pop(0))  # it touches the table that ends here
                if loose or held.gap or held.comments:
                    parts.append(_Part([piece.comments for piece in loose]))
                path, header = self._header()
                block = _Block(path, header + _behind("", self._end()), held.comments)
                parts[-1].blocks.append(block)
                loose, held = [], _Piece(False, [])
            else:
                entry = self._entry(block.path)
                block.pieces += loose
                if held.comments or held.gap or not block.pieces:
                    block.pieces.append(held)
                block.pieces[-1].entries.append(entry)
                loose, held = [], _Piece(False, [])
        block.pieces += [*loose, *([held] if held.comments else [])]
        return parts

    def _header(self) -> tuple[Path, str]:
        """Read `[a.b]` or `[[a.b]]`: the path of its table, and its text."""
        brackets = 1 + self._text.startswith("[[", self._pos)
        self._pos += brackets
        parts, self._pos = key_parts(self._text, self._skip())
        self._pos = self._skip() + brackets
        path = tuple(part for part, _, _ in parts)
        return path, "[" * brackets + _key(parts, self._text) + "]" * brackets

    def _entry(self, table: Path) -> _Entry:
        path, text = self._pair(table, "")
        return _Entry(path, text, self._end())

    def _pair(self, table: Path, indent: str) -> tuple[Path, str]:
        """Read `key = value`: the path of the key, and its text."""
        parts, self._pos = key_parts(self._text, self._pos)
        self._take(_EQUALS)
        start = _key(parts, self._text) + " = "
        path = (*table, *(part for part, _, _ in parts))
        return path, start + self._value(indent, len(indent) + len(start))

    def _value(self, indent: str, used: int) -> str:
        """Read a value that stands behind `used` characters of a line, in a list with this indent."""
        if self._text[self._pos] == "[":
            return self._list(indent, used)
        if self._text[self._pos] == "{":
            return self._inline_table(indent)
        found = self._take(_SCALAR)
        assert found is not None  # noqa: S101  # the text is sound
        return found[0]

    def _inline_table(self, indent: str) -> str:
        self._pos += 1
        pairs = []
        while self._text[self._skip()] != "}":
            pairs.append(self._pair((), indent)[1])
            if self._text[self._skip()] == ",":
                self._pos += 1
        self._pos += 1
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"

    def _list(self, indent: str, used: int) -> str:
        """Read a list. It stays on several lines if it was, and takes several if one would be too long."""
        begun, inner = self._pos, indent + _INDENT
        self._pos += 1
        lines: list[str] = []
        items: list[str] = []
        bare = False  # whether the last line has an item, and no comment behind it
        while True:
            fresh = self._skip_lines()
            char = self._text[self._pos]
            if char == "]":
                break
            if char == "#":
                comment = self._comment()
                if fresh or not bare:
                    lines.append(inner + comment)
                else:
                    lines[-1] += _behind("", comment)
                bare = False
            elif char == ",":
                self._pos += 1
            else:
                items.append(self._value(inner, len(inner)))
                lines.append(f"{inner}{items[-1]},")
                bare = True
        self._pos += 1
        one = f"[{', '.join(items)}]"
        source = self._text[begun : self._pos]
        if lines and ("\n" in source or used + len(one) > WIDTH):
            return "\n".join(["[", *lines, f"{indent}]"])
        return one

    def _comment(self) -> str:
        found = self._take(_COMMENT)
        assert found is not None  # noqa: S101  # there is one
        return found[1].rstrip()

    def _end(self) -> str:
        """Read the rest of a line behind a statement: the comment there, "" without one."""
        comment = self._comment() if self._text[self._skip() : self._pos + 1] == "#" else ""
        self._pos += 1
        return comment

    def _skip(self) -> int:
        """Go to the next character that is not blank, on this line."""
        self._take(_BLANK)
        return self._pos

    def _skip_lines(self) -> bool:
        """Go to the next character that is not blank; whether that is on another line."""
        begun = self._pos
        while self._text[self._skip()] == "\n":
            self._pos += 1
        return "\n" in self._text[begun : self._pos]

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Go behind a pattern, if it is here."""
        found = pattern.match(self._text, self._pos)
        if found is not None:
            self._pos = found.end()
        return found
