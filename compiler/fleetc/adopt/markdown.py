"""Finds the commands in a page of Markdown: its fenced and indented blocks of code.

In: the text of a page. Out: a text of the same length that is blank where no command stands, so all places stay; and
where a command of a node stands outside of what is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pydantic_core import PydanticCustomError

from fleetc.adopt.docker_run import STARTS_NONE
from fleetc.adopt.out_of_use import out_of_use
from fleetc.adopt.shell_words import ShellError, tokens
from fleetc.adopt.words import Entry, Fate
from fleetc.language.fields import check_name
from fleetc.language.quantities import QuantityError, parse_host
from fleetc.places.diagnostic import Span
from fleetc.toml.document import Source

NAMES = (".md", ".markdown")

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([A-Za-z0-9_+.-]*)")
_SHELLS = frozenset({"", "sh", "bash", "shell", "console", "terminal", "zsh", "shell-session", "shellsession", "text"})
_INDENTED = re.compile(r"(?: {4}|\t)[ \t]*\S")
_HEADING = re.compile(r"^ {0,3}(?:#{1,6}[ \t]|\S[^\n]*\n {0,3}(?:={2,}|-{2,})[ \t]*$)", re.MULTILINE)
_DEEPEST = 6
_NAMED = re.compile(r"[*_`]*([A-Za-z][A-Za-z0-9-]*)[*_`]*(?=\s*$|\s*[(:,]|\s+[-–—])(.*)")
_ADDRESSES = re.compile(r"[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
_NO_HOSTS = frozenset(
    {"ai", "broadcaster", "gateway", "gateways", "livepeer", "orchestrator", "orchestrators", "redeemer", "reward",
     "signer", "transcoder", "transcoders", "worker", "workers"}
)  # fmt: skip
"""Headings that say what a node is, and not where."""
_NOT_BLANK = re.compile(r"[^\n]")
_NODE = re.compile(r"(?<![A-Za-z0-9_.-])(?:livepeer(?:\.exe)?[ \t]+--?[A-Za-z]|livepeer/go-livepeer[: \t])")
_LINE = re.compile(r"(?:[^\n\\]|\\\r?\n|\\.)+")
"""A line of a shell, which goes on behind a backslash at its end."""
_FLAG = re.compile(r"\s*--?[A-Za-z]")
_LEFT_OUT = re.compile(r"(?<!\S)(?:\.\.\.|…)(?!\S)")
"""What people write in place of words that an example leaves out."""
_NO_START = re.compile(
    rf"(?:docker|podman)[ \t]+(?:(?:image|container)[ \t]+)?(?:{'|'.join(sorted(STARTS_NONE))})(?:[ \t][^\n;&|`]*)?"
)


def _nodes(text: str) -> Iterator[int]:
    """Where commands of nodes stand in a text. A command to Docker that starts none is passed over."""
    silent = _NO_START.finditer(text)
    begin = end = 0
    for found in _NODE.finditer(text):
        while end <= found.start() and (other := next(silent, None)) is not None:
            begin, end = other.span()
        if not begin <= found.start() < end:
            yield found.start()


def shows_node(page: Source) -> bool:
    """Whether a command of a node stands anywhere in a page."""
    return any(True for _ in _nodes(page.text))


PAGE = "it shows commands of nodes"
LOOSE = "it shows commands of nodes, and is no script that can be read"
"""Why a text that nobody named is passed over."""


def passed_over(text: Source, why: str) -> Entry:
    """The account of a text that nobody named."""
    at = next(_nodes(text.text), 0)
    return Entry(Span(text.name, at, at + 1), "the file", Fate.DROPPED, f"{why}, and nobody named it")


class Commands(NamedTuple):
    """A page with its commands alone, and the places of commands of nodes that are not read: those that are `left_out`,
    and beside others that are whole and in use those that are an `example` whose words are not all there, or `old`,
    with the words of the page that say so. `flags` are the places of blocks of flags alone, which are no command.
    """

    text: str
    left_out: list[int]
    examples: list[int]
    old: list[tuple[int, str]]
    flags: list[int]


def commands(text: str, every: bool = False) -> Commands:
    """The commands of a page; `every`: also those that are an example, or old."""
    pieces: list[str] = []
    left_out: list[int] = []
    flags: list[range] = []
    start = 0
    for block, code in _blocks(text):
        kept = code and _readable(block)
        if not kept:
            left_out += [start + at for at in _nodes(block)]
        pieces.append(block if kept else _NOT_BLANK.sub(" ", block))
        flags += [range(start, start + len(block))] if kept and _only_flags(block) else []
        start += len(block)
    whole = "".join(pieces)
    old = {} if every else {place: words for place, words in _old(text) if whole[place.start : place.stop].strip()}
    rest = _without(whole, old)
    examples = [] if every else [range(*line.span()) for line in _examples(rest)]
    rest = _without(rest, examples)
    if not any(True for _ in _nodes(rest)):
        rest, old, examples = whole, {}, []
    flags = [one for one in flags if one not in old] if any(True for _ in _nodes(rest)) else []
    return Commands(
        _without(rest, flags), left_out, [one.start for one in examples],
        [(place.start + at, words) for place, words in old.items() for at in _nodes(text[place.start : place.stop])],
        [one.start for one in flags],
    )  # fmt: skip


def _without(text: str, places: Iterable[range]) -> str:
    """A text that is blank at some places, which follow each other."""
    pieces, end = [], 0
    for one in places:
        pieces += [text[end : one.start], _NOT_BLANK.sub(" ", text[one.start : one.stop])]
        end = one.stop
    return "".join([*pieces, text[end:]])


def _only_flags(block: str) -> bool:
    """Whether a block has no command, and flags alone: a price of before, or what else people note of a node."""
    lines = [line for line in _LINE.findall(block) if line.strip() and not line.lstrip().startswith("#")]
    return bool(lines) and all(map(_FLAG.match, lines))


def _old(text: str) -> Iterator[tuple[range, str]]:
    """The blocks of commands that are not in use any more, each with the words that say so: in the line of prose above
    it, or in a heading that it is below.
    """
    headings: list[tuple[int, str]] = []
    above, start, fenced, behind = "", 0, False, False
    for block, code in _blocks(text):
        if code:
            words = next(filter(None, map(out_of_use, (above, *(words for _, words in headings)))), "")
            if words:
                yield range(start, start + len(block)), words
        if code or fenced:
            above, fenced, behind = "", False, fenced
        else:
            prose = block.partition("\n")[2] if behind else block  # behind the line that ends a block
            behind = False
            fenced = _FENCE.match(prose) is not None
            for level, words in _headings(prose) if not fenced else ():
                headings = [*(one for one in headings if one[0] < level), (level, words)]
            lines = [line for line in prose.splitlines() if line.strip()]
            above = above if fenced or not lines else lines[-1]
        start += len(block)


def _headings(prose: str) -> Iterator[tuple[int, str]]:
    """How deep each heading of a piece of prose is, and its words."""
    for found in _HEADING.finditer(prose):
        yield _level(found[0] + prose[found.end() :].partition("\n")[0])


def _examples(text: str) -> Iterator[re.Match[str]]:
    """The commands of nodes in a text of commands that leave words out."""
    for line in _LINE.finditer(text):
        if _LEFT_OUT.search(line[0]) and next(_nodes(line[0]), None) is not None:
            yield line


def parts(text: str) -> list[range]:
    """The places of each block of commands, and of each section: what stands between two headings."""
    found: list[range] = []
    start = section = 0
    for block, code in _blocks(text):
        end = start + len(block)
        if code:
            found.append(range(start, end))
        else:
            for heading in _HEADING.finditer(block):
                found.append(range(section, start + heading.start()))
                section = start + heading.start()
        start = end
    return [*found, range(section, start)]


class Heading(NamedTuple):
    """What a heading calls a host, and where it says that this is; "" for each that it does not say."""

    name: str
    address: str


def heading_of(text: str, place: int) -> Heading:
    """The innermost heading above a place of a page that may name a host, of the sections that the place is in."""
    above: list[tuple[int, str]] = []
    start = 0
    for block, code in _blocks(text):
        if not code:
            above += _headings(block[: max(0, place - start)])
        start += len(block)
    depth = _DEEPEST + 1
    for level, words in reversed(above):
        if level < depth:
            depth = level
            heading = _named(words)
            if heading.name:
                return heading
    return Heading("", "")


def _level(heading: str) -> tuple[int, str]:
    """How deep a heading is, and its words."""
    first, _, line = heading.strip().partition("\n")
    if line:
        return (1 if line.lstrip().startswith("=") else 2), first
    words = first.lstrip("#")
    return len(first) - len(words), words.strip(" \t#")


def _named(words: str) -> Heading:
    """The host of a heading such as `frankfurt`, `Frankfurt (orchestrator)` or `gpu-1: 203.0.113.9`."""
    found = _NAMED.match(words)
    known, rest = (found[1].lower(), found[2]) if found is not None else ("", "")
    try:
        check_name(known)
    except PydanticCustomError:
        return Heading("", "")
    address = next((one for one in _ADDRESSES.findall(rest) if _is_address(one)), "")
    return Heading("" if known in _NO_HOSTS else known, address)


def _is_address(text: str) -> bool:
    try:
        return "." in str(parse_host(text))
    except QuantityError:
        return False


def _readable(block: str) -> bool:
    try:
        return all(True for _ in tokens(block))
    except ShellError:
        return False


def _blocks(text: str) -> Iterator[tuple[str, bool]]:
    """The page in pieces, each with whether it is a block of commands."""
    piece: list[str] = []
    code, fence, blank = False, "", True
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if fence:
            if mark is not None and mark[1].startswith(fence) and not mark[2]:
                yield "".join(piece), code
                piece, code, fence, blank = [line], False, "", True
                continue
        elif mark is not None:
            yield "".join(piece), code
            yield line, False
            piece, code, fence = [], mark[2].lower() in _SHELLS, mark[1]
            continue
        else:
            indented = _INDENTED.match(line) is not None and (code or blank)
            if indented != code and line.strip():
                yield "".join(piece), code
                piece, code = [], indented
            blank = not line.strip()
        piece.append(line)
    yield "".join(piece), code
