"""The one shape of a message about the user's fleet, and its total order.

In: facts found by any stage. Out: `Diagnostic` values, which hold key paths and never lines; `messages/locate.py` turns
a path into file, line and column. Every stage of the compiler returns (value, diagnostics).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import IntEnum, StrEnum

Path = tuple[str | int, ...]
"""A key path into the spec, such as ("gateways", "gw-eu", "max_price") or ("hosts", "gpu-1", "gpus", 0)."""


class Severity(IntEnum):
    """How bad it is. Errors stop the compile; warnings, and an error that may be a false alarm, can be silenced."""

    ERROR = 0
    WARNING = 1
    NOTE = 2


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a source text: offsets in characters, the end exclusive. Syntax errors have no key path, only
    this."""

    source: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Label:
    """A place and a note about it. `on_key` points at the key instead of its value.

    `secret`: the lines of the place hold a secret and are never printed.
    """

    place: Path | Span
    note: str = ""
    on_key: bool = False
    secret: bool = False


class EditKind(StrEnum):
    """What an edit does: replace a value, add a key, rename a key, or remove a key or item."""

    SET = "set"
    INSERT = "insert"
    RENAME = "rename"
    REMOVE = "remove"


Value = str | bool | int | Decimal | date | tuple[str | int, ...] | tuple[tuple[str, str], ...]
"""What an edit may write: text, true or false, a number, a day, a list, or a table in braces of pairs."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of the spec at a key path; `fixes.py` finds the text. `value` is the new value, or the new name."""

    path: Path
    action: EditKind
    value: Value = ""


@dataclass(frozen=True, slots=True)
class Fix:
    """The certain repair of a problem: what anybody would write who read the message. All its edits or none."""

    edits: tuple[Edit, ...]


def fix_set(path: Path, value: Value) -> Fix:
    """Write another value at a path that exists."""
    return Fix((Edit(path, EditKind.SET, value),))


def fix_insert(path: Path, value: Value) -> Fix:
    """Add a key that its table lacks."""
    return Fix((Edit(path, EditKind.INSERT, value),))


def fix_rename(path: Path, name: str) -> Fix:
    """Give the key at a path another name."""
    return Fix((Edit(path, EditKind.RENAME, name),))


def fix_remove(path: Path) -> Fix:
    """Take away a key, or an item of a list."""
    return Fix((Edit(path, EditKind.REMOVE),))


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A message: `code` is a stable slug, `message` one sentence, `help` what to write instead.

    `fix` is there only when the repair is certain; `fleetc check --fix` makes it. `messages/offers.py` reads further
    ones from `help`, which nothing makes by itself. `doubted` is set on an error that may be a false alarm: only such
    an error can be silenced, by exactly this path. On a warning that points into the text, it is the path that the
    warning speaks of, for silences too. `members` are the tables that share the problem: one line makes them all.
    """

    code: str
    severity: Severity
    message: str
    primary: Label
    related: tuple[Label, ...] = field(default=())
    help: str = ""
    fix: Fix | None = None
    doubted: Path | None = None
    members: tuple[Path, ...] = ()


def error(
    code: str, message: str, primary: Label, related: Iterable[Label] = (), help: str = "", fix: Fix | None = None
) -> Diagnostic:
    """Build an error."""
    return Diagnostic(code, Severity.ERROR, message, primary, tuple(related), help, fix)


def warning(
    code: str, message: str, primary: Label, related: Iterable[Label] = (), help: str = "", fix: Fix | None = None
) -> Diagnostic:
    """Build a warning."""
    return Diagnostic(code, Severity.WARNING, message, primary, tuple(related), help, fix)


def note(code: str, message: str, primary: Label, related: Iterable[Label] = (), help: str = "") -> Diagnostic:
    """Build a note: worth knowing, and nothing is wrong."""
    return Diagnostic(code, Severity.NOTE, message, primary, tuple(related), help)


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    """True when at least one diagnostic is an error."""
    return any(d.severity is Severity.ERROR for d in diagnostics)
