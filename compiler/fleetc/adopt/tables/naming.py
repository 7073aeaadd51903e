"""Names the nodes and hosts of an adopted fleet, as their sources call them.

In: running processes. Out: their names, and those of their hosts.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement
from typing import TypeVar

from fleetc.adopt.found.ledger import Fate, Ledger
from fleetc.adopt.found.process import Process
from fleetc.adopt.node.reading import Running
from fleetc.adopt.tables.session import Session
from fleetc.places.diagnostic import Span
from fleetc.text import leaks
from fleetc.text.encoders import visible
from fleetc.toml.document import LineMap

LONE_HOST = "host-1"
_P = TypeVar("_P", bound=Process)
_WORD = re.compile("[A-Za-z0-9]+")
_STARTS = re.compile(r"^(?:(?:start|run|launch)[-_])+|(?:[-_](?:start|run|launch))+$")
_PLAIN_STEMS = frozenset({
    "compose", "docker-compose", "livepeer", "start", "run", "launch", "main", "node", "standard input", "rc",
    "crontab", "notes", "readme",
})  # fmt: skip
"""Names of files that say nothing of a node."""


def place_all(processes: Iterable[_P], inventory: Collection[str], ledger: Ledger) -> list[_P]:
    """Give processes the hosts that paths of their sources name: those of the inventory, and copies of whole roots.
    The account says where only a part of a file's name is that of a host.
    """
    listed = list(processes)
    roots = {_root(one) for one in listed} - {""}
    known = {*inventory, *roots} if len(roots) > 1 else {*inventory}
    return [one if one.host else _placed(one, known, inventory, ledger) for one in listed]


def _placed(process: _P, known: Collection[str], inventory: Collection[str], ledger: Ledger) -> _P:
    host = _named_host(process, known)
    if not host:
        host = _host_in_name(process, inventory)
        if host:
            start = Span(process.span.source, 0, 1)
            ledger.note(start, "the name of the file", Fate.UNDERSTOOD, f"it is of {leaks.shown(visible(host))}")
    return replace(process, host=host)


def _root(process: Process) -> str:
    """The folder that has a copy of the root of a host, as in gpu-1/etc/systemd/system/livepeer.service."""
    folders = process.span.source.split("/")[:-1]
    place = folders.index("etc") if "etc" in folders else 0
    return folders[place - 1] if place > 0 and len(folders) > place + 1 else ""


def _named_host(process: Process, known: Collection[str]) -> str:
    """The nearest part of a source's path that is the name of a host."""
    *folders, file = process.span.source.split("/")
    return next((part for part in (file, posixpath.splitext(file)[0], *reversed(folders)) if part in known), "")


def _host_in_name(process: Process, inventory: Collection[str]) -> str:
    """The one host of an inventory whose name is a word of a source's file name; "" where there is none, or several."""
    stem = posixpath.splitext(posixpath.basename(process.span.source))[0]
    words = [word.span() for word in _WORD.finditer(stem)]
    pieces = {stem[start:end] for (start, _), (_, end) in combinations_with_replacement(words, 2)}
    found = [piece for piece in pieces - _PLAIN_STEMS if piece in inventory]
    return found[0] if len(found) == 1 else ""


def _without_host(stem: str, host: str) -> str:
    """A name without that of a host in it, and without what only kept the two apart."""
    before, found, after = stem.partition(host)
    apart = not before[-1:].isalnum() and not after[:1].isalnum()
    return "-".join(filter(None, (before.rstrip("-_."), after.lstrip("-_.")))) if found and apart else stem


class UnknownNodeError(ValueError):
    """Somebody says the host of nodes that no source starts; its text is the sentence for them."""


def put_on_hosts(
    found: list[Running], said: Mapping[str, str], session: Session, inventory: Collection[str], claimed: set[str]
) -> None:
    """Put nodes on the hosts that people name for them. They know a node by the name that it has without that, or by
    that of its unit or container; "" stands for all that are on no host. Raises UnknownNodeError.
    """
    if not said:
        return
    name_all(found, Session(session.library, Ledger()), inventory, claimed)
    known = {name for one in found for name in (one.name, one.process.name) if name}
    if unknown := sorted(set(said) - known - {""}):
        raise UnknownNodeError(f"no source starts {' or '.join(unknown)}; nodes are {', '.join(sorted(known))}")
    for one in found:
        host = said.get(one.name) or said.get(one.process.name)
        host = host or ("" if one.process.host else said.get("", ""))
        if host:
            one.process = replace(one.process, host=host)


