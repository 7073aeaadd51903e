"""Counts log lines: signatures with their times, and the shapes of all others.

In: blocks of whole lines, log by log. Out: a `Tally` of bounded size.

Lines of one kind differ in numbers and ids. So a line's key is its text without digits and the letters a to f, which is
quick for a whole block. Only lines with unknown keys are parsed. If a key could hide or fake a signature, the line
itself is checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from fleetc.observe.amounts import Range, widen
from fleetc.observe.blocks import LINE_LIMIT, whole_lines
from fleetc.observe.clock import Moment
from fleetc.observe.lines import ERROR, INFO, Line, Stamp, line_of
from fleetc.observe.lives import END, ORDERLY, SILENCE, START, TRACE, Ended, Lives, role_of
from fleetc.observe.matching import Candidates, Hit, Matcher
from fleetc.observe.shapes import shape_of
from fleetc.upstream.messages import CallSite, Table
from fleetc.upstream.signatures import signatures

MANY_SHAPES = 2000
"""The most shapes; lines of further ones are counted together."""

_LEFT_OUT = b"0123456789abcdef"
_BLANK = (b"", b"\r")  # the keys of blank lines, and of lines with nothing else
_NAMED_ID = re.compile(rb"ID=[^\s\"\\',;\]\0\x1b]+")
"""What without_ids leaves out, in a line as it came: there it may be less, and never more."""
_KEY_BYTES = 32 << 20
_MANY_MINUTES = 20_000
_MANY_PARTS = 20
_MANY_UNSEEN = 100_000
_SAMPLE = 400
_CLOCK_LINES = 64  # lines of a block to read the time from
_DISORDER = 5  # seconds that lines may be out of order, as they are when several programs write them
NOT_TEXT = "<bytes that are no text>"


class LogLine(NamedTuple):
    """A line of a log: the log's name, the line number, from 1, and its text, cut."""

    log: str
    number: int
    text: str


@dataclass(slots=True)
class Seen:
    """How often a signature was seen, and when. `minutes` is their number, and `when` has them, except for a very long
    log; `parts` are what stood for each {} in some of the lines, and `ranges` the lowest and highest numbers there in
    all of them.
    """

    code: str
    where: LogLine
    count: int = 0
    first: Moment | None = None
    last: Moment | None = None
    minutes: int = 0
    latest: tuple[int, bool, int] | None = None
    when: set[tuple[int, bool, int]] = field(default_factory=set)
    parts: dict[tuple[str, ...], None] = field(default_factory=dict)
    ranges: dict[int, Range] = field(default_factory=dict)


@dataclass(slots=True)
class Shape:
    """Lines of one shape without a signature. `site` is what prints them, where a source that is known does."""

    text: str
    level: str
    where: LogLine
    count: int = 0
    site: CallSite | None = None
    ends: bool = False
    """Whether a process ends with such a line."""

    @property
    def open(self) -> bool:
        """Whether nobody knows what to do about these lines, though they are errors, or no text."""
        return (self.level == ERROR or self.text == NOT_TEXT) and not self.ends


@dataclass(slots=True, eq=False)
class _Known:
    """What is known about lines with one key. `singly`: each of them must be checked itself. `role`: what they are to
    the life of their process, and `site` what prints them.
    """

    hits: tuple[Hit, ...]
    shape: Shape | None
    stamp: Stamp | None
    probes: tuple[bytes, ...]
    singly: bool
    role: str = ""
    site: CallSite | None = None
    count: int = 0
    watched: bool = False

    def __post_init__(self) -> None:
        self.watched = bool(self.hits or self.singly or self.role)

    @property
    def plain(self) -> bool:
        """Whether lines that only differ from these in ids with a name have the same shape, and no signature either."""
        return self.shape is not None and not self.singly


