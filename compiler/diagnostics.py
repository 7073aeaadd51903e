"""The one shape of a message about the user's fleet, and its total order.

In: facts found by any stage. Out: `Diagnostic` values, which hold key paths and never lines; `render.py` turns a
path into file, line and column. Every stage of the compiler returns (value, diagnostics).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum

Path = tuple[str | int, ...]
"""A key path into the spec, such as ("gateways", "gw-eu", "max_price") or ("hosts", "gpu-1", "gpus", 0)."""


class Severity(IntEnum):
    """How bad it is. Errors stop the compile; warnings can be silenced in the spec, by code, with a reason."""

    ERROR = 0
    WARNING = 1
    NOTE = 2


@dataclass(frozen=True, slots=True)
class Offset:
    """A place in a source text that has no key path (syntax, encoding): offsets in characters, end exclusive."""

    source: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Label:
    """A place and what stands there. `on_key` points at the key instead of its value.

    `secret` says that the lines of the place hold a secret, so that they are never printed.
    """

    place: Path | Offset
    note: str = ""
    on_key: bool = False
    secret: bool = False


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A message: `code` is a stable slug, `message` one sentence, `help` says what to write instead."""

    code: str
    severity: Severity
    message: str
    primary: Label
    related: tuple[Label, ...] = field(default=())
    help: str = ""


def error(code: str, message: str, primary: Label, related: Iterable[Label] = (), help: str = "") -> Diagnostic:
    """Build an error."""
    return Diagnostic(code, Severity.ERROR, message, primary, tuple(related), help)


def warning(code: str, message: str, primary: Label, related: Iterable[Label] = (), help: str = "") -> Diagnostic:
    """Build a warning."""
    return Diagnostic(code, Severity.WARNING, message, primary, tuple(related), help)


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    """True when at least one diagnostic is an error."""
    return any(d.severity is Severity.ERROR for d in diagnostics)
