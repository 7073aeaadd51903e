"""What an editor shows beside the text: what tables take from classes, parts of amounts, the outline, TODO answers.

In: a page, a stretch of it, and the last document. Out: plain values with offsets. Only what is in the stretch is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import tomli

from fleetc.assist.hover import field_at
from fleetc.assist.page import Block, Page
from fleetc.language.sharing import CLASSES, DEFAULTS, LIKE, in_the_language, tables
from fleetc.messages.tables import inline
from fleetc.places.diagnostic import Path
from fleetc.text import leaks
from fleetc.text.encoders import visible
from fleetc.toml.document import Document, value_at

_OFFER = re.compile(r"^[ \t]*#[ \t]*TODO ([A-Za-z_][A-Za-z0-9_.]* = .*)$", re.MULTILINE)
_LONGEST = 90
_MEMBERS = 3
_AMOUNT = re.compile(r"[0-9][0-9_]*(?:\.[0-9]+)?|[A-Za-z]+|[/%]")
_IS_AMOUNT = re.compile(r"[0-9][0-9_.]* ?(?:[A-Za-z]+|%)(?: ?/ ?(?:[0-9]+ )?[A-Za-z]+)?")


class Hint(NamedTuple):
    """Words that an editor shows at an offset, as if they stood there; `more` is the whole text."""

    offset: int
    words: str
    more: str


class Part(NamedTuple):
    """A part of an amount: `kind` is number, unit or operator."""

    start: int
    end: int
    kind: str


class OutlineEntry(NamedTuple):
    """A table in the outline, with its header, its extent, and the tables inside."""

    name: str
    start: int
    head: int
    end: int
    inner: tuple[OutlineEntry, ...]


def _within(page: Page, start: int, end: int) -> Iterator[Block]:
    return (block for block in page.blocks if block.start <= end and block.end >= start)


# ---------------------------------------------------------------------------------------------- values from elsewhere


def hints(page: Page, start: int, end: int, document: Document | None) -> Iterator[Hint]:
    """What tables take from classes, behind `like`, and from elsewhere, behind the header; members of many."""
    if document is None:
        return
    for block in _within(page, start, end):
        if len(block.path) != 2 or block.path[0] not in tables():
            continue
        members = _members(block.path, document)
        if not members:
            continue
        like = page.marks(block).get((LIKE,))
        taken: dict[int, list[str]] = {}
        for line, of_class in _taken(members[0], block.path, document):
            taken.setdefault(block.body + like.end if like and of_class else block.body, []).append(line)
        for offset, lines in sorted(taken.items()):
            yield Hint(offset, _short(lines), "\n".join(lines))
        if members[0] != block.path:
            names = [str(member[1]) for member in members]
            shown = ", ".join(names[:_MEMBERS]) + (f" ... {names[-1]}" if len(names) > _MEMBERS else "")
            yield Hint(block.body, f"{len(names)} tables: {shown}", "\n".join(names[:100]))


def _members(path: Path, document: Document) -> list[Path]:
    """The tables that a table of the text makes: itself, or many."""
    if value_at(document.raw, path) is not None:
        return [path]
    if value_at(document.written, path) is None:
        return []
    return [member for member, layers in document.layers.items() if path in layers]


def _taken(member: Path, own: Path, document: Document) -> Iterator[tuple[str, bool]]:
    """The lines that a table would have, had it said itself what it takes; with each, whether a class has it."""
    table = value_at(document.raw, member)
    for key, value in table.items() if isinstance(table, dict) else ():
        at = document.said_at((*member, key))
        if at and at[:2] not in (member, own):
            yield visible(leaks.shown(f"{key} = {inline(value)}")), at[0] == CLASSES


def _short(lines: list[str]) -> str:
    """As many whole lines as are short enough, and how many more there are; of a long line its beginning."""
    shown = [line if len(line) <= _LONGEST else f"{line[:_LONGEST]} ..." for line in lines]
    while len(", ".join(shown)) > _LONGEST and len(shown) > 1:
        shown.pop()
    more = len(lines) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


# --------------------------------------------------------------------------------------------------------- amounts


def amounts(page: Page, start: int, end: int) -> Iterator[Part]:
    """The parts of prices, durations, sizes and other amounts, in the order of the text."""
    for block in _within(page, start, end):
        parts = []
        for path, mark in page.marks(block).items():
            start_of, end_of = block.body + mark.start + 1, block.body + mark.end - 1
            is_amount = page.text[start_of - 1] in "\"'" and _IS_AMOUNT.fullmatch(page.text, start_of, end_of)
            if is_amount and _has_unit((*block.path, *path)):
                for match in _AMOUNT.finditer(page.text, start_of, end_of):
                    kind = "number" if match[0][0].isdigit() else "operator" if match[0] in "/%" else "unit"
                    parts.append(Part(match.start(), match.end(), kind))
        yield from sorted({part for part in parts if start <= part.start < end})


def _has_unit(path: Path) -> bool:
    """Whether the field at a path takes an amount with a unit."""
    here = in_the_language(path)
    if not here or len(here) < 2:
        return False
    named = here[0] in tables()
    return _unit_of((str(here[0]), *(("name",) if named else ()), *here[1 + named :]))


@cache
def _unit_of(path: Path) -> bool:
    field = field_at(path) or field_at(path[:-1])
    return field is not None and (bool(field[1].unit) or "25%" in field[1].kind)


# --------------------------------------------------------------------------------------------------------- outline


def outline(page: Page) -> list[OutlineEntry]:
    """The tables of a text; one inside another stands there, if it follows it."""
    groups: list[list[Block]] = []
    for block in page.blocks:
        if not block.parts:
            continue
        if groups and len(block.path) > len(groups[-1][0].path) and _owns(groups[-1][0], block):
            groups[-1].append(block)
        else:
            groups.append([block])
    return [_entry(outer, tuple([_entry(block, ()) for block in inner])) for outer, *inner in groups]


def _owns(outer: Block, inner: Block) -> bool:
    return outer.path[:1] not in ((CLASSES,), (DEFAULTS,)) and inner.path[: len(outer.path)] == outer.path


def _entry(block: Block, inner: tuple[OutlineEntry, ...]) -> OutlineEntry:
    name = ".".join(map(str, block.path))
    end = inner[-1].end if inner else block.end
    return OutlineEntry(visible(name), block.start, block.body, end, inner)


# --------------------------------------------------------------------------------------------------- TODO comments


def offered(text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    """Lines from `start` to `end` like `# TODO key = value  # why` with a ready answer: begin, end, and the answer."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    for line in _OFFER.finditer(text, first, len(text) if last < 0 else last):
        place = line[1].find("  # ")
        while place >= 0 and not _is_answer(line[1][:place]):
            place = line[1].find("  # ", place + 1)
        if place >= 0:
            yield line.start(), line.end(), line[1][:place]


def _is_answer(text: str) -> bool:
    """Whether a text is one key with a ready value; dots are for you to fill in."""
    try:
        tomli.loads(text)
    except tomli.TOMLDecodeError:
        return False
    return "..." not in text
