"""What the spec states for a while: silences, and what is out of service; and what is wrong with both.

In: a fleet, and what was found in it. Out: the remaining diagnostics (`heard`), and those about the statements.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date

from fleetc.language.fleet import Fleet
from fleetc.language.host import Out, Silence
from fleetc.places.diagnostic import Diagnostic, Label, Path, Severity, Span, error, fix_remove, note, warning
from fleetc.toml import comments

_POLICY = "policy/"
"""What codes of the rules beside a spec begin with."""

SOON = 14
"""How many days before its end a statement has a note."""

CODES = frozenset({"silence-ends-soon", "silence-expired", "silenced-error", "unknown-silence", "unused-silence"})
"""The codes about silences, which need all rules to run."""


def of_outs(fleet: Fleet, today: date | None) -> Iterator[Diagnostic]:
    """What is out of service and ends soon, or should be back: nothing comes back by a date."""
    tables: list[tuple[Path, Out | None]] = [(("hosts", name), host.out) for name, host in sorted(fleet.hosts.items())]
    for path, out in (*tables, *((node.path, node.settings.out) for node in fleet.nodes)):
        if out is None or today is None:
            continue
        place = (*path, "out")
        if out.until < today:
            message = f"{path[1]} was out of service {out.words}, and today is {today}"
            label = Label((*place, "until"), _answers(out.owner))
            yield error("out-of-service-expired", message, label, help="remove it, or write another day")
        else:
            yield from _ending("out-of-service-ends-soon", f"{path[1]} is out of service", place, out, today)


def _answers(owner: str | None) -> str:
    return f"{owner} answers for it" if owner else ""


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

    For a warning: (), its place and each place above it. For a doubted error: its exact place. Else none.
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


def of_silences(
    fleet: Fleet,
    found: Sequence[Diagnostic],
    of_rules: Iterable[str],
    policies: Mapping[str, bool] | None,
    today: date | None,
) -> Iterator[Diagnostic]:
    """A silence that names no rule, that has ended, that tries to silence an error, or that silences nothing."""
    codes = {comments.TODO_LEFT, *of_rules, *(policies or ())}
    errors = {d.code for d in found if d.severity is Severity.ERROR}
    doubted = {d.code for d in found if d.doubted is not None}
    covered = {key for diagnostic in found for key in _keys(diagnostic)}
    for name, silence in sorted(fleet.silences.items()):
        place = Label(("silences", name, "code"))
        if silence.code.startswith(_POLICY) and (policies is None or policies.get(silence.code) is False):
            continue  # that rule did not run
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
            held = f'the silence of "{silence.code}" holds'
            yield from _ending("silence-ends-soon", held, ("silences", name), silence, today)
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
    place = Label(("silences", name, "until"), _answers(silence.owner))
    if not covers:
        remove = fix_remove(("silences", name))
        return error("silence-expired", message, place, help="nothing here gives this warning: remove it", fix=remove)
    advice = "repair the cause and remove the silence, or agree on another day with its owner"
    return error("silence-expired", message, place, help=advice)


def _ending(code: str, what: str, path: Path, stated: Silence | Out, today: date | None) -> Iterator[Diagnostic]:
    """A statement whose last day is near."""
    if stated.until is None or today is None or (stated.until - today).days > SOON:
        return
    days = (stated.until - today).days
    when = "which is today" if days == 0 else f"{days} day{'' if days == 1 else 's'} from today ({today})"
    place = Label((*path, "until"), _answers(stated.owner))
    yield note(code, f"{what} until {stated.until}, {when}", place, help="it is an error from the next day on")
