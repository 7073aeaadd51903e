"""What people must see first of an adoption: the nodes, what the spec asks, and what changes for what runs today.

In: `Adopted`. Out: lines, as few as that takes, gravest first. The account of every word, each path with both of its
values, and what is written otherwise and means the same are in the report.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from fleetc.adopt import asides, asking_words
from fleetc.adopt.adoption import Adopted
from fleetc.adopt.asides import named
from fleetc.adopt.beside import PROGRAM, RUNTIME, Beside
from fleetc.adopt.compare import PRICED_FLAGS, QUESTION, Difference
from fleetc.adopt.earlier import tables_of
from fleetc.adopt.filling import ONE_KEYSTORE, ONE_PASSWORD, PATHS, UNPLACED_PASSWORD
from fleetc.adopt.price_lists import TOKENS
from fleetc.adopt.questions import Kind, Question, options_of, questions_in
from fleetc.adopt.report import UNEXPLAINED, doubt_lines
from fleetc.adopt.unread import doubts
from fleetc.adopt.words import Brief, InClear, Same
from fleetc.language.fleet import NODE_TABLES
from fleetc.messages.locate import Located
from fleetc.text import leaks
from fleetc.text.encoders import visible
from fleetc.toml.document import LineMap

_MOST = 15
"""Lines of one kind; what is about money, or has no reason, counts for none of them."""
_MOST_PLACES = 4
_MANY = 3
"""Settings of a node that change for one reason: so many are one line, without values."""
_MOST_WORDS = 12
"""Words of a question; a longer one is cut at the end of its first sentence."""
_REFERENCE = re.compile(r'\{ env = "([A-Za-z_][A-Za-z0-9_]*)" \}')
_SECOND_SENTENCE = re.compile(r"(?<=\?) [A-Z].*")
"""What follows a whole question: how to answer, which its line in the spec says too."""
_ENDS = {Kind.VARIABLE: "; ", Kind.METRICS: ": "}
"""Where the words of questions end that need no more, by kind."""
MONEY = frozenset({*PRICED_FLAGS, "reward", "ethAcctAddr", "aiModels"})
SHARED = frozenset({ONE_KEYSTORE, ONE_PASSWORD, UNPLACED_PASSWORD})
"""Reasons whose settings are shown with both values: the node gets what another one of its wallet has."""
_SAFETY = frozenset({"cliAddr", "httpAddr", "rtmpAddr", "serviceAddr", "orchSecret", "authWebhookUrl", "httpIngest"})
"""Settings that say who reaches a node, and who may use it."""
_DEAD = frozenset({"adopt-setting-unread", "adopt-setting-overridden"})
"""Messages about what does nothing today: the spec leaves it out, so there is nothing to repair."""
_OURS = {
    "systemd": "units get fleetc's restart, sandbox and HOME",
    "docker": "containers get fleetc's restart, stop time and log limits",
}
"""What no source sets, by the runtime of a host."""
_REST = "--report text has all of them"


def hosts(found: Adopted) -> dict[str, list[str]]:
    """The nodes of each host, as the spec has them: with those of an earlier one, which may be elsewhere by now. Behind
    the name stands a release that most do not run.
    """
    of_host: dict[str, list[str]] = {}
    if found.blueprint is None:
        for host_name, name in _placed(found):
            of_host.setdefault(host_name, []).append(name)
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


def _placed(found: Adopted) -> Iterator[tuple[str, str]]:
    """The host of each node and its name, as a spec has them that is not compiled."""
    if found.checked is None or found.checked.document is None:
        yield from ((one.host, one.name) for one in found.nodes)
        return
    for kind in NODE_TABLES:
        for name, values in tables_of(found.checked.document.raw, kind):
            yield str(values.get("host")), name


def nodes(found: Adopted) -> Iterator[str]:
    """The hosts, each with the nodes that run on it."""
    yield from _capped([f"  {host}: {named(names)}" for host, names in hosts(found).items()], "hosts")


def unsaid(found: Adopted, messages: Sequence[Located]) -> list[Located]:
    """The messages whose fact stands nowhere else on the screen, without advice that does."""
    left = [one for one in messages if (one.diagnostic.code, one.diagnostic.primary.place) not in found.elsewhere]
    asked = {one.words for one in questions_in(found.text)}
    return [
        one._replace(diagnostic=replace(one.diagnostic, help=""))
        if (one.diagnostic.code in _DEAD and not one.withheld) or one.diagnostic.help in asked
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
        yield f"secrets in clear: set {_listed(names, _MOST)} ({where}) where you deploy, then {_change(names)}"
        hints = {one.variable: f"  {one.variable}: {one.hint}" for one in in_clear if one.hint}
        yield from _capped(list(hints.values()), "secrets")
    if unnamed := [one for one in all_in_clear if one not in in_clear]:
        names, where = _once(one.variable for one in unnamed), _listed(_lines(unnamed, known), _MOST_PLACES)
        begin = f"secrets in clear without a variable in the spec: {_listed(names, _MOST)} ({where})"
        yield f"{begin}: {_change(names)}"
    for host in _once(one.keeper for one in met if one.keeper):
        names = _once(one.variable for one in met if one.keeper == host)
        yield (
            f"secrets that {host} keeps to itself: {_listed(names, _MOST)}: set {_these(names)} where you deploy, "
            f'or write {{ host_file = "/path" }} for a file there; {_REST}'
        )
    lines = [line for line in found.text.split("\n") if not line.startswith("#")]
    named = _once(name for line in lines for name in _REFERENCE.findall(line))
    if others := [name for name in named if name not in {one.variable for one in met}]:
        yield f"set where you deploy, because no source has the value: {_listed(others, _MOST)}"


def _change(names: Sequence[str]) -> str:
    return "change them" if len(names) > 1 else "change it"


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
    yield "asked, by line:" if spec else "asked, by line of the spec:"
    lines = [
        f"  {', '.join(map(str, numbers))} {named(_once(tables))} {', '.join(_once(keys))}: {words}"
        for words, (numbers, tables, keys) in alike.items()
    ]
    yield from _capped(lines, "questions")


def _brief(one: Question) -> str:
    """What is asked; how to answer is at its line, where that takes many words."""
    if one.kind is Kind.FUNDS:
        return asking_words.only_command(one.words)
    said = one.without_options("").removeprefix(one.said.removesuffix(one.words))
    said = _SECOND_SENTENCE.sub("", said)
    for whole, less in asking_words.IN_BRIEF:
        said = said.replace(whole, less)
    if one.kind in _ENDS:
        return said.partition(_ENDS[one.kind])[0]
    for end in ("; ", ": "):
        if len(said.split()) > _MOST_WORDS:
            said = said.partition(end)[0]
    return said


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
        yield "what changes:"
    yield from lines


def passed_over(found: Adopted) -> Iterator[str]:
    """The sources without a trace in the spec, by why."""
    of_reason: dict[str, list[str]] = {}
    for name, why in found.passed_over:
        of_reason.setdefault(why, []).append(leaks.shown(visible(name)))
    for why, names in of_reason.items():
        yield f"passed over {named(names)}: {why.format('it' if len(names) == 1 else 'them')}"


def unknown(found: Adopted) -> Iterator[str]:
    """What no source says of nodes, by the file that may; so nobody knows whether the spec changes it. Of variables in
    the place of flags a message says it.
    """
    lines = [f"  {line}" for line in doubt_lines(one for one in doubts(found.nodes) if not one.flags)]
    if lines:
        yield "not known without these files (name them too):"
    yield from _capped(lines, "files")


def _of_settings(found: Adopted) -> Iterator[str]:
    """Money first, then who reaches a node, then the rest."""
    asked = {one.table.partition(".")[2] for one in questions_in(found.text) if one.kind is Kind.CREDENTIAL}
    left = [
        replace(one, reason=Brief(one.reason, "asked above")) if one.reason.startswith(QUESTION) else one
        for one in found.differences
        if not isinstance(one.reason, Same) and not (one.flag == TOKENS and one.node in asked)
    ]
    plain = [one for one in left if one.flag not in PATHS or one.reason in SHARED]
    urgent = [one for one in plain if not one.reason or one.flag.partition(" ")[0] in MONEY]
    yield from values(sorted(urgent, key=lambda one: bool(one.reason)))
    others = sorted((one for one in plain if one not in urgent), key=lambda one: one.flag not in _SAFETY)
    many = Counter((one.node, one.reason) for one in others)
    few = [one for one in others if many[one.node, one.reason] < _MANY or one.flag in _SAFETY]
    paths = (one for one in left if one.flag in PATHS and one.reason and one.reason not in SHARED)
    yield from _capped([*joined(few), *_by_reason([*(one for one in others if one not in few), *paths])], "changes")


def _beside(found: Adopted) -> Iterator[str]:
    """What people have set beside settings, and what new units or containers have, unless lines of theirs tell that."""
    every = {one.name for one in found.nodes}
    theirs = [one for one in found.beside if not one.ours and not _told_elsewhere(one, found)]
    yield from _capped([*asides.told(theirs, every)], "lines")
    altered = {one.node for one in theirs if one.what.values}
    for runtime, words in _OURS.items():
        nodes = _nodes_of(found, runtime) & {one.node for one in found.beside if one.ours}
        if nodes and not (runtime == "docker" and nodes <= altered):
            yield f"  {words}"


def _nodes_of(found: Adopted, runtime: str) -> set[str]:
    places = found.blueprint.hosts if found.blueprint is not None else ()
    return {one.name for place in places if place.runtime == runtime for one in place.services}


def _told_elsewhere(one: Beside, found: Adopted) -> bool:
    """Whether a message or a question says the same."""
    hosts = {node.name: node.host for node in found.nodes}
    if one.what.topic == RUNTIME:
        told = {message.primary.place for message in found.diagnostics if message.code == "adopt-runtimes-differ"}
        return hosts[one.node] in {node.host for node in found.nodes if node.process.span in told}
    asked = {asks.table for asks in questions_in(found.text) if asks.key == "binary"}
    return one.what.topic == PROGRAM and f"hosts.{hosts[one.node]}" in asked


def values(found: Iterable[Difference]) -> Iterator[str]:
    """A line for each setting with its values, and all nodes where they are the same."""
    for setting, changes in _by_setting(found).items():
        for (today, compiled, reason), names in changes.items():
            yield f"  {named(names)} {setting}: {today} -> {compiled}{_because(reason or UNEXPLAINED)}"


def joined(found: Iterable[Difference], unexplained: str = UNEXPLAINED) -> Iterator[str]:
    """The same, with a few values of one setting in one line."""
    for setting, changes in _by_setting(found).items():
        several = [
            (named(names), today, compiled, _because(reason or unexplained))
            for (today, compiled, reason), names in changes.items()
        ]
        if 1 < len(several) <= _MANY:
            yield f"  {setting}: {_together(several)}"
        else:
            yield from (f"  {names} {setting}: {today} -> {then}{because}" for names, today, then, because in several)


def _together(several: Sequence[tuple[str, str, str, str]]) -> str:
    """Nodes with their values of today, those that are compiled, and why; once where it is so of all."""
    made, reasons = {then for _, _, then, _ in several}, {because for *_, because in several}
    if len(made) == len(reasons) == 1:
        return "; ".join(f"{names} {today}" for names, today, *_ in several) + f" -> {made.pop()}{reasons.pop()}"
    return "; ".join(f"{names} {today} -> {then}{because}" for names, today, then, because in several)


_Change = tuple[str, str, str]
"""A value of today, the one that is compiled, and the reason."""


def _by_setting(found: Iterable[Difference]) -> dict[str, dict[_Change, list[str]]]:
    settings: dict[str, dict[_Change, list[str]]] = {}
    for one in found:
        today, compiled = _what_differs(one)
        compiled = "its own name" if compiled == one.node else compiled
        values = settings.setdefault(visible(one.setting), {})
        values.setdefault((visible(today), visible(compiled), one.reason), []).append(one.node)
    return settings


def _what_differs(one: Difference) -> tuple[str, str]:
    """Both values of a setting; of a list of orchestrators, only those that are not in both."""
    lists = [one.today.split(", "), one.compiled.split(", ")]
    pairs = [pair for pair in zip(*lists, strict=False) if pair[0] != pair[1]]
    cut = one.today.endswith("...") or one.compiled.endswith("...")
    if one.flag != "orchAddr" or len(lists[0]) != len(lists[1]) or cut:
        return one.today, one.compiled
    return ", ".join(today for today, _ in pairs), ", ".join(compiled for _, compiled in pairs)


def _because(reason: str) -> str:
    return f": {visible(less)}" if (less := brief(reason)) else ""


def brief(reason: str) -> str:
    """As much of a reason as the first screen has to say."""
    return reason.brief if isinstance(reason, Brief) else reason


def _by_reason(found: Iterable[Difference]) -> Iterator[str]:
    """A line for each reason for which settings change, without their values."""
    of_reason: dict[str, dict[str, list[str]]] = {}
    for one in found:
        of_reason.setdefault(one.reason, {}).setdefault(one.setting, []).append(one.node)
    for reason, settings in of_reason.items():
        for names, flags in _alike(settings).items():
            yield f"  {named(names)} {', '.join(flags)}: {visible(brief(reason))}"


def _alike(settings: dict[str, list[str]]) -> dict[tuple[str, ...], list[str]]:
    """The settings of the same nodes together."""
    found: dict[tuple[str, ...], list[str]] = {}
    for setting, names in settings.items():
        found.setdefault(tuple(names), []).append(setting)
    return found


def _listed(names: Sequence[str], most: int) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _capped(lines: list[str], what: str) -> Iterator[str]:
    yield from lines if len(lines) <= _MOST + 1 else lines[:_MOST]
    if len(lines) > _MOST + 1:
        yield f"  {len(lines) - _MOST} more {what}: {_REST}"
