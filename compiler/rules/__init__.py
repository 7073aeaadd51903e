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

from compiler.diagnostics import Diagnostic, Label, Offset, Severity, error, fix_remove, warning
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
    silenced = {(s.code, s.at) for s in fleet.silence}
    for diagnostic in found:
        if diagnostic.severity is not Severity.WARNING or not any(key in silenced for key in _keys(diagnostic)):
            yield diagnostic


def _keys(diagnostic: Diagnostic) -> Iterator[tuple[str, str | None]]:
    """The silences that would cover a diagnostic, as code and place: everywhere, its place, and each above that."""
    place = diagnostic.primary.place
    if isinstance(place, Offset):
        return
    yield diagnostic.code, None
    dotted = ".".join(map(str, place))
    end = len(dotted)
    while end > 0:
        yield diagnostic.code, dotted[:end]
        end = dotted.rfind(".", 0, end)


def _silences(fleet: Fleet, found: list[Diagnostic]) -> Iterator[Diagnostic]:
    """A silence that names no rule, that tries to silence an error, or that silences nothing."""
    codes = {rule.code for rule in rules()}
    errors = {d.code for d in found if d.severity is Severity.ERROR}
    covered = {key for diagnostic in found for key in _keys(diagnostic)}
    for index, silence in enumerate(fleet.silence):
        place = Label(("silence", index, "code"))
        if silence.code not in codes:
            yield error(
                "unknown-silence", f'there is no warning "{silence.code}"', place, help="fleetc explain lists the codes"
            )
        elif silence.code in errors:
            yield error(
                "silenced-error", f'"{silence.code}" is an error and cannot be silenced', place, help="repair its cause"
            )
        elif (silence.code, silence.at) not in covered:
            yield warning(
                "unused-silence",
                f'nothing here gives the warning "{silence.code}" any more',
                place,
                help="take it away",
                fix=fix_remove(("silence", index)),
            )
