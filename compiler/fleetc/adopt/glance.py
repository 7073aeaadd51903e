"""What people must see first of an adoption: the nodes, what the spec asks, and what changes for what runs today.

In: `Adopted`. Out: lines, as few as that takes. The account of every word, and each path with both of its values, are
in the report.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fleetc.adopt.adoption import Adopted
from fleetc.adopt.compare import PRICED_FLAGS, Difference
from fleetc.adopt.filling import PATHS
from fleetc.adopt.questions import options_of, questions_in
from fleetc.adopt.report import beside_lines
from fleetc.language.fleet import NODE_TABLES
from fleetc.text import leaks

_MOST = 15
"""Lines of one kind; what is about money, or has no reason, counts for none of them."""
_MOST_NAMES = 4
_WIDEST = 200
_MONEY = frozenset({*PRICED_FLAGS, "reward", "ethAcctAddr", "aiModels"})
_REST = "--report text has all of them"


def hosts(found: Adopted) -> dict[str, list[str]]:
    """The nodes of each host, as the spec has them: with those of an earlier one, which may be elsewhere by now."""
    of_host: dict[str, list[str]] = {}
    if found.blueprint is None:
        for one in found.nodes:
            of_host.setdefault(one.host, []).append(one.name)
        return of_host
    for host in found.blueprint.hosts:
        names = [one.name for one in host.services if one.table in NODE_TABLES]
        if names:
            of_host[host.name] = names
    return of_host


def nodes(found: Adopted) -> Iterator[str]:
    """The hosts, each with the nodes that run on it."""
    yield from _capped([f"  {host}: {_named(names)}" for host, names in hosts(found).items()], "hosts")


def questions(found: Adopted, spec: str) -> Iterator[str]:
    """Each TODO line with its place in the spec, which is called `spec`."""
    asked = list(questions_in(found.text))
    if not asked:
        return
    yield f"asked, by the line of {spec}:" if spec else "asked, by the line of the spec:"
    brief = ((one, leaks.shown(one.without_options(" (see the command below)"))) for one in asked)
    lines = [f"  {one.line} [{one.table}] {words}" for one, words in brief]
    yield from _capped([line if len(line) <= _WIDEST else f"{line[:_WIDEST]}..." for line in lines], "questions")


def options(found: Adopted) -> str:
    """The options with which adopting again answers questions, in the words of a command; "" where none does."""
    return options_of(questions_in(found.text))


def changes(found: Adopted) -> Iterator[str]:
    """What the spec sets otherwise than what runs, nodes and paths together where they change for one reason."""
    if not found.differences:
        return
    plain = [one for one in found.differences if one.flag not in PATHS]
    urgent = [one for one in plain if not one.reason or one.flag.partition(" ")[0] in _MONEY]
    yield f"settings that change for what runs today, {len(found.differences)} of {found.compared}:"
    yield from _values(urgent)
    others = [*_values([one for one in plain if one not in urgent]), *_paths(found.differences)]
    yield from _capped(others, "changes")


def beside(found: Adopted) -> Iterator[str]:
    """What changes for the processes of today beside their settings."""
    lines = list(beside_lines(found.beside))
    if lines:
        yield "beside the settings, this changes for what runs today:"
        yield from _capped(lines, "lines")


def _values(found: Iterable[Difference]) -> Iterator[str]:
    """A line for each setting with its values, and all nodes where they are the same."""
    of_change: dict[tuple[str, str, str, str], list[str]] = {}
    for one in found:
        of_change.setdefault((one.setting, one.today, one.compiled, one.reason), []).append(one.node)
    for (setting, today, compiled, reason), names in of_change.items():
        why = reason or "no reason is known: look at it before you deploy"
        yield f"  {_named(names)} {setting}: {today} -> {compiled}: {why}"


def _paths(found: Iterable[Difference]) -> Iterator[str]:
    """A line for each reason for which paths change."""
    of_reason: dict[str, dict[str, list[str]]] = {}
    for one in found:
        if one.flag in PATHS and one.reason:
            of_reason.setdefault(one.reason, {}).setdefault(one.setting, []).append(one.node)
    for reason, settings in of_reason.items():
        for names, flags in _alike(settings).items():
            yield f"  {_named(names)} {', '.join(flags)}: {reason}"


def _alike(settings: dict[str, list[str]]) -> dict[tuple[str, ...], list[str]]:
    """The settings of the same nodes together."""
    found: dict[tuple[str, ...], list[str]] = {}
    for setting, names in settings.items():
        found.setdefault(tuple(names), []).append(setting)
    return found


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def _capped(lines: list[str], what: str) -> Iterator[str]:
    yield from lines if len(lines) <= _MOST + 1 else lines[:_MOST]
    if len(lines) > _MOST + 1:
        yield f"  {len(lines) - _MOST} more {what}: {_REST}"
