"""Names of a fleet in its texts: where each is defined, where it is used, and what a rename writes.

In: pages, and the last document that could be read. Out: places, and pieces of text. What names what is the table
`USES`; a test renames everything in the example fleets and checks them again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from fleetc.assist.page import Block, Page, Spot
from fleetc.language.counters import meant_by, star_in
from fleetc.language.fields import NAME_PATTERN
from fleetc.language.fleet import NODE_TABLES
from fleetc.language.sharing import CLASSES, LIKE, ON, in_the_language, tables
from fleetc.pipeline import check_spec
from fleetc.places.diagnostic import Path, Severity
from fleetc.toml.document import REMOVE, Document, Source, value_at
from fleetc.toml.edits import toml_key, toml_value
from fleetc.toml.scan import KeySpans, parse_key

_ANY = "*"
_GPU_TABLES = (*NODE_TABLES, "runners", "avatars")


class Use(NamedTuple):
    """A field that names tables: where it stands below a table of `within`, `*` for any item or key.

    `key`: the last key is the name, and not its value. `of` are the tables that it may name.
    """

    within: tuple[str, ...]
    field: Path
    of: tuple[str, ...]
    key: bool = False


USES = (
    Use((*NODE_TABLES, "avatars", "runners"), ("host",), ("hosts",)),
    Use(NODE_TABLES, (ON,), ("hosts",)),
    Use(NODE_TABLES, ("wallet",), ("wallets",)),
    Use(("wallets",), ("reward_by",), NODE_TABLES),
    Use(("orchestrators", "ai_workers"), ("models", _ANY, "use"), ("models",)),
    Use(NODE_TABLES, ("max_model_prices", _ANY), ("models",), True),
    Use(("gateways",), ("min_runner_versions", _ANY), ("models",), True),
    Use(("orchestrators",), ("gateway_prices", _ANY), ("gateways",), True),
    Use(("orchestrators", "ai_workers"), ("models", _ANY, "gateway_prices", _ANY), ("gateways",), True),
    Use(("gateways", "remote_signers"), ("orchestrators", _ANY), ("orchestrators",)),
    Use(("transcoders", "ai_workers"), ("orchestrator",), ("orchestrators",)),
    Use(("orchestrators",), ("redeemer",), ("redeemers",)),
    Use(("orchestrators",), ("runners", _ANY), ("runners",)),
    Use(("remote_signers",), ("buys_runners", _ANY), ("runners",)),
    Use(("gateways",), ("remote_signer", "signer"), ("remote_signers",)),
    Use(("gateways", "streams"), ("ladder",), ("ladders",)),
    Use(("streams",), ("gateway",), ("gateways",)),
    Use(("avatars",), ("registration", "orchestrator"), ("orchestrators",)),
)
"""Every field that names a table, except for monitoring.host and for classes."""


class Target(NamedTuple):
    """A table that has a name: a host, a wallet, a node, or a class."""

    table: str
    name: str


class CannotRenameError(ValueError):
    """The name cannot be changed here, or not to this; the text is the reason."""


def named_at(path: Path, key: bool) -> tuple[str, ...]:
    """The tables that the value at a path may name, or its last key."""
    if path[-1:] == (LIKE,) or path[-2:-1] == (LIKE,):
        return () if key else (CLASSES,)
    if path == ("monitoring", "host"):
        return () if key else ("hosts",)
    here = in_the_language(path)
    if len(here) < 3:
        return ()
    for use in USES:
        fits = use.key == key and here[0] in use.within and len(here) - 2 == len(use.field)
        if fits and all(want in (_ANY, part) for want, part in zip(use.field, here[2:], strict=True)):
            return use.of
    return ()


def target_at(page: Page, offset: int, document: Document | None) -> tuple[Target, Spot] | None:
    """What is named at an offset, and where exactly; None if there is none."""
    spot = page.at(offset)
    if spot is None:
        return None
    if spot.on_key:
        return _of_key(spot, document)
    text = _text(page, spot)
    for table in named_at(spot.path, key=False):
        if text and (table == CLASSES or _meant(Target(table, text), document)):
            return Target(table, text), _inside(spot)
    return None


def _of_key(spot: Spot, document: Document | None) -> tuple[Target, Spot] | None:
    path = spot.path
    if len(path) == 2 and path[0] in (*tables(), CLASSES):
        return Target(str(path[0]), str(path[1])), spot
    for table in named_at(path, key=True):
        if _meant(Target(table, str(path[-1])), document):
            return Target(table, str(path[-1])), spot
    return None


def _meant(target: Target, document: Document | None) -> list[str]:
    """The names of tables that a name stands for: itself, or those that its pattern or its counter makes."""
    named = document.raw.get(target.table) if document is not None else None
    return [name for name in meant_by(target.name, named) if name in named] if isinstance(named, dict) else []


def _text(page: Page, spot: Spot) -> str:
    """The text of a value that is a plain string; else ""."""
    raw = page.text[spot.start : spot.end]
    return raw[1:-1] if len(raw) > 2 and raw[0] in "\"'" and raw[-1] == raw[0] and "\\" not in raw else ""


def _inside(spot: Spot) -> Spot:
    return spot._replace(start=spot.start + 1, end=spot.end - 1)


# --------------------------------------------------------------------------------------------- where it is defined


def definitions(pages: Mapping[str, Page], target: Target, document: Document | None) -> Iterator[tuple[str, Spot]]:
    """The keys of a table in each text: its own, else that of its counter table; of a pattern, those of its tables."""
    paths: list[Path] = [target]
    if document is not None and not any(page.find(target) for page in pages.values()):
        members: list[Path] = [(target.table, name) for name in _meant(target, document)]
        paths = [path for member in members for path in (member, *document.layers.get(member, ())[:1])]
    for path in dict.fromkeys(paths):
        yield from ((name, spot) for name, page in pages.items() if (spot := page.find(path)))


def gpu_at(page: Page, offset: int, document: Document | None) -> Path | None:
    """The GPU of a host that a position in a list of a node names, or that stands at the offset itself."""
    spot = page.at(offset)
    if spot is None or document is None:
        return None
    path = in_the_language(spot.path)
    if path[:1] == ("hosts",) and path[2:3] == ("gpus",) and len(path) > 3:
        return path[:4]
    number = page.text[spot.start : spot.end]
    listed = len(path) == 4 and path[2] == "gpus"
    slotted = path[-1:] == ("gpu",)
    if not path or path[0] not in _GPU_TABLES or not (listed or slotted) or spot.on_key or not number.isdigit():
        return None
    host = value_at(document.raw, (*path[:2], "host"))
    return ("hosts", str(host), "gpus", int(number)) if host is not None else None


# ------------------------------------------------------------------------------------------------- where it is used


def references(page: Page, target: Target, document: Document | None) -> Iterator[Spot]:
    """Every place in a text that names a table, also by a pattern, without those that define it."""
    many = _members(target, document)
    for path, block, mark in _near(page, [target.name, *many]):
        for key in (True, False):
            if target.table not in named_at(path, key) or (key and not isinstance(path[-1], str)):
                continue
            spot = _spot(path, block, mark, key)
            name = str(path[-1]) if key else _text(page, spot)
            by_pattern = ("*" in name or "{" in name) and target.name in _meant(Target(target.table, name), document)
            if name == target.name or name in many or by_pattern:
                yield spot if key else _inside(spot)


def _members(target: Target, document: Document | None) -> frozenset[str]:
    """The names that a counter table makes."""
    if document is None or "{" not in target.name:
        return frozenset()
    path: Path = (target.table, target.name)
    return frozenset(str(member[1]) for member, layers in document.layers.items() if path in layers)


def _near(page: Page, names: Sequence[str]) -> Iterator[tuple[Path, Block, KeySpans]]:
    """The content of tables with one of the names in the text."""
    wanted = re.compile("|".join([*map(re.escape, names), r"""["'][^"'\s{*]*[*{]"""]))  # a pattern may mean them
    for block in page.blocks:
        if wanted.search(page.text, block.body, block.end):
            for path, mark in page.marks(block).items():
                yield (*block.path, *path), block, mark


def _spot(path: Path, block: Block, mark: KeySpans, key: bool) -> Spot:
    start, end = (mark.key_start, mark.key_end) if key else (mark.start, mark.end)
    return Spot(path, block.body + start, block.body + end, key)


# ------------------------------------------------------------------------------------------------------------ rename

Piece = tuple[int, int, str]
"""A stretch of a text, and what comes there."""


def rename(
    specs: Sequence[Sequence[Source]], pages: Mapping[str, Page], target: Target, name: str, document: Document
) -> dict[str, list[Piece]]:
    """The edits of each text that rename a table everywhere. Raises CannotRenameError.

    `specs` are the spec and, for each overlay, the sources with it. All are checked as they would be:
    a rename that would be an error, or that would change what a pattern matches, is refused.
    """
    _need_free(target, name, document)
    by_file = {file: sorted(_pieces(page, target, name, document)) for file, page in pages.items()}
    for sources in specs:
        before = [replace(source, text=pages[source.name].text) for source in sources]
        after = [replace(source, text=_replaced(source.text, by_file[source.name])) for source in before]
        old, new = _errors(before), _errors(after)
        if sum(new.values()) > sum(old.values()):
            raise CannotRenameError(next(iter(new - old))[1])
    return {file: pieces for file, pieces in by_file.items() if pieces}


def _errors(sources: Sequence[Source]) -> Counter[tuple[str, str]]:
    diagnostics = check_spec(sources).diagnostics
    return Counter((item.code, item.message) for item in diagnostics if item.severity is Severity.ERROR)


def _need_free(target: Target, name: str, document: Document) -> None:
    path: Path = (target.table, target.name)
    if value_at(document.written, path) is None:
        raise CannotRenameError(f"{target.name} comes out of a table for many, or of another file: rename that")
    if "{" in target.name or "{" in name:
        raise CannotRenameError("the name of a counter table is a pattern: change it and its members by hand")
    if not re.fullmatch(NAME_PATTERN, name):
        raise CannotRenameError("a name has lower-case letters, digits and single hyphens, and begins with a letter")
    if value_at(document.written, (target.table, name)) is not None or value_at(document.raw, (target.table, name)):
        raise CannotRenameError(f"{target.table} already has {name}")
    for table in NODE_TABLES if target.table == "hosts" else ():
        for body in (value_at(document.written, (table,)) or {}).values():
            pattern = body.get(ON) if isinstance(body, dict) else None
            fits = [isinstance(pattern, str) and star_in(pattern, each) is not None for each in (target.name, name)]
            if fits[0] != fits[1]:
                raise CannotRenameError(f'on = "{pattern}" matches only one of the two names: rename by hand')


def _pieces(page: Page, target: Target, name: str, document: Document) -> Iterator[Piece]:
    for spot in page.mentions((target.table, target.name)):
        yield spot.start, spot.end, toml_key(name)
    for spot in references(page, target, document):
        text = page.text[spot.start : spot.end]
        if spot.on_key or not ("*" in text or "{" in text):
            yield spot.start, spot.end, toml_key(name) if spot.on_key else name
        elif star_in(text, name) is None:
            raise CannotRenameError(f'"{text}" matches only one of the two names: rename by hand')
    for path, block, mark in _near(page, [target.name]):
        if path[:1] == (REMOVE,) or (path[:1] == ("silences",) and path[-1] == "at"):
            spot = _spot(path, block, mark, key=False)
            written = parse_key(_text(page, spot)) or ()
            new = [name if _is_said(written[: end + 1], target) else str(part) for end, part in enumerate(written)]
            if new != list(written):
                yield spot.start, spot.end, toml_value(".".join(map(toml_key, new)), page.text[spot.start])


def _is_said(path: Path, target: Target) -> bool:
    """Whether the last key of a path, as an overlay removes one, is the name of a table."""
    if path[-1] != target.name:
        return False
    return path[:-1] == (target.table,) or target.table in named_at(path, key=True)


def _replaced(text: str, pieces: Sequence[Piece]) -> str:
    for start, end, new in sorted(pieces, reverse=True):
        text = text[:start] + new + text[end:]
    return text
