"""The lives of nodes in their logs: when one started, how it ended, and the error before that.

In: the lines that start or end a process, and those of errors, in their order. Out: `Lives`, of bounded size. A line
that ends a process is known by the source that prints it, or by the words of Go, systemd, Docker and the kernel.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from fleetc.observe.clock import Moment
from fleetc.observe.lines import Line, line_of
from fleetc.observe.shapes import shape_of
from fleetc.upstream.messages import CallSite

ERROR, START, END, ORDERLY, TRACE = "error", "start", "end", "orderly", "trace"
"""What a line is to a life; a node that somebody stopped ends in order, and a trace tells where a program ended."""

_STARTS = ("*----", "***Livepeer is running on the", "Livepeer Node version: ")
"""The first words of lines that a start prints, in their order; the first one is printed twice."""
_ENDS = re.compile(
    r"panic: |fatal error: |\S+: Main process exited, code=(?!exited, status=0)|"
    r".*\bexited with code [1-9]|.*Out of memory: Killed process [0-9]+ \(livepeer|Shutdown timed out, forcing exit"
)
_ORDERLY = re.compile(r"Exiting Livepeer: |Graceful shutdown complete|\S+: Main process exited, code=exited, status=0")
_COMPOSE = re.compile(rb"[\w.-]{1,80}(?:\|[\w.-]{1,80})? +\| ")
_TRACE = re.compile(r"github\.com/livepeer/[\w./-]*?([\w-]+\.(?:\(\*\w+\)\.)?\w+)[.(]")
_NAMES = 200  # characters of a trace that name a function
_ERRORS = 8
_MANY = 200
_LONGEST = 4000

SILENCE = ""
"""The words of a life that ended without any."""


def role_of(line: Line, site: CallSite | None, is_error: bool) -> str:
    """What a line is to the life of the process that wrote it; "" for most."""
    if line.text.startswith(_STARTS):
        return START
    if _ORDERLY.match(line.text):
        return ORDERLY
    if _TRACE.match(line.text, 0, _NAMES):
        return TRACE
    if _ENDS.match(line.text) or (site is not None and site.ends):
        return END
    return ERROR if is_error else ""


@dataclass(slots=True)
class Ended:
    """Lives that ended with the same words. `befores` are the last errors before, the first of many.

    `line` is the number of the first such line in its log, and `text` what it says.
    """

    words: str
    log: str
    line: int
    text: str
    site: CallSite | None = None
    code: str = ""
    count: int = 0
    first: Moment | None = None
    last: Moment | None = None
    befores: dict[str, None] = field(default_factory=dict)
    inside: str = ""
    """The function of the node in which the first of them ended, if the log has it."""


@dataclass(slots=True)
class _Life:
    """What is known of the process that one writer of a log has now."""

    open: bool = True
    started: bool = False
    rank: int = -1
    ended: Ended | None = None


class Lives:
    """The lives in some logs."""

    def __init__(self) -> None:
        self.starts = 0
        self._ends: dict[tuple[str, str], Ended] = {}
        self._of: dict[bytes, _Life] = {}
        self._errors: deque[tuple[bytes, bool]] = deque(maxlen=_ERRORS)

    def __iter__(self) -> Iterator[Ended]:
        return iter(self._ends.values())

    def begin_log(self) -> None:
        """Forget who wrote the last log; what ended in it stays."""
        self._of.clear()
        self._errors.clear()

    def error(self, raw: bytes, known: bool) -> None:
        """A line that may be the last error of a life; `known`: a page says why."""
        self._errors.append((raw, known))

    def start(self, raw: bytes, line: Line, ended: Ended) -> None:
        """A line of a start; `ended` is where the life before it ended without a word, if it did."""
        rank = next(rank for rank, words in enumerate(_STARTS) if line.text.startswith(words))
        life = self._life(raw)
        if life.open and (rank > life.rank or rank == life.rank == 0):
            if life.rank < 0 and not life.started:
                self.starts += 1
                life.started = True
            life.rank = rank
            return
        if life.open and life.started:
            self._add(ended, "", None)
        self.starts += 1
        life.open, life.started, life.rank, life.ended = True, True, rank, None

    def end(self, raw: bytes, ended: Ended, orderly: bool, when: Moment | None) -> None:
        """A line that ends a life. More such lines before the next start tell of the same end."""
        life = self._life(raw)
        again, life.open = not life.open, False
        if orderly or (again and ended.site is None):
            return
        life.ended = self._add(ended, self._before(raw, ended.text), when)
        self._errors.clear()

    def trace(self, raw: bytes, line: Line) -> None:
        """A function of the node in the trace behind an end; the first one is where it ended."""
        ended, match = self._life(raw).ended, _TRACE.match(line.text, 0, _NAMES)
        if ended is not None and match is not None:
            ended.inside = ended.inside or match[1]

    def _add(self, ended: Ended, before: str, when: Moment | None) -> Ended:
        known = self._ends.get((ended.words, ended.code))
        if known is None:
            known = ended
            if len(self._ends) < _MANY:
                self._ends[ended.words, ended.code] = ended
        known.count += 1
        known.first, known.last = known.first or when, when or known.last
        if before and len(known.befores) < _ERRORS:
            known.befores[before] = None
        return known

    def _life(self, raw: bytes) -> _Life:
        writer = _writer(raw)
        if writer not in self._of and len(self._of) >= _MANY:
            self._of.clear()
        return self._of.setdefault(writer, _Life())

    def _before(self, raw: bytes, end: str) -> str:
        """The shape of the last error of the same writer that does not say the same, one with a page if there is one;
        "" without any.
        """
        said = end.rpartition(": ")[2] or end
        for error, _ in sorted(self._errors, key=lambda one: one[1])[::-1]:
            line = line_of(error)
            if _writer(error) == _writer(raw) and said not in line.text and line.text not in end:
                return shape_of(line.text)
        return ""


def _writer(raw: bytes) -> bytes:
    """Who wrote a line, where `docker compose logs` names the container; else one for the whole log."""
    match = _COMPOSE.match(raw)
    return match[0] if match else b""
