"""The hosts of an adopted fleet: where they are, and how nodes run on them.

In: the nodes, and hosts that inventories or people name. Out: tables of hosts in the session.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from fleetc.adopt.node.host_paths import FOLDER, Place, callers_place
from fleetc.adopt.node.listeners import split
from fleetc.adopt.node.reading import Running
from fleetc.adopt.tables import asking_words
from fleetc.adopt.tables.session import Session, Table
from fleetc.language.quantities import QuantityError, parse_host
from fleetc.text import leaks

_HOME = re.compile("/(root)(?=/|$)|/home/([a-z_][a-z0-9_-]*)(?=/|$)")
_PRIVATE = ("10.", "127.", "0.", "192.168.", "172.", "169.254.")


def add_hosts(found: list[Running], session: Session, inventory: Mapping[str, Table]) -> None:
    """A table for each host: from an inventory, else from what its nodes say about it."""
    for one in found:
        if one.host in session.hosts:
            continue
        known = inventory.get(one.process.host) or inventory.get(one.host)
        here = [other for other in found if other.host == one.host]
        session.hosts[one.host] = _host(one.host, here, known, session)


def ask_address(table: Table, public: str = "", otherwise: str = "no source says it") -> None:
    """Where people log in to a host, if nothing says it: its public address as a guess, else a question."""
    if "address" in table.values:
        return
    if public:
        table.values["address"] = public
        table.ask(f"TODO address: {asking_words.ALSO_LOGIN}")
    else:
        table.ask(f'TODO address = "203.0.113.10": where you log in; {otherwise}')


def _host(name: str, here: list[Running], known: Table | None, session: Session) -> Table:
    table = Table(dict(known.values) if known else {}, origin=known.origin if known else "")
    public = next((p for p in map(_public, here) if p), "")
    ask_address(table, public)
    if public and "public" not in table.values:
        table.values["public"] = public
    runtimes = Counter(one.process.runtime for one in here)
    runtime = "docker" if runtimes["docker"] else "systemd"
    table.values["runtime"] = runtime
    if len(runtimes) > 1:
        other = next(one for one in here if one.process.runtime != runtime)
        session.ledger.warn(
            "adopt-runtimes-differ", other.process.span,
            "this node runs without a container, others of its host in one; fleetc runs all alike",
            f"they become containers; or give it a host of its own, with NAME={leaks.shown(other.process.span.source)}",
        )  # fmt: skip
    if runtime == "systemd":
        _systemd_host(table, here, session)
    return table


def _public(one: Running) -> str:
    """The public name or address of a node's host, as its service address has it."""
    if one.role != "orchestrator" or not one.text("serviceAddr") or one.word("serviceAddr").holes:
        return ""
    text = one.text("serviceAddr")
    text = text.partition("://")[2] if "://" in text else text
    parts = split(text)
    host = parts[0] if parts else text
    try:
        plain = str(parse_host(host.strip("[]")))
    except QuantityError:
        return ""
    if plain.startswith(_PRIVATE) or "." not in plain or plain in ("localhost", "*"):
        return ""
    return plain


def _systemd_host(table: Table, here: list[Running], session: Session) -> None:
    users = [one.process.user for one in here if one.process.user]
    if users and "node_user" not in table.values and users[0] != "livepeer":
        table.values["node_user"] = users[0]
    if "binary" not in table.values and "build" not in table.values:
        _program(table, [one for one in here if "/" in one.process.program], session)


def _program(table: Table, here: list[Running], session: Session) -> None:
    """The one program of all nodes of a host; a question where the sources have several, or do not say where it is."""
    places = {one.process.program: _program_place(one) for one in here}
    paths = list(dict.fromkeys(place.path if place else program for program, place in places.items()))
    if len(paths) > 1:
        others = ", ".join(map(leaks.shown, paths[1:]))
        table.ask(f"TODO binary: some of its nodes run {others}; a spec has one program for each host")
    if not here:
        return
    first = places[here[0].process.program]
    if first is None:
        said = leaks.shown(paths[0])
        table.ask(f'TODO binary = "/path/on/the/host": the source starts {said}: where is it on the host?')
    elif first.path != "/usr/local/bin/livepeer":
        table.values["binary"] = first.path
        session.opened.add(here[0].host, here[0].process, first)


def _program_place(one: Running) -> Place | None:
    """Where the program of a node is; None where nobody knows which folder its path begins in."""
    place = None if "$" in one.process.program else callers_place(one.process, one.process.program)
    return None if place is not None and place.open == FOLDER and not one.process.directory else place


def ask_users(found: list[Running], tables: Mapping[str, Mapping[str, Table]], session: Session) -> None:
    """Ask who starts the nodes of a host that have directories with keys of somebody, or run in a home, if no source
    says whose. Of other nodes it is a change that nobody knows who starts them.
    """
    for one in found:
        host = session.hosts[one.host]
        path = tables[one.table][one.name].values.get("data_dir", "")
        path = path if path and one.on_chain else _in_a_home(path, one.process.program, one.process.directory)
        known = one.process.user or "node_user" in host.values or host.values["runtime"] != "systemd"
        asked = any(question.startswith(("TODO ~", "TODO node_user")) for question in host.questions)
        if known or asked or one.process.runtime != "systemd":
            continue
        if not path:
            one.reasons["user"] = "no source says it"
        else:
            words = f"who starts {leaks.shown(one.name)} today? No source says it; whoever is written here has to own"
            host.ask(f'TODO node_user = "{_likely_user(path)}": {words} {leaks.shown(path)}')


def _in_a_home(*paths: str) -> str:
    """The first path that is in somebody's home; "" where none is."""
    return next((path for path in paths if _HOME.match(path)), "")


def _likely_user(path: str) -> str:
    """Whose home a path is in; else the user that fleetc makes."""
    found = _HOME.match(path)
    return (found[1] or found[2]) if found is not None else "livepeer"


def add_idle_hosts(found: list[Running], session: Session, inventory: Mapping[str, Table]) -> None:
    """Hosts of an inventory that run no node stay: a rollout knows them then."""
    used = {one.process.host for one in found} | {one.host for one in found} | {*session.hosts}
    for name, table in inventory.items():
        if name in used or not inventory:
            continue
        free = session.name_for(name, "host", set(session.hosts))
        table.values.setdefault("runtime", "systemd")
        session.hosts[free] = table