class Tally:
    """The counts of some logs."""

    def __init__(self, matcher: Matcher, sources: Table) -> None:
        self._matcher, self._sources = matcher, sources
        self.lives = Lives()
        self._suspects = Candidates(
            (literal.encode().translate(None, _LEFT_OUT).decode("latin-1"), literal) for literal in matcher.literals
        )
        self._known: dict[bytes, _Known] = {}
        self._key_bytes = 0
        self._log, self._line, self._logs = "", 0, 0
        self._clock: Moment | None = None
        self._unseen: set[int] = set()
        self.seen: dict[str, Seen] = {}
        self.shapes: dict[tuple[str, str], Shape] = {}
        self.lines = self.size = self.elapsed = self.jumps = self.cut = self.dropped_lines = 0
        self.first: Moment | None = None
        self.last: Moment | None = None

    @property
    def dropped_shapes(self) -> int:
        """How many shapes were not told apart; no more than 100,000 are counted."""
        return len(self._unseen)

    @property
    def minutes(self) -> int:
        """How many minutes the logs cover, at least 1."""
        return max(1, -(-self.elapsed // 60))

    def read(self, name: str, pieces: Iterable[bytes]) -> None:
        """Count the lines of one log, from pieces of bytes."""
        self._log, self._line, self._clock = name, 0, None
        self._logs += 1
        self.lives.begin_log()
        for block in whole_lines(pieces):
            self._count(block)
        self._settle()

    def _count(self, block: bytes) -> None:
        lines = block.split(b"\n")
        keys = block.translate(None, _LEFT_OUT).split(b"\n")
        known_of, number = self._known.get, self._line
        for line, key in zip(lines, keys, strict=True):
            number += 1
            known = known_of(key)
            if known is None:
                if not line or line == b"\r":
                    continue
                known = self._learn(key, line, number)
                known_of = self._known.get
            known.count += 1
            if known.watched:
                self._look_at(known, line, number)
        self._line = number
        self.lines += len(lines) - lines.count(b"") - lines.count(b"\r")
        self.size += len(block) + 1
        self._pass(lines)

    def _learn(self, key: bytes, line: bytes, number: int) -> _Known:
        """Parse a line with a new key."""
        if len(line) > LINE_LIMIT:
            line = line[:LINE_LIMIT]
            self.cut += 1
        if len(key) > LINE_LIMIT or key in _BLANK:  # not kept, so each one is new
            known = self._taken_apart(key, line, number)
            if known.shape is not None:
                self._add_to(known.shape, 1)
            return known
        plain = _NAMED_ID.sub(b"ID=", key)
        alike = self._known.get(plain)
        known = alike if alike is not None and alike.plain else self._taken_apart(plain, line, number)
        self._key_bytes += len(key) + len(plain) + 400
        if self._key_bytes > _KEY_BYTES:
            self._settle()
            self._key_bytes = len(key) + len(plain) + 400
        self._known[key] = known
        if known.plain:
            self._known[plain] = known
        return known

    def _taken_apart(self, key: bytes, line: bytes, number: int) -> _Known:
        if b"\0" in line:
            return _Known((), self._shape(NOT_TEXT, "", number, ""), None, (), False)
        parsed = line_of(line)
        hits = self._matcher.find(parsed.sourced)
        suspects = self._suspects.of(key.decode("latin-1"))
        site = self._site(parsed)
        bad = parsed.level == ERROR or any(not signatures()[hit.code].benign for hit in hits)
        role = role_of(parsed, site, bad)
        if not hits:
            shape = self._shape_of(parsed, number)
            shape.site, shape.ends = site, role == END
            return _Known((), shape, parsed.stamp, (), bool(suspects), role, site)
        probes = tuple(literal.encode() for literal in suspects)
        singly = any(hit.parts for hit in hits) or not probes or not all(probe in line for probe in probes)
        return _Known(hits, None, parsed.stamp, probes, singly, role, site)

    def _site(self, parsed: Line) -> CallSite | None:
        """What prints a line that may be bad news."""
        if parsed.level == INFO:
            return None
        file, _, line = parsed.source.partition("]")[0].partition(":")
        return self._sources.match(file, parsed.text, int(line) if line.isdecimal() else 0)

    def _shape_of(self, parsed: Line, number: int) -> Shape:
        return self._shape(shape_of(parsed.text), parsed.level, number, parsed.text)

    def _shape(self, text: str, level: str, number: int, sample: str) -> Shape:
        """The shape of this text and level; a nameless one where there are too many."""
        shape = self.shapes.get((text, level))
        if shape is None:
            shape = Shape(text, level, LogLine(self._log, number, sample[:_SAMPLE]))
            if len(self.shapes) < MANY_SHAPES:
                self.shapes[text, level] = shape
            else:
                shape.text = ""
                if len(self._unseen) < _MANY_UNSEEN:
                    self._unseen.add(hash((text, level)))
        return shape

    def _look_at(self, known: _Known, line: bytes, number: int) -> None:
        """A line with a signature, possibly another than the first of its key."""
        hits, stamp, text = known.hits, known.stamp, ""
        if known.role == ERROR:
            self.lives.error(line, any(not signatures()[hit.code].general for hit in known.hits))
        elif known.role:
            self._live(known, line, number)
        if known.singly or not all(probe in line for probe in known.probes):
            parsed = line_of(line[:LINE_LIMIT])
            hits, stamp, text = self._matcher.find(parsed.sourced), parsed.stamp, parsed.text
            if not hits and known.shape is None:
                self._add_to(self._shape_of(parsed, number), 1)
            elif hits and known.shape is not None:
                known.count -= 1
        if not hits:
            return
        when = stamp.of(line) if stamp is not None else None
        for hit in hits:
            seen = self.seen.get(hit.code)
            if seen is None:
                text = text or line_of(line[:LINE_LIMIT]).text
                seen = self.seen[hit.code] = Seen(hit.code, LogLine(self._log, number, text[:_SAMPLE]))
            self._add(seen, hit, when)

    def _live(self, known: _Known, line: bytes, number: int) -> None:
        """A line with which a process starts or ends."""
        parsed = line_of(line[:LINE_LIMIT])
        if known.role == TRACE:
            self.lives.trace(line, parsed)
            return
        when = parsed.stamp.of(line) if parsed.stamp is not None else None
        place = (self._log, number, parsed.text[:_SAMPLE])
        if known.role == START:
            self.lives.start(line, parsed, Ended(SILENCE, *place))
            return
        code = next((hit.code for hit in known.hits), "")
        ended = Ended(shape_of(parsed.text), *place, known.site, code)
        self.lives.end(line, ended, known.role == ORDERLY, when)

    def _add(self, seen: Seen, hit: Hit, when: Moment | None) -> None:
        seen.count += 1
        if hit.parts and hit.parts not in seen.parts:
            widen(seen.ranges, hit.parts)
            if len(seen.parts) < _MANY_PARTS:
                seen.parts[hit.parts] = None
        if when is None:
            return
        minute = (self._logs, when.zoned, when.seconds // 60)
        if minute != seen.latest:
            seen.latest = minute
            seen.minutes += 1
            if len(seen.when) < _MANY_MINUTES:
                seen.when.add(minute)
        seen.first, seen.last = earlier(seen.first, when), later(seen.last, when)

    def _pass(self, lines: list[bytes]) -> None:
        """Advance the time by some lines of a block, including the first and the last."""
        for line in (*lines[:: max(1, len(lines) // _CLOCK_LINES)], lines[-1]):
            when = self._time(line)
            if when is None:
                continue
            self.first, self.last = earlier(self.first, when), later(self.last, when)
            if self._clock is not None and self._clock.zoned == when.zoned:
                passed = when.seconds - self._clock.seconds
                self.elapsed += max(0, passed)
                self.jumps += passed < -_DISORDER
            self._clock = when

    def _time(self, line: bytes) -> Moment | None:
        if len(line) > LINE_LIMIT or b"\0" in line:
            return None
        known = self._known.get(line.translate(None, _LEFT_OUT))
        stamp = known.stamp if known is not None else line_of(line).stamp
        return stamp.of(line) if stamp is not None else None

    def _settle(self) -> None:
        """Add up what was counted by key, and forget the keys."""
        for known in dict.fromkeys(self._known.values()):
            if known.shape is not None:
                self._add_to(known.shape, known.count)
            known.count = 0
        self._known.clear()
        self._key_bytes = 0

    def _add_to(self, shape: Shape, count: int) -> None:
        shape.count += count
        if self.shapes.get((shape.text, shape.level)) is not shape:
            self.dropped_lines += count


def earlier(first: Moment | None, other: Moment) -> Moment:
    """The earlier of two moments; one in UTC where only one is."""
    if first is None or first.zoned != other.zoned:
        return other if first is None or other.zoned else first
    return min(first, other)


def later(first: Moment | None, other: Moment) -> Moment:
    """The later of two moments; one in UTC where only one is."""
    if first is None or first.zoned != other.zoned:
        return other if first is None or other.zoned else first
    return max(first, other)
