"""The registry of whole-fleet checks: one file per rule, in folders by subject, found by listing them.

In: a sound `Fleet`, and what was found in its texts before. Out: diagnostics (`check`). A rule's file name is its code
with underscores for hyphens. Its docstring is its page of `fleetc explain`: one sentence, then Why, Example, Instead.
Its function `check(fleet)` yields diagnostics. Rules never import one another and never look at anything but the fleet.
A folder may have a function `concerns(fleet)`: where that is false, its rules find nothing, and are not even imported.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import date
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic
from fleetc.rules import silences


class Rule(NamedTuple):
    """One check: its code, its page, its function, and the folder it lies in."""

    code: str
    page: str
    check: Callable[[Fleet], Iterable[Diagnostic]]
    subject: str


@cache
def rules() -> tuple[Rule, ...]:
    """All rules, sorted by code."""
    return _sorted(_folders())


def asked(fleet: Fleet) -> tuple[Rule, ...]:
    """The rules that apply to a fleet, sorted by code."""
    folders = _folders().items()
    return _sorted(name for name, folder in folders if not hasattr(folder, "concerns") or folder.concerns(fleet))


@cache
def subjects() -> dict[str, str]:
    """The folders of rules, sorted, each with its sentence."""
    return {name: folder.__doc__ or "" for name, folder in _folders().items()}


@cache
def _folders() -> dict[str, ModuleType]:
    names = sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg)
    return {name: import_module(f"{__name__}.{name}") for name in names}


@cache
def _codes(subject: str) -> dict[str, str]:
    """The codes of the rules in a folder, each with its module."""
    modules = pkgutil.iter_modules(_folders()[subject].__path__, f"{__name__}.{subject}.")
    return {module.name.rpartition(".")[2].replace("_", "-"): module.name for module in modules}


@cache
def _of_subject(subject: str) -> tuple[Rule, ...]:
    loaded = ((code, import_module(module)) for code, module in _codes(subject).items())
    return tuple(Rule(code, module.__doc__ or "", module.check, subject) for code, module in loaded)


def _sorted(names: Iterable[str]) -> tuple[Rule, ...]:
    return tuple(sorted((rule for name in names for rule in _of_subject(name)), key=lambda rule: rule.code))


def check(
    fleet: Fleet,
    more: Iterable[Diagnostic] = (),
    policies: Mapping[str, bool] | None = None,
    today: date | None = None,
    codes: Collection[str] | None = None,
) -> list[Diagnostic]:
    """Run each rule that a fleet concerns; leave out what the spec silences, of what they find and of `more`.

    `policies` are the codes of the rules beside the spec, and whether their findings would be in `more`; None if they
    did not run. Silences and `out` that ended before `today` are errors. Without a day all hold, so their end makes no
    sealed plan invalid. With `codes`, all findings of these codes are there, and others may be missing.
    """
    fleet.suggestions.restart()
    whole = codes is None or not silences.CODES.isdisjoint(codes)
    wanted = [rule for rule in asked(fleet) if whole or rule.code in (codes or ())]
    found = [*more, *(diagnostic for rule in wanted for diagnostic in rule.check(fleet))]
    left = [*silences.heard(fleet, found, today), *silences.of_outs(fleet, today)]
    if whole:
        of_rules = (code for subject in _folders() for code in _codes(subject))
        left += silences.of_silences(fleet, found, of_rules, policies, today)
    return left
