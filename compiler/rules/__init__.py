"""The registry of whole-fleet checks: one file per rule, found by listing this package.

In: a sound `Fleet`. Out: diagnostics (`check`). A rule's file name is its code with underscores for hyphens; its
docstring is the page that `fleetc explain` prints: one sentence, then the parts Why, Example and Instead. Its function
`check(fleet)` yields diagnostics. Rules never import one another and never look at anything but the fleet.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from typing import NamedTuple

from compiler.diagnostics import Diagnostic, Label, Offset, Path, Severity, error, fix_remove, warning
from compiler.model.fleet import Fleet


class Rule(NamedTuple):
    """One check: its code, its page, and its function."""

    code: str
    page: str
    check: Callable[[Fleet], Iterable[Diagnostic]]


@cache
def rules() -> tuple[Rule, ...]:
    """All rules, sorted by code."""
    found = []
    for module in pkgutil.iter_modules(__path__):
        loaded = import_module(f"{__name__}.{module.name}")
        found.append(Rule(module.name.replace("_", "-"), loaded.__doc__ or "", loaded.check))
    return tuple(sorted(found, key=lambda rule: rule.code))


def check(fleet: Fleet) -> list[Diagnostic]:
    """Run every rule, then take away the warnings that the spec silences with a reason."""
    fleet.suggestions.restart()
    found = [diagnostic for rule in rules() for diagnostic in rule.check(fleet)]
    return [*_heard(fleet, found), *_silences(fleet, found)]


def _heard(fleet: Fleet, found: list[Diagnostic]) -> Iterator[Diagnostic]:
    silenced = [(s.code, s.at) for s in fleet.silence]
    for diagnostic in found:
        if diagnostic.severity is not Severity.WARNING or not any(_covers(s, diagnostic) for s in silenced):
            yield diagnostic


def _covers(silence: tuple[str, str | None], diagnostic: Diagnostic) -> bool:
    code, at = silence
    place = diagnostic.primary.place
    if code != diagnostic.code or isinstance(place, Offset):
        return False
    return at is None or _dotted(place) == at or _dotted(place).startswith(at + ".")


def _dotted(path: Path) -> str:
    return ".".join(map(str, path))


def _silences(fleet: Fleet, found: list[Diagnostic]) -> Iterator[Diagnostic]:
    """A silence that names no rule, that tries to silence an error, or that silences nothing."""
    codes = {rule.code for rule in rules()}
    for index, silence in enumerate(fleet.silence):
        place = Label(("silence", index, "code"))
        if silence.code not in codes:
            yield error(
                "unknown-silence", f'there is no warning "{silence.code}"', place, help="fleetc explain lists the codes"
            )
            continue
        covered = [d for d in found if d.code == silence.code]
        if any(d.severity is Severity.ERROR for d in covered):
            yield error(
                "silenced-error", f'"{silence.code}" is an error and cannot be silenced', place, help="repair its cause"
            )
        elif not any(_covers((silence.code, silence.at), d) for d in covered):
            yield warning(
                "unused-silence",
                f'nothing here gives the warning "{silence.code}" any more',
                place,
                help="take it away",
                fix=fix_remove(("silence", index)),
            )