def name_all(
    found: list[Running], session: Session, inventory: Collection[str], claimed: set[str]
) -> tuple[dict[str, str], str]:
    """Name nodes and hosts; those `claimed` run nothing but what was named for them. The names of hosts by what sources
    call them come back, and what a lone host is called. No node has the name of a host: they share directories.
    """
    lone = next(iter(inventory)) if len(inventory) == 1 and not claimed.intersection(inventory) else LONE_HOST
    hosts: dict[str, str] = {}
    for one in found:
        host = one.process.host or lone
        if host not in hosts:
            hosts[host] = session.name_for(host, "host", set(hosts.values()))
        one.host = hosts[host]
    taken = {*hosts.values(), *(session.name_for(name, "host", set()) for name in inventory)}
    counted = Counter(one.process.span.source for one in found)
    alone = {source for source, count in counted.items() if count == 1}
    long = [_hint(one, alone, taken, session) for one in found]
    short = [_short(hint, one, taken, session) for hint, one in zip(long, found, strict=True)]
    of_short: dict[str, set[str]] = {}
    for hint, whole in zip(short, long, strict=True):
        of_short.setdefault(hint, set()).add(whole)
    hints = [hint if len(of_short[hint]) == 1 else whole for hint, whole in zip(short, long, strict=True)]
    homes: dict[str, set[str]] = {}
    for one, hint in zip(found, hints, strict=True):
        homes.setdefault(hint, set()).add(one.host)
    for one, hint in zip(found, hints, strict=True):
        called = f"{hint}-{one.host}" if len(homes[hint]) > 1 else hint
        one.name = session.name_for(called, one.role, taken)
        taken.add(one.name)
        own = one.process.name.removeprefix("livepeer-")
        lost = own != "" and hint == one.role and session.name_for(own, one.role, set()) in hosts.values()
        one.called = own if lost else ""
    return hosts, lone


def _short(hint: str, one: Running, hosts: Collection[str], session: Session) -> str:
    """A name without what only says that a script starts something, if that leaves a name that no host has."""
    name = _STARTS.sub("", hint)
    plain = name in _PLAIN_STEMS or session.name_for(name, one.role, set()) in hosts
    return hint if not name or plain else name


def _says_more(name: str, host: str) -> bool:
    """Whether a name says something of a node beside its host."""
    return not _PLAIN_STEMS & {name, _without_host(name, host) if host else name}


def _hint(one: Running, alone: Collection[str], hosts: Collection[str], session: Session) -> str:
    """What the source calls a node, or the name of a source that is about it `alone`, else its role."""
    file = posixpath.splitext(posixpath.basename(one.process.span.source))[0]
    stem = file.removeprefix("livepeer-").removeprefix("livepeer_")
    called = one.process.name.removeprefix("livepeer-")
    stem = stem if one.process.span.source in alone else ""
    names = (text for text in (called, stem) if text and _says_more(text, one.process.host))
    return next((text for text in names if session.name_for(text, one.role, set()) not in hosts), one.role)


_MOST_NAMED = 4
"""Nodes that a message names."""


def choices(of_network: Mapping[str, Sequence[Process]], session: Session) -> str:
    """How to choose the nodes of each network: by names, or by their places where a source gives them none."""
    known = session.library.sources
    lines = {name: LineMap(source.text) for name, source in known.items()} if len(known) <= _MOST_NAMED else {}
    chosen = []
    for network, some in of_network.items():
        named = [f"--only {leaks.shown(one.name)}" for one in some if one.name]
        spans = [one.span for one in some if not one.name]
        places = [
            f"{s.source}:{lines[s.source].position(s.start)[0]}" if s.source in lines else s.source for s in spans
        ]
        named += [f"a file with {leaks.shown(visible(place))}" for place in dict.fromkeys(places)]
        more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
        chosen.append(f"for {network} {' '.join(named[:_MOST_NAMED])}{more}")
    return "; ".join(chosen)
