"""The registry of whole-fleet checks: one file per rule, in folders by subject, found by listing them.

In: a sound `Fleet`, and what was found in its texts before. Out: diagnostics (`check`). A rule's file name is its code
with underscores for hyphens; its docstring is the page that `fleetc explain` prints: one sentence, then the parts Why,
Example and Instead. Its function `check(fleet)` yields diagnostics. Rules never import one another and never look
at anything but the fleet. A folder may have a function `concerns(fleet)`: where that is false, its rules find nothing,
and are not even imported.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import date
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

from fleetc.language.fleet import Fleet
from fleetc.language.host import Silence
from fleetc.places.diagnostic import Diagnostic, Label, Path, Severity, Span, error, fix_remove, note, warning
from fleetc.toml import comments

_POLICY = "policy/"
"""What codes of the rules beside a spec begin with."""


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
    """The rules that may find something in a fleet, sorted by code."""
    folders = _folders().items()
    return _sorted(name for name, folder in folders if not hasattr(folder, "concerns") or folder.concerns(fleet))


@cache
def subjects() -> dict[str, str]:
    """The folders of rules, sorted, each with its sentence."""
    return {name: folder.__doc__ or "" for name, folder in _folders().items()}


@cache
def _folders() -> dict[str, ModuleType]:
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
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


SOON = 14
"""How many days before a silence ends people hear of it."""

_OF_SILENCES = frozenset(
    {"silence-ends-soon", "silence-expired", "silenced-error", "unknown-silence", "unused-silence"}
)
"""The codes of what is said of silences, for which all rules have to be asked."""


def check(
    fleet: Fleet,
    more: Iterable[Diagnostic] = (),
    policies: Mapping[str, bool] | None = None,
    today: date | None = None,
    codes: Collection[str] | None = None,
) -> list[Diagnostic]:
    """Run each rule that a fleet concerns; leave out what the spec silences, of what they find and of `more`.

    `policies` are the codes of the rules beside the spec, and whether their findings would be in `more`; None if nobody
    asked them. Silences that ended before `today` take nothing away, and are errors; without a day all of them hold,
    so the end of a silence makes no sealed plan invalid.
    With `codes`, all findings of these codes are there, and others may be missing.
    """
    fleet.suggestions.restart()
    whole = codes is None or not _OF_SILENCES.isdisjoint(codes)
    wanted = [rule for rule in asked(fleet) if whole or rule.code in (codes or ())]
    found = [*more, *(diagnostic for rule in wanted for diagnostic in rule.check(fleet))]
    return [*heard(fleet, found, today), *(_silences(fleet, found, policies, today) if whole else ())]


def _ended(silence: Silence, today: date | None) -> bool:
    return silence.until is not None and today is not None and silence.until < today


def heard(fleet: Fleet, found: Iterable[Diagnostic], today: date | None = None) -> Iterator[Diagnostic]:
    """What the spec does not silence."""
    silenced = {(s.code, s.at) for s in fleet.silences.values() if not _ended(s, today)}
    for diagnostic in found:
        if not any(key in silenced for key in _keys(diagnostic)):
            yield diagnostic


def _keys(diagnostic: Diagnostic) -> Iterator[tuple[str, str | None]]:
    """The silences that would remove a diagnostic, as code and place.

    For a warning: everywhere, its place, and each above that, by the path that it speaks of where it points into the
    text; for a doubted error, exactly its place; for others none.
    """
    if diagnostic.severity is Severity.ERROR:
        if diagnostic.doubted is not None:
            yield diagnostic.code, _dotted(diagnostic.doubted)
        return
    place = diagnostic.primary.place
    if isinstance(place, Span):
        if diagnostic.doubted is None:
            return
        place = diagnostic.doubted
    yield diagnostic.code, None
    dotted = _dotted(place)
    end = len(dotted)
    while end > 0:
        yield diagnostic.code, dotted[:end]
        end = dotted.rfind(".", 0, end)


def _dotted(path: Path) -> str:
    return ".".join(map(str, path))


def _silences(
    fleet: Fleet, found: list[Diagnostic], policies: Mapping[str, bool] | None, today: date | None
) -> Iterator[Diagnostic]:
    """A silence that names no rule, that has ended, that tries to silence an error, or that silences nothing."""
    of_rules = (code for subject in _folders() for code in _codes(subject))
    codes = {comments.TODO_LEFT, *of_rules, *(policies or ())}
    errors = {d.code for d in found if d.severity is Severity.ERROR}
    doubted = {d.code for d in found if d.doubted is not None}
    covered = {key for diagnostic in found for key in _keys(diagnostic)}
    for name, silence in sorted(fleet.silences.items()):
        place = Label(("silences", name, "code"))
        if silence.code.startswith(_POLICY) and (policies is None or policies.get(silence.code) is False):
            continue  # nobody asked that rule
        if silence.code not in codes:
            yield error(
                "unknown-silence", f'there is no warning "{silence.code}"', place, help="fleetc explain lists the codes"
            )
            continue
        covers = (silence.code, silence.at) in covered
        if _ended(silence, today):
            yield _expired(name, silence, today, covers)
            continue
        if covers:
            yield from _ending(name, silence, today)
            continue
        if silence.code in errors:
            advice = "repair its cause"
            if silence.code in doubted:
                advice += "; a false alarm is silenced at the one place that it names"
            yield error("silenced-error", f'"{silence.code}" is an error and cannot be silenced', place, help=advice)
        else:
            yield warning(
                "unused-silence",
                f'nothing here gives the warning "{silence.code}" any more',
                place,
                help="remove it",
                fix=fix_remove(("silences", name)),
            )


def _expired(name: str, silence: Silence, today: date | None, covers: bool) -> Diagnostic:
    """A silence after its last day; where it would take nothing away any more, it only has to go."""
    message = f'the silence of "{silence.code}" held until {silence.until}, and today is {today}'
    place = Label(("silences", name, "until"), f"{silence.owner} answers for it")
    if not covers:
        remove = fix_remove(("silences", name))
        return error("silence-expired", message, place, help="nothing here gives this warning: remove it", fix=remove)
    advice = "repair the cause and remove the silence, or agree on another day with its owner"
    return error("silence-expired", message, place, help=advice)


def _ending(name: str, silence: Silence, today: date | None) -> Iterator[Diagnostic]:
    """A silence whose last day is near."""
    if silence.until is None or today is None or (silence.until - today).days > SOON:
        return
    days = (silence.until - today).days
    when = "which is today" if days == 0 else f"{days} day{'' if days == 1 else 's'} from today ({today})"
    message = f'the silence of "{silence.code}" holds until {silence.until}, {when}'
    place = Label(("silences", name, "until"), f"{silence.owner} answers for it")
    yield note("silence-ends-soon", message, place, help="it is an error from the next day on")
