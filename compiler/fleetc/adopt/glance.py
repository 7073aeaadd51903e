"""What people must see first of an adoption: the nodes, what the spec asks, and what changes for what runs today.

In: `Adopted`. Out: lines, as few as that takes, gravest first. The account of every word, each path with both of its
values, and what is written otherwise and means the same are in the report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from fleetc.adopt import asking_words
from fleetc.adopt.adoption import Adopted
from fleetc.adopt.bounds import ALTERED
from fleetc.adopt.compare import PRICED_FLAGS, Difference
from fleetc.adopt.filling import PATHS
from fleetc.adopt.price_lists import TOKENS
from fleetc.adopt.questions import Kind, Question, options_of, questions_in
from fleetc.adopt.report import UNEXPLAINED, beside_lines, doubt_lines
from fleetc.adopt.unread import doubts
from fleetc.adopt.words import InClear, Same
from fleetc.language.fleet import NODE_TABLES
from fleetc.messages.locate import Located
from fleetc.text import leaks
from fleetc.text.encoders import visible
from fleetc.toml.document import LineMap

_MOST = 15
"""Lines of one kind; what is about money, or has no reason, counts for none of them."""
_MOST_NAMES = 4
_MOST_PLACES = 4
_MANY = 3
"""Settings of a node that change for one reason: so many are one line, without values."""
_MOST_WORDS = 12
"""Words of a question; a longer one is cut at the end of its first sentence."""
MONEY = frozenset({*PRICED_FLAGS, "reward", "ethAcctAddr", "aiModels"})
_SAFETY = frozenset({"cliAddr", "httpAddr", "rtmpAddr", "serviceAddr", "orchSecret", "authWebhookUrl", "httpIngest"})
"""Settings that say who reaches a node, and who may use it."""
_DEAD = frozenset({"adopt-setting-unread", "adopt-setting-overridden"})
"""Messages about what does nothing today: the spec leaves it out, so there is nothing to repair."""
_OURS = {
    "systemd": "every new unit has fleetc's restart, sandbox and HOME settings",
    "docker": "every new container has fleetc's restart, stop time and log limits",
}
"""What no source sets, by the runtime of a host."""
_REST = "--report text has all of them"


def hosts(found: Adopted) -> dict[str, list[str]]:
    """The nodes of each host, as the spec has them: with those of an earlier one, which may be elsewhere by now. Behind
    the name stands a release that most do not run.
    """
    of_host: dict[str, list[str]] = {}
    if found.blueprint is None:
        for one in found.nodes:
            of_host.setdefault(one.host, []).append(one.name)
        return of_host
    every = [one.node_release for host in found.blueprint.hosts for one in host.services if one.table in NODE_TABLES]
    usual = Counter(every).most_common(1)[0][0] if every else ""
    for host in found.blueprint.hosts:
        names = [
            one.name if one.node_release == usual else f"{one.name} ({one.node_release})"
            for one in host.services
            if one.table in NODE_TABLES
        ]
        if names:
            of_host[host.name] = names
    return of_host


def nodes(found: Adopted) -> Iterator[str]:
    """The hosts, each with the nodes that run on it."""
    yield from _capped([f"  {host}: {_named(names)}" for host, names in hosts(found).items()], "hosts")


def unsaid(found: Adopted, messages: Sequence[Located]) -> list[Located]:
    """The messages whose fact stands nowhere else on the screen."""
    left = [one for one in messages if (one.diagnostic.code, one.diagnostic.primary.place) not in found.elsewhere]
    return [
        one._replace(diagnostic=replace(one.diagnostic, help=""))
        if one.diagnostic.code in _DEAD and not one.withheld
        else one
        for one in left
    ]


def secrets(found: Adopted) -> Iterator[str]:
    """All secrets of sources, by the variables that the spec has for them; those without one come behind."""
    known = {source.name: LineMap(source.text) for source in found.sources}
    order = {name: number for number, name in enumerate(known)}
    met = sorted(found.in_clear, key=lambda one: (order.get(one.span.source, 0), one.span.start))
    all_in_clear = [one for one in met if not one.keeper]
    in_clear = [one for one in all_in_clear if not found.text or f'"{one.variable}"' in found.text]
    if in_clear:
        names = _once(one.variable for one in in_clear)
        where = _listed(_lines(in_clear, known), _MOST_PLACES)
        begin = f"secrets that stand in clear: {_listed(names, _MOST)} ({where})"
        yield f"{begin}: set {_these(names)} where you deploy, then {_change(names)}"
        hints = {one.variable: f"  {one.variable}: {one.hint}" for one in in_clear if one.hint}
        yield from _capped(list(hints.values()), "secrets")
    if unnamed := [one for one in all_in_clear if one not in in_clear]:
        names, where = _once(one.variable for one in unnamed), _listed(_lines(unnamed, known), _MOST_PLACES)
        begin = (
            f"secrets that stand in clear, and for which the spec has no variable: {_listed(names, _MOST)} ({where})"
        )
        yield f"{begin}: {_change(names)}"
    for host in _once(one.keeper for one in met if one.keeper):
        names = _once(one.variable for one in met if one.keeper == host)
        yield (
            f"secrets that {host} keeps to itself: {_listed(names, _MOST)}: set {_these(names)} where you deploy, "
            f'or write {{ host_file = "/path" }} for a file there; {_REST}'
        )


def _change(names: Sequence[str]) -> str:
    return "change the secrets" if len(names) > 1 else "change the secret"


def _these(names: Sequence[str]) -> str:
    return "these variables" if len(names) > 1 else "this variable"


def _lines(met: Iterable[InClear], known: Mapping[str, LineMap]) -> list[str]:
    """Where secrets stand, as each source with its lines."""
    lines: dict[str, set[int]] = {}
    for one in met:
        if one.span.source in known:
            lines.setdefault(one.span.source, set()).add(known[one.span.source].position(one.span.start)[0])
    return [f"{visible(name)}:{_numbers(sorted(numbers))}" for name, numbers in lines.items()]


def _numbers(numbers: Sequence[int]) -> str:
    more = f" and {len(numbers) - _MOST} more" if len(numbers) > _MOST else ""
    return ",".join(map(str, numbers[:_MOST])) + more


def questions(found: Adopted, spec: str) -> Iterator[str]:
    """Each TODO line with its place in the spec, which is called `spec`; what is asked alike is one line."""
    alike: dict[str, tuple[list[int], list[str], list[str]]] = {}
    for one in questions_in(found.text):
        numbers, tables, keys = alike.setdefault(leaks.shown(_brief(one)), ([], [], []))
        numbers.append(one.line)
        tables.append(f"[{one.table}]")
        keys.append(one.key or "table")
    if not alike:
        return
    yield f"asked, by the line of {spec}:" if spec else "asked, by the line of the spec:"
    lines = [
        f"  {', '.join(map(str, numbers))} {_named(_once(tables))} {', '.join(_once(keys))}: {words}"
        for words, (numbers, tables, keys) in alike.items()
    ]
    yield from _capped(lines, "questions")


def _brief(one: Question) -> str:
    """What is asked; how to answer is at its line, where that takes many words."""
    if one.kind is Kind.FUNDS:
        return asking_words.only_command(one.words)
    before = one.said.removesuffix(one.words)
    said = one.without_options(" (command below)").removeprefix(before)
    below = " (command below)" if "(command below)" in said else ""
    for end in ("; ", ": "):
        if len(said.split()) > _MOST_WORDS:
            said = said.partition(end)[0]
    return said if below in said else f"{said}{below}"


def _once(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))


def options(found: Adopted) -> str:
    """The options with which adopting again answers questions, in the words of a command; "" where none does."""
    return options_of(questions_in(found.text))


def changes(found: Adopted) -> Iterator[str]:
    """What changes for what runs today: what the spec sets otherwise, nodes and paths together where they change for
    one reason, and what changes beside the settings. What means the same is only counted, elsewhere.
    """
    lines = [*_of_settings(found), *_beside(found)]
    if lines:
        yield "changes for what runs today:"
    yield from lines


def passed_over(found: Adopted) -> Iterator[str]:
    """The sources without a trace in the spec, by why."""
    of_reason: dict[str, list[str]] = {}
    for name, why in found.passed_over:
        of_reason.setdefault(why, []).append(leaks.shown(visible(name)))
    for why, names in of_reason.items():
        yield f"passed over {_named(names)}: {why.format('it' if len(names) == 1 else 'them')}"


def unknown(found: Adopted) -> Iterator[str]:
    """What no source says of nodes, by the file that may; so nobody knows whether the spec changes it. Of variables in
    the place of flags a message says it.
    """
    lines = [f"  {line}" for line in doubt_lines(one for one in doubts(found.nodes) if not one.flags)]
    if lines:
        yield "not known of what runs today, because these files are none of the sources (name them too):"
    yield from _capped(lines, "files")


def _of_settings(found: Adopted) -> Iterator[str]:
    """Money first, then who reaches a node, then the rest."""
    asked = {one.table.partition(".")[2] for one in questions_in(found.text) if one.kind is Kind.CREDENTIAL}
    left = [
        one
        for one in found.differences
        if not isinstance(one.reason, Same) and not (one.flag == TOKENS and one.node in asked)
    ]
    plain = [one for one in left if one.flag not in PATHS]
    urgent = [one for one in plain if not one.reason or one.flag.partition(" ")[0] in MONEY]
    yield from values(sorted(urgent, key=lambda one: bool(one.reason)))
    others = sorted((one for one in plain if one not in urgent), key=lambda one: one.flag not in _SAFETY)
    many = Counter((one.node, one.reason) for one in others)
    few = [one for one in others if many[one.node, one.reason] < _MANY or one.flag in _SAFETY]
    paths = (one for one in left if one.flag in PATHS and one.reason)
    yield from _capped([*values(few), *_by_reason([*(one for one in others if one not in few), *paths])], "changes")


def _beside(found: Adopted) -> Iterator[str]:
    """What people have set beside settings, what is gone first; what every new one has in one line."""
    lines = sorted(beside_lines(one for one in found.beside if not one.ours), key=lambda line: f": {ALTERED}" in line)
    yield from _capped(lines, "lines")
    kinds = {place.runtime for place in found.blueprint.hosts} if found.blueprint is not None else set()
    for runtime, words in _OURS.items():
        if runtime in kinds and any(one.ours for one in found.beside):
            yield f"  {words}"


def values(found: Iterable[Difference], unexplained: str = UNEXPLAINED) -> Iterator[str]:
    """A line for each setting with its values, and all nodes where they are the same."""
    of_change: dict[tuple[str, str, str, str], list[str]] = {}
    for one in found:
        compiled = "its own name" if one.compiled == one.node else one.compiled
        of_change.setdefault((visible(one.setting), one.today, compiled, one.reason), []).append(one.node)
    for (setting, today, compiled, reason), names in of_change.items():
        yield f"  {_named(names)} {setting}: {visible(today)} -> {visible(compiled)}: {visible(reason or unexplained)}"


def _by_reason(found: Iterable[Difference]) -> Iterator[str]:
    """A line for each reason for which settings change, without their values."""
    of_reason: dict[str, dict[str, list[str]]] = {}
    for one in found:
        of_reason.setdefault(one.reason, {}).setdefault(one.setting, []).append(one.node)
    for reason, settings in of_reason.items():
        for names, flags in _alike(settings).items():
            yield f"  {_named(names)} {', '.join(flags)}: {visible(reason)}"


def _alike(settings: dict[str, list[str]]) -> dict[tuple[str, ...], list[str]]:
    """The settings of the same nodes together."""
    found: dict[tuple[str, ...], list[str]] = {}
    for setting, names in settings.items():
        found.setdefault(tuple(names), []).append(setting)
    return found


def _named(names: Sequence[str]) -> str:
    return _listed(names, _MOST_NAMES)


def _listed(names: Sequence[str], most: int) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _capped(lines: list[str], what: str) -> Iterator[str]:
    yield from lines if len(lines) <= _MOST + 1 else lines[:_MOST]
    if len(lines) > _MOST + 1:
        yield f"  {len(lines) - _MOST} more {what}: {_REST}"
