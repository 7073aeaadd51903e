"""Asks at a terminal what the spec of an adoption leaves open.

In: an adoption that can be adopted again. Out: that adoption with what somebody answered; the rest stays TODO. What
options answer comes first, because the host of a node or a home can settle other questions.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from fleetc.adopt import asking_words
from fleetc.adopt.questions import Kind, Question, questions_in
from fleetc.cli.adopted import Told, tell_first
from fleetc.cli.hints import Draft, default_of, instead_of_refused, is_closed, looks_of, looks_of_all, raw_of, stands_at
from fleetc.cli.host_prompts import WITHOUT, Options, ask_hosts, known_hosts, lines_of_pages, problem_of, usual
from fleetc.cli.output import message, plain
from fleetc.cli.prompts import (
    EndedError,
    confirmed,
    is_askable,
    is_yes,
    listed,
    name_of,
    say,
    sentence,
    typed_for,
)
from fleetc.cli.warning_prompts import ask_warnings, warned

if TYPE_CHECKING:
    from fleetc.adopt.adoption import Adopted

_OWN = frozenset(
    {"address", "keystore", "deposit", "reserve", "data_dir", "service", "http", "rtmp", "url", "port", "models"}
)
"""Keys whose values are of one table: a question that several have can have one yes, and no other common answer."""
_ADDRESS = "address"


class Adopting(Protocol):
    """An adoption: what was found, and how it is adopted again with options, or with a spec that has answers."""

    @property
    def found(self) -> Adopted: ...

    def say(self, options: list[tuple[str, str]]) -> None: ...

    def take(self, text: str, typed: Collection[tuple[str, ...]] = ()) -> None: ...


def can_ask() -> bool:
    """Whether somebody is there who reads questions and answers them; in CI nobody is, even at a terminal."""
    return not os.environ.get("CI") and sys.stdin.isatty() and sys.stderr.isatty()


def ask(adopting: Adopting) -> Told:
    """Ask all that can be answered with a value or an option, then about warnings; what it tells first."""
    found = adopting.found
    if not any(one.options or _is_answerable(found, one) for one in questions_in(found.text)) and not warned(found):
        return Told()
    told = tell_first(adopting.found)
    message("questions: Enter leaves a TODO, or takes what it offers; ? says more; Ctrl-C ends and keeps your answers")
    try:
        _ask_values(adopting, *_ask_options(adopting))
        ask_warnings(adopting)
    except EndedError:
        message("")
        message("stopped: your answers are kept, and the rest stays TODO")
    return told


# ------------------------------------------------------------------------------------------------------ options


def _ask_options(adopting: Adopting) -> tuple[bool, set[tuple[str, str]]]:
    """Ask what options answer; whether it is known now which nodes share a host, and which questions about values are
    answered or left.
    """

    seen: set[tuple[str, str]] = set()
    known = True
    while one := next((q for q in _by_host(adopting.found) if (q.table, q.key) not in seen), None):
        seen.add((one.table, one.key))
        options: Options = []
        try:
            _ask_option(one, adopting.found, options)
        finally:
            if options:
                adopting.say(options)
        if any(option == WITHOUT for option, _ in options):
            seen.discard((one.table, one.key))  # where the others run is still open
        known = known and bool(options or not _about_hosts(one))
    return known, {(table, key) for table, key in seen if key == _ADDRESS}


def _ask_option(one: Question, found: Adopted, options: Options) -> None:
    """Ask one of these; `options` gets what answers it."""
    if sharing := _sharing(one, found):
        say(one, f"{one.words.partition('; ')[0]}; are they on different hosts?")
        host = next(node.host for node in found.nodes if node.name == name_of(one))
        nodes = [name_of(one), *sharing]
        ask_hosts(nodes + [name for name in _unplaced(found, host) if name not in nodes], one, found, options)
    elif one.kind is Kind.ADDRESS:
        _ask_name(one, found, options)
    elif _about_hosts(one):
        named = [option.rpartition("=")[2] for option in one.options]
        nodes = [node.name for node in found.nodes if node.host == name_of(one) and node.name not in named] + named
        why = asking_words.why_several(one.without_options("").partition(": ")[2])
        drop = "; no leaves one out that does not run" if lines_of_pages(found) else ""
        say(one, f"which host runs {', '.join(nodes[:-1])} and {nodes[-1]}? {why}{drop}")
        ask_hosts(nodes, one, found, options)
    else:
        more = [other for other in questions_in(found.text) if other.key == one.key == "~" and other != one]
        _ask_path(one, len(more), options)


def _by_host(found: Adopted) -> list[Question]:
    """Those that options answer; where nodes run is the first, because others are of a host. Where nothing asks that,
    nodes that use the same port ask it, and so does the address of a host that nobody has named.
    """
    asked = list(questions_in(found.text))
    chosen = [one for one in asked if one.options]
    if not any(map(_about_hosts, chosen)):
        chosen += [one for one in asked if _sharing(one, found)]
    open_hosts = {one.table for one in chosen if _about_hosts(one)}
    chosen += [one for one in asked if one.table not in open_hosts and _is_of_invented(one, found)]
    return sorted(chosen, key=lambda one: (not _about_hosts(one), bool(one.options)))


def _is_of_invented(one: Question, found: Adopted) -> bool:
    """Whether it asks for the address of a host that only adopting has named, and that has nodes and no avatars."""
    from fleetc.adopt.naming import LONE_HOST

    if one.kind is not Kind.ADDRESS or name_of(one) != LONE_HOST:
        return False
    others = [table for kind in ("avatars", "runners") for table in raw_of(found.text).get(kind, {}).values()]
    nodes = [node for node in found.nodes if node.host == LONE_HOST]
    alone = all(table.get("host") != LONE_HOST for table in others)
    return alone and bool(nodes) and len(nodes) == len(_unplaced(found, LONE_HOST))


def _unplaced(found: Adopted, host: str) -> list[str]:
    """The nodes of a host that no source and nobody has put there."""
    return [node.name for node in found.nodes if node.host == host and not node.process.host]


def _sharing(one: Question, found: Adopted) -> list[str]:
    """The nodes that use the port that a question is about, beside its own; [] for any other question."""
    names = {node.name for node in found.nodes}
    others = found.sharing.get((one.table, one.key), ())
    return [name for name in others if name in names] if name_of(one) in names else []


def _about_hosts(one: Question) -> bool:
    return one.kind is Kind.HOSTS


def _ask_path(one: Question, more: int, options: Options) -> None:
    """Ask for a path, which may be that of `more` hosts too."""
    from fleetc.adopt.host_paths import plain_path

    option, _, value = one.options[0].partition(" ")
    host, _, likely = value.rpartition("=")
    say(one, sentence(one))
    while typed := typed_for(f"such as {likely}", one):
        path = plain_path(typed)
        if path is not None and path.isprintable():
            others = f"also on {more} more {'host' if more == 1 else 'hosts'}?"
            options.append((option, path if not host or (more and confirmed(others)) else f"{host}={path}"))
            return
        message("  write an absolute path on the host")


def _ask_name(one: Question, found: Adopted, options: Options) -> None:
    """Ask what a host is called, and where people log in to it; it may be one that the spec has already."""
    nodes, known = _unplaced(found, name_of(one)), known_hosts(found, name_of(one))
    called, at = _by_heading(nodes, found)
    stands = at or stands_at(raw_of(found.text), one)
    offered = f"{called or name_of(one)}@{stands}" if stands else ""
    say(one, f"what is the host of {listed(nodes)} called, and where do you log in?")
    looks = f"such as {called}@203.0.113.20" if called and not known else usual(known)
    kept = f"yes for {offered}, " if offered else ""
    while typed := typed_for(f"{kept}NAME@ADDRESS, {looks}", one, runs=nodes):
        typed = offered if offered and is_yes(typed) else typed
        name, _, address = typed.partition("@")
        problem = problem_of(name, address, known)
        if not problem:
            options.append(("--host", f"{name}@{known.get(name, address)}"))
            return
        message(f"  {problem}")


def _by_heading(nodes: Sequence[str], found: Adopted) -> tuple[str, str]:
    """The name and the address that one heading of notes gives the host of all of some nodes; "" where none does."""
    from fleetc.adopt.asking_hosts import host_by_heading

    headings = {host_by_heading(node, found.sources) for node in found.nodes if node.name in nodes}
    return headings.pop() if len(headings) == 1 else ("", "")


# ------------------------------------------------------------------------------------------------------- values


def _ask_values(adopting: Adopting, placed: bool, left: Collection[tuple[str, str]]) -> None:
    """Ask for values, but for those `left` to people, and again for what the answers bring up."""
    seen: set[tuple[str, str]] = set()
    while True:
        draft = Draft(adopting.found)
        before = draft.text
        asked = [one for one in questions_in(before) if not one.options and _is_answerable(adopting.found, one)]
        asked = [
            one
            for one in asked
            if (one.table, one.said) not in seen
            and (one.table, one.key) not in left
            and (placed or not _sharing(one, adopting.found))
        ]
        seen |= {(one.table, one.said) for one in asked}
        try:
            for group, hint in _grouped(before, asked):
                open_ = {(one.table, one.said) for one in questions_in(draft.text)}
                if any((one.table, one.said) in open_ for one in group):  # else another question got its answer
                    _ask_group(draft, group, hint)
        finally:
            if draft.text != before:
                adopting.take(draft.text)
        if draft.text == before:
            return


def _is_answerable(found: Adopted, one: Question) -> bool:
    """Whether a value that somebody types answers a question. A list of tables is written in the spec: nobody types
    one, and where one stands there, a yes answers only if nothing is wrong with it.
    """
    if not is_askable(one) or one.kind is Kind.CROWDED:
        return is_askable(one)
    stands = stands_at(raw_of(found.text), one)
    tables = isinstance(stands, list) and any(isinstance(item, dict) for item in stands)
    if one.kind is Kind.SOURCE or tables:
        return stands is not None and (one.table, one.key) not in found.refused
    return True


def _grouped(text: str, asked: Sequence[Question]) -> Iterator[tuple[list[Question], bool]]:
    """The questions that one answer may settle, and whether they still need their hint: that of funds is said once."""
    groups: dict[tuple[str, ...], list[Question]] = {}
    raw = raw_of(text)
    for one in asked:
        own = one.key in _OWN and stands_at(raw, one) is None
        said = re.sub(r"\b[0-9.]+:[0-9]+\b", "", one.said) if default_of(one) else one.said
        if one.kind is Kind.VARIABLE:
            own, said = False, asking_words.variable_of(one.words)
        groups.setdefault((one.table if own else "", said), []).append(one)
    before = ("", "")
    for group in groups.values():
        now = (group[0].table, _command(group[0]))
        yield group, not (now[1] and now == before)
        before = now


def _command(one: Question) -> str:
    """The command of a question about funds that shows the answer."""
    return asking_words.command_of(one.words) if one.kind is Kind.FUNDS else ""


def _ask_group(draft: Draft, group: Sequence[Question], hint: bool) -> None:
    """Ask something once for all tables of the group, or one after another."""
    first, several = group[0], len(group) > 1
    default = default_of(first)
    own = first.key in _OWN or any(default_of(one) != default for one in group)
    say(first, sentence(first, hint), group)
    defaults = list(dict.fromkeys(map(default_of, group)))
    shown = listed(defaults) if len(defaults) > 1 else ""
    looks = looks_of_all(draft, group, own, default) if several else looks_of(draft, first)
    while typed := typed_for(looks, first, default, shown=shown):
        taken = bool(default) and typed == default
        if several and (typed.strip('"') == "each" or (own and not taken and not is_yes(typed))):
            for one in group:
                _ask_group(draft, [one], hint)
            return
        try:
            draft.text = _answered(draft.text, group, "" if taken else typed)
        except _RefusedError as problem:
            message(f"  {problem}")
        else:
            return


class _RefusedError(Exception):
    """An answer that cannot be, with why."""


def _answered(text: str, group: Sequence[Question], typed: str) -> str:
    """The text with an answer for all of a group; "" is the default of each. Raises _RefusedError."""
    from fleetc.adopt.answering import (
        WrongAnswerError,
        addresses_in,
        answered,
        example_at,
        kept,
        place_of,
        problem_at,
        silenced,
        with_silence,
        words_of,
    )
    from fleetc.adopt.writing import toml

    first, raw = group[0], raw_of(text)
    places = [place_of(one) for one in group]
    hosts = {address: name for name, address in addresses_in(raw).items() if f"hosts.{name}" != first.table}
    if first.kind is Kind.ADDRESS and typed in hosts:
        raise _RefusedError(f"{typed} is the address of {hosts[typed]}; two hosts are not one machine")
    try:
        agreed = is_yes(typed) and all(stands_at(raw, one) is not None for one in group)
        if first.kind in (Kind.CROWDED, Kind.CREDENTIAL) and not agreed:
            raise _RefusedError("write yes, or leave it with Enter: nobody types the list here")
        if first.kind is Kind.CROWDED:
            room = {(*place[:-1], "containers_per_gpu"): asking_words.room_in(first.words)[1] for place in places}
            text = answered(text, room)
        if first.kind is Kind.UNREAD and is_yes(typed):
            typed = example_at(places[0], first.example)
        if first.kind in (Kind.METRICS, Kind.ALERTS) and typed == "nobody":
            return silenced(text, first)
        if first.kind is Kind.ALERTS:
            typed = toml([one.strip() for one in typed.strip("[]").split(",")])
        if first.kind is Kind.METRICS and "://" in typed:
            text, places = kept(text, places), [("monitoring", "receiver")]
        given = dict.fromkeys(places, typed) if typed else {place_of(one): default_of(one) for one in group}
        after = kept(text, places) if agreed else answered(text, given)
        if first.kind is Kind.LISTENER and typed and not agreed and not is_closed(typed):
            if not confirmed(f"does a firewall keep all others away from {plain(typed)}?"):
                raise _RefusedError(f"then write one that only the host itself reaches, such as {default_of(first)}")
            after = answered(after, {(*place[:-1], "cli_exposed"): "true" for place in places})
            for place in (one for one in places if len(one) == 3 and "{" not in one[1]):  # a table of one node
                reason = f"a firewall keeps all others away from {typed}"
                after = with_silence(after, "firewall", "cli-exposed", reason, ".".join(place))
    except WrongAnswerError as problem:
        raise _RefusedError(str(problem)) from None
    found = problem_at(after, places)
    if found is not None:
        words = words_of(found)
        if agreed and words.partition("; ")[0] == first.words.partition("; ")[0]:
            words = f"it is refused as it stands: {instead_of_refused(words)}"
        raise _RefusedError(words)
    return after
