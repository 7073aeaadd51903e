"""Reads the comments of a spec: secrets in them, which are copied into the tree with the spec, and what TODO asks.

In: a document with its sources, or a text. Out: diagnostics, which `pipeline.py` asks for, because rules see no
comments; and what TODO comments ask. Consecutive comment lines are read as one text, because a key or a phrase may span
several.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace

from fleetc.places.diagnostic import Diagnostic, Label, Path, Span, error, warning
from fleetc.text import leaks
from fleetc.toml.document import Document
from fleetc.toml.scan import STRINGS, Scan

_TOKEN = re.compile(rf"{STRINGS}|(?P<comment>#[^\n]*+(?:\n[ \t]*+#[^\n]*+)*+)", re.DOTALL)
_LINE_START = re.compile(r"^[ \t]*#+!?", re.MULTILINE)
_TODO = re.compile(r"#[ \t]*TODO\b[:,]?(.*)")

_FOLLOWED = re.compile(r"(?:\n[ \t]*+#[^\n]*+)*+\n[ \t]*+[^\s#]")

TODO_LEFT = "todo-left"
_SHOWN = 8


def check(document: Document) -> Iterator[Diagnostic]:
    """One error for each comment that seems to contain a secret."""
    for source in document.sources:
        found = [(place, seems) for place, text in _comments(source.text) if (seems := leaks.find(text)) is not None]
        if not found:
            continue
        beside = _Beside(source.text)
        for (start, end), seems in found:
            yield _problem(Span(source.name, start, end), seems, beside.path(start, end))


def todos(document: Document) -> Iterator[Diagnostic]:
    """A warning if values have TODO behind them, as `fleetc init` writes it: they are placeholders or guesses.

    And one for each source with lines of their own that begin with TODO, as `fleetc adopt` writes what it asks.
    """
    found: list[Path] = []
    for source in document.sources:
        marked = list(_asked(source.text))
        beside = _Beside(source.text) if marked else None
        lines: list[Label] = []
        of_first: Path = ()
        for start, words in marked:
            if beside is not None and (path := beside.on_line(start)):
                found.append(path)
                continue
            end = source.text.find("\n", start)
            place = Span(source.name, start, len(source.text) if end < 0 else end)
            if beside is not None and not lines:
                of_first = beside.touching(place.start, place.end)
            lines.append(Label(place, secret=leaks.find(words) is not None))
        if lines:
            yield _left(lines, of_first)
    if found:
        first, *others = found
        count = "a value is" if not others else f"{len(found)} values are"
        yield warning(
            TODO_LEFT,
            f"{count} still marked TODO",
            Label(first),
            [Label(path) for path in others[: _SHOWN - 1]],
            "write your own, and remove the comment",
        )


def _left(lines: list[Label], of_first: Path) -> Diagnostic:
    """The warning of lines with TODO; the first of them speaks of a key or a table."""
    first, *others = lines
    count = "a TODO line is" if not others else f"{len(lines)} TODO lines are"
    told = "write what each line asks for, or see that the value there is right, and remove the line"
    found = warning(TODO_LEFT, f"{count} left", first, others[: _SHOWN - 1], told)
    return replace(found, doubted=of_first)


def comments_of(text: str) -> list[str]:
    """Every comment of the text; adjacent comment lines are one."""
    return [token["comment"] for token in _TOKEN.finditer(text) if token["comment"] is not None]


def questions_of(text: str) -> list[tuple[int, str]]:
    """What comments leave open, each line with TODO by its number, without the word."""
    return [(text.count("\n", 0, start) + 1, words) for start, words in _asked(text)]


def _asked(text: str) -> Iterator[tuple[int, str]]:
    """Where each line of a comment with TODO begins, and what it asks."""
    for token in _TOKEN.finditer(text) if "TODO" in text else ():
        if token["comment"] is not None:
            for asked in _TODO.finditer(text, *token.span()):
                yield asked.start(), asked[1].strip()


def _comments(text: str) -> Iterator[tuple[tuple[int, int], str]]:
    """The place of each comment, and its text without the marks before its lines."""
    if "#" not in text:
        return
    for token in _TOKEN.finditer(text):
        if token["comment"] is not None:
            yield token.span(), _LINE_START.sub("", token["comment"])


class _Beside:
    """The keys of a text by place, to find the subject of a comment."""

    def __init__(self, text: str) -> None:
        self._text = text
        marks = Scan(text).marks
        named = [(min(mark.key_start, mark.start), path) for path, mark in marks.items() if isinstance(path[-1], str)]
        keys = dict(sorted(named, key=lambda one: len(one[1])))  # of the tables that one header names, the inmost
        self._starts = sorted(keys)
        self._paths = [keys[start] for start in self._starts]

    def path(self, start: int, end: int) -> Path:
        """The key on the line that the comment ends; for a comment above, the next key or table; else the last one."""
        if path := self.on_line(start):
            return path
        after = bisect_left(self._starts, end)
        if after < len(self._starts):
            return self._paths[after]
        return self._paths[-1] if self._paths else ()

    def touching(self, start: int, end: int) -> Path:
        """The key or table below a line of comment; the last one above where a blank line or nothing follows."""
        above = bisect_left(self._starts, start)
        if above and not _FOLLOWED.match(self._text, end):
            return self._paths[above - 1]
        return self.path(start, end)

    def on_line(self, start: int) -> Path:
        """The first key on the line of a place, before it; empty if there is none."""
        first = bisect_left(self._starts, self._text.rfind("\n", 0, start) + 1)
        return self._paths[first] if first < bisect_left(self._starts, start) else ()


def _problem(place: Span, seems: leaks.Leak, beside: Path) -> Diagnostic:
    told = "remove it: the spec is copied into the tree with its comments; then replace the secret"
    if seems.certain or not beside:
        return error("inline-secret", f"a comment seems to contain {seems.kind}", Label(place, secret=True), help=told)
    at = ".".join(map(str, beside))
    told += f"; if it is not a secret, silence this error at {at}, with a reason"
    found = error("inline-secret", f"a comment seems to contain {seems.kind}", Label(place, secret=True), help=told)
    return replace(found, doubted=beside)
