"""The account of an adoption: what became of each word of the sources, and what people must know of them.

In: places of sources. Out: `Ledger`, which every reader and builder keeps.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from fleetc.places.diagnostic import Diagnostic, Label, Severity, Span

TWO_WAYS = (
    "ask the host that runs it: fleetc adopt --from NAME=ADDRESS; or paste the command as it runs there, as "
    "ps -ww -o args= -C livepeer prints it"
)
"""What people do where a source says what starts in a way that is not read."""


class Fate(StrEnum):
    """What became of a word of a source."""

    UNDERSTOOD = "understood"
    KEPT = "kept in extra_flags"
    DROPPED = "dropped"
    REPLACED = "replaced by"
    MISTAKE = "a mistake today"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the account: a place of a source, what stands there as it may be shown, and what became of it.

    `words` say where it went, why it was dropped, or the file and line that replace it. `code` is that of the
    diagnostic about a mistake.
    """

    span: Span
    shown: str
    fate: Fate
    words: str
    code: str = ""


class InClear(NamedTuple):
    """A secret that stands in a source: the variable that the spec has for it, and where it stands.

    `keeper` is the host that keeps the value to itself; "" where the value stands in the source.
    """

    variable: str
    span: Span
    keeper: str = ""


@dataclass
class Ledger:
    """What readers and builders leave beside their values: the account, and what people must know."""

    entries: dict[Entry, None] = field(default_factory=dict)
    in_clear: list[InClear] = field(default_factory=list)
    _findings: dict[tuple[str, Span, str], Diagnostic] = field(default_factory=dict)

    @property
    def findings(self) -> tuple[Diagnostic, ...]:
        """What people must know, each once."""
        return tuple(self._findings.values())

    def note(self, span: Span, shown: str, fate: Fate, words: str, code: str = "") -> None:
        """Account for something, once."""
        self.entries[Entry(span, shown, fate, words, code)] = None

    def take(self, other: Ledger) -> None:
        """All of another account within this one."""
        self.entries |= other.entries
        self._findings |= other._findings
        self.in_clear += other.in_clear

    def mistake(self, code: str, span: Span, shown: str, message: str, help: str) -> None:
        """A mistake that the node makes today: a warning, and a line of the account."""
        self.note(span, shown, Fate.MISTAKE, message, code)
        self.warn(code, span, message, help)

    def not_followed(self, span: Span, what: str) -> None:
        """Something that may start a node, and that fleetc does not follow."""
        self.note(span, "livepeer", Fate.DROPPED, what, "adopt-branch-not-followed")
        self.warn("adopt-branch-not-followed", span, f"fleetc does not follow {what}", TWO_WAYS)

    def warn(self, code: str, span: Span, message: str, help: str) -> None:
        """Something that people must look at."""
        self._add(code, Severity.WARNING, span, message, help)

    def refuse(self, code: str, span: Span, message: str, help: str) -> None:
        """Something for which no spec can be written."""
        self._add(code, Severity.ERROR, span, message, help)

    def remark(self, code: str, span: Span, message: str, help: str) -> None:
        """Something worth knowing."""
        self._add(code, Severity.NOTE, span, message, help)

    def _add(self, code: str, severity: Severity, span: Span, message: str, help: str) -> None:
        self._findings.setdefault((code, span, message), Diagnostic(code, severity, message, Label(span), help=help))
