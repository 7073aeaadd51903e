"""What the node, LPMS and ai-runner print when something is wrong, by release, and which call printed a line of a log.

In: `call_sites.toml` and `messages.toml`, read on the first question. Out: `lookup(release).match(file, text)`, the
`CallSite` of a line, with a sentence about what it means; and `flags_named`, the flags that a text names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from functools import cache, lru_cache
from itertools import pairwise
from string import ascii_letters
from typing import Any, NamedTuple

import tomli

from fleetc.upstream import FLAGS, NEWEST_RELEASE, Release, load, parse_release, text

Rows = dict[tuple[str, str, str], dict[Release, list[int]]]  # lines by path, level and shape, and by release

_SPAN = re.compile(r"([A-Za-z])([0-9,]*)")
_WORD = re.compile(r"[A-Za-z]{3,}")
_EDGE = re.compile(r"[A-Za-z]*\{\}[A-Za-z]*")  # a hole, and letters that its value may lengthen
_CONTEXT = re.compile(r"[A-Za-z]\w*=\S* ")  # as the node writes before a text: manifestID=a nonce=1
_SOURCE = re.compile(  # what the C code of LPMS, and ai-runner, write before a text
    r"(?:[A-Z]{4,7}: )?(?:[\w.-]+/)*(\w+\.c):([0-9]{1,6})\] "
    r"|timestamp=[0-9: -]{19} level=\w+ location=(\w+\.py):([0-9]{1,6}):.{0,400}? message="
)
_PANIC = "panic: "
_MANY = 20
_LONGEST = 4000
_LEAST = 12  # letters of an error's text that tell it from others


class CallSite(NamedTuple):
    """A call that prints a line, and its place in the source of `release`: the one asked for or the nearest with it."""

    path: str
    line: int
    level: str
    shape: str
    release: Release

    @property
    def ends(self) -> bool:
        """Whether the process ends with it."""
        return self.level in "SXFP"

    @property
    def says(self) -> str:
        """What part of the node it is, what that was doing, and how it goes on."""
        data = _words()
        part = max((one for one in data["parts"] if self.path.startswith(one)), key=len)
        return f"{data['parts'][part]}. {data['levels'][self.level]}"


@cache
def _words() -> dict[str, Any]:
    return load("messages.toml")


def flags_named(words: str) -> tuple[str, ...]:
    """The flags that a text names, as -flag or 'flag'."""
    names = re.findall(r"(?:(?<![\w-])--?|['`\"]-?)([A-Za-z]\w+)", words)
    found = (_FLAGS.get(_words()["misspelt"].get(name, name).casefold()) for name in names)
    return tuple(dict.fromkeys(name for name in found if name))


_FLAGS = {name.casefold(): name for name in sorted(FLAGS, reverse=True)}


def read(table: str) -> tuple[tuple[Release, ...], Rows]:
    """The releases of a table, and its rows."""
    data = tomli.loads(table)
    releases, rows = tuple(map(parse_release, data["releases"])), Rows()
    for path, lines in data.get("sources", {}).items():
        for line in lines.splitlines():
            level, spans, shape = line.split(" ", 2)
            found = [(ascii_letters.index(letter), numbers) for letter, numbers in _SPAN.findall(spans)]
            rows[path, level, shape] = {
                release: list(map(int, numbers.split(",")))
                for (first, numbers), (end, _) in pairwise([*found, (len(releases), "")])
                for release in (releases[first:end] if numbers else ())
            }
    return releases, rows


class _Row(NamedTuple):
    """The calls with one shape in a file; `pieces` are what is around its holes."""

    path: str
    level: str
    shape: str
    lines: dict[Release, list[int]]
    file: str
    pieces: list[str]
    letters: int

    def fits(self, file: str, words: str, starts: Iterable[int], line: int) -> bool:
        """Whether a text is of this shape, from one of the places where it may start; the text of an error is a part of
        it, and any file prints that. A shape without letters needs its line."""
        if self.level == "T":
            wanted = self.letters >= _LEAST and bool(file or words.startswith(_PANIC))
            return wanted and _holds(words, 0, [*self.pieces, ""])
        if file not in ("", self.file) or not (self.letters or any(line in lines for lines in self.lines.values())):
            return False
        first, *others = self.pieces
        return any(words.startswith(first, start) and _holds(words, start + len(first), others) for start in starts)


def _holds(words: str, place: int, pieces: list[str]) -> bool:
    """Whether the pieces follow one another from a place on, and the last one ends the text, unless that is cut."""
    for piece in pieces[:-1]:
        place = words.find(piece, place)
        if place < 0:
            return False
        place += len(piece)
    return len(words) == _LONGEST or (words.endswith(pieces[-1], place) if pieces else place == len(words))


class Table:
    """The calls of all releases, seen from one of them: that which was asked for, or the nearest with a table."""

    def __init__(self, release: Release) -> None:
        releases, self._by_word, self._bare = _index()
        self.release = _nearest(releases, release)

    def match(self, file: str, words: str, line: int = 0) -> CallSite | None:
        """The call that printed a text, behind its source. `file` is the name of a file, or "" where a line has none.

        A text that fits more than one is of that with the line, else of this release, else of that with most letters.
        Where no call fits, it is the error that the text has.
        """
        words = words.strip()[:_LONGEST]
        if not file and (own := _SOURCE.match(words)):
            file, line, words = own[1] or own[3], int(own[2] or own[4]), words[own.end() :]
        starts = [0]
        while len(starts) <= _MANY and (named := _CONTEXT.match(words, starts[-1])):
            starts.append(named.end())
        near = [row for word in set(_WORD.findall(words)) for row in self._by_word.get(word, ())]
        found = [row for row in (*near, *self._bare.get(file, ())) if row.fits(file, words, starts, line)]
        if not found:
            return None
        row = max(found, key=lambda row: self._worth(row, line))
        release = _nearest(row.lines, self.release)
        lines, level = row.lines[release], "P" if words.startswith(_PANIC) else row.level
        return CallSite(row.path, line if line in lines else lines[0], level, row.shape, release)

    def _worth(self, row: _Row, line: int) -> tuple[int, bool, bool, bool, int]:
        here = row.lines.get(self.release, ())
        kind = 1 if row.level == "T" else 3 if row.letters else 2 * (line in here and line > 0)
        return kind, line in here, row.level != "I", bool(here), row.letters


def _nearest(releases: Collection[Release], to: Release) -> Release:
    """The last one that is not newer, else the oldest."""
    return max((one for one in releases if one <= to), default=min(releases))


@cache
def _index() -> tuple[tuple[Release, ...], dict[str, list[_Row]], dict[str, list[_Row]]]:
    """The releases, the rows by the rarest word of each, and by file those without a word."""
    releases, rows = read(text("call_sites.toml"))
    for other in _words()["others"]:
        path, level, shape = other.split(" ", 2)
        rows[path, level, shape] = {release: [0] for release in releases}
    words = {key: set(_WORD.findall(_EDGE.sub(" ", key[2]))) for key in rows}
    often = Counter(word for found in words.values() for word in found)
    by_word: dict[str, list[_Row]] = {}
    bare: dict[str, list[_Row]] = {}
    for key, lines in rows.items():
        letters = sum(map(str.isalpha, key[2].removeprefix(_PANIC)))
        row = _Row(*key, lines, key[0].rpartition("/")[2], key[2].split("{}"), letters)
        rarest = min(words[key], key=lambda word: (often[word], word), default=None)
        (by_word.setdefault(rarest, []) if rarest else bare.setdefault(row.file, [])).append(row)
    return releases, by_word, bare


@lru_cache(maxsize=4)
def lookup(release: Release | None = None) -> Table:
    """The calls seen from a release; from the newest where it is not known."""
    return Table(release or NEWEST_RELEASE)
