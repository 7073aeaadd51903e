"""Blocks of a log that end where a line ends.

In: bytes as they come from a file, and pieces of any size. Out: blocks of whole lines of bearable length. A record of
`journalctl -o export` becomes one line, "@MICROSECONDS MESSAGE", as the other forms are one line each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

LINE_LIMIT = 16 * 1024
"""Bytes of a line that are read; the rest of it is left out. Docker cuts its lines here too."""

_CARRIED = 1 << 20
_EXPORT = (b"__CURSOR=", b"__REALTIME_TIMESTAMP=")
_TOLD = max(map(len, _EXPORT))
_TIME, _MESSAGE = b"__REALTIME_TIMESTAMP=", b"MESSAGE="
_KEPT = LINE_LIMIT + 1 + len(_MESSAGE)
"""Kept bytes of a longer line: enough that the reader sees it is too long."""


def whole_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Blocks of lines without the last line end. Memory holds one piece and one line."""
    pieces = iter(pieces)
    first = b""
    while len(first) < _TOLD and (piece := next(pieces, None)) is not None:
        first += piece
    if first.startswith(_EXPORT):
        yield from _cut(_exported(first, pieces))
        return
    yield from _cut(_chained(first, pieces))


def _chained(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _cut(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Cut pieces at line ends. Of a line that is too long the head is kept."""
    carried, skipping = b"", False
    for piece in pieces:
        if skipping:
            end = piece.find(b"\n")
            if end < 0:
                continue
            piece, skipping = piece[end + 1 :], False
        end = piece.rfind(b"\n")
        if end < 0:
            carried += piece
        else:
            yield carried + piece[:end]
            carried = piece[end + 1 :]
        if len(carried) > _CARRIED:
            yield carried[:_KEPT]
            carried, skipping = b"", True
    if carried:
        yield carried


def _exported(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    """The records of an export as lines, one piece at a time.

    A field is NAME=value or, where the value is not plain text, NAME, its length in 8 bytes and the value.
    """
    reader = _Reader(first, rest)
    stamp, message, lines, size = b"0", None, list[bytes](), 0
    while (line := reader.line()) is not None:
        if line.startswith(_TIME):
            stamp = line[len(_TIME) :][:20]
        elif line.startswith(_MESSAGE):
            message = line[len(_MESSAGE) :]
        elif line and b"=" not in line:
            value = reader.value()
            message = value if line == b"MESSAGE" else message
        elif not line and message is not None:
            lines.append(b"@%b %b\n" % (stamp, message.replace(b"\n", b" ")))
            size, message = size + len(lines[-1]), None
        if size > _CARRIED // 2:
            yield b"".join(lines)
            lines, size = [], 0
    if message is not None:
        lines.append(b"@%b %b\n" % (stamp, message.replace(b"\n", b" ")))
    yield b"".join(lines)


class _Reader:
    """Lines and values of known length, out of pieces of any size."""

    def __init__(self, first: bytes, rest: Iterator[bytes]) -> None:
        self._held, self._at, self._rest = first, 0, rest

    def _more(self) -> bool:
        """Take one more piece; False if there is none."""
        piece = next(self._rest, None)
        if piece is None:
            return False
        self._held, self._at = self._held[self._at :] + piece, 0
        return True

    def line(self) -> bytes | None:
        """The next line, its head if it is too long; None at the end."""
        head = b""
        while (end := self._held.find(b"\n", self._at)) < 0:
            if len(self._held) - self._at > _CARRIED:
                head = head or self._held[self._at : self._at + _KEPT]
                self._at = len(self._held)
            if not self._more():
                left = head or self._held[self._at : self._at + _KEPT]
                self._at = len(self._held)
                return left or None
        line = head or self._held[self._at : min(end, self._at + _KEPT)]
        self._at = end + 1
        return line

    def value(self) -> bytes:
        """A value behind its length, and the line end behind it."""
        while len(self._held) - self._at < 8 and self._more():
            pass
        left = int.from_bytes(self._held[self._at : self._at + 8], "little")
        self._at += 8
        value = b""
        while left > 0:
            part = self._held[self._at : self._at + left]
            if not part and not self._more():
                break
            value = (value + part)[:_KEPT]
            self._at += len(part)
            left -= len(part)
        self._at += 1
        return value
