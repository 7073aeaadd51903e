"""Makes one fleet of all processes: their names and hosts, the network, and the tables of the nodes.

In: processes, hosts that people or trees name, and what people say. Out: `Assembled`; None where the processes do not
fit into one spec.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from fleetc.adopt.found.ledger import Ledger
from fleetc.adopt.found.library import FLEET_NAME, Library, Said
from fleetc.adopt.found.process import Process
from fleetc.adopt.found.questions import Ask
from fleetc.adopt.node import documents
from fleetc.adopt.node.documents import DocumentError
from fleetc.adopt.node.paths import located
from fleetc.adopt.node.settings import OFFCHAIN, Running, running
from fleetc.adopt.node.values import price_text
from fleetc.adopt.read.sources import Found
from fleetc.adopt.read.stack_files import StackFiles
from fleetc.adopt.tables.filling import Facts, Filling
from fleetc.adopt.tables.fleet import (
    asks_chain,
    fill_chain,
    fill_model_prices,
    fill_releases,
    fill_rewards,
    rpc_value,
)  # fmt: skip
from fleetc.adopt.tables.machines import Machines, add_hosts, add_idle_hosts, ask_address, ask_users
from fleetc.adopt.tables.nodes import fill
from fleetc.adopt.tables.runners import fill_others
from fleetc.adopt.tables.selling import fill_capabilities
from fleetc.adopt.tables.session import Assembled, Session, Table
from fleetc.adopt.tables.stacks import stack_table
from fleetc.text import leaks
from fleetc.text.encoders import visible


def assemble(processes: Sequence[Process], sources: Found, session: Session, said: Said) -> Assembled | None:
    """Make one fleet, or refuse."""
    known_hosts = sources.hosts
    processes = place_all(processes, known_hosts)
    sources.others = place_all(sources.others, known_hosts)
    read = [running(process, session.library, session.ledger, said.role) for process in processes]
    nodes = [node for node in read if node is not None]
    if len(nodes) < len(processes):
        return None
    if not nodes and not sources.stacks:
        return _only_models(sources, session)
    network = _network(nodes, session)
    if network is None:
        return None
    put_on_hosts(nodes, said.nodes, session, sources)
    names, lone = name_all(nodes, session, sources)
    for node in nodes:
        node.process = located(node.process, node.host, said)
    fleet = Table({"name": FLEET_NAME, "network": network}, path=("fleet",))
    add_hosts(nodes, session, known_hosts)
    machines = Machines(session, sources.others, nodes, names, known_hosts, lone)
    machines.learn_state_dirs()
    tables = _node_tables(nodes, fleet, Facts.of(nodes, network, machines), session)
    fill_capabilities(sources.capabilities, nodes, tables, session.ledger)
    stacks = _stacks(sources, tables, fleet, session)
    add_idle_hosts(nodes, session, known_hosts)
    ask_users(nodes, tables, session)
    machines.list_gpus(one for kind in (*tables.values(), session.runners) for one in kind.values())
    ordered = {
        "hosts": session.hosts, "wallets": session.wallets, "models": session.models, **tables,
        "runners": session.runners, "ladders": session.ladders,
    }  # fmt: skip
    return _without_hidden(Assembled(fleet, ordered, nodes, stacks))


def _node_tables(nodes: Sequence[Running], fleet: Table, facts: Facts, session: Session) -> dict[str, dict[str, Table]]:
    """The tables of the nodes, and what all of them say together of their fleet, wallets and models."""
    tables: dict[str, dict[str, Table]] = {}
    for node in nodes:
        if asks_chain(node) and node.text("ethUrl"):
            rpc_value(node, session)  # its variable is named for the fleet, before that of a node has the same address
    for node in nodes:
        table = Table(origin=f"from {leaks.shown(node.process.span.source)}", path=(node.table, node.name))
        fill(Filling(session, node, facts, table))
        tables.setdefault(node.table, {})[node.name] = table
    fill_others(session, facts, tables.get("orchestrators", {}))
    fill_chain(nodes, fleet, session)
    fill_releases(nodes, fleet, tables)
    fill_rewards(nodes, tables, session)
    fill_model_prices(tables, session)
    return tables


def _stacks(
    sources: Found, tables: dict[str, dict[str, Table]], fleet: Table, session: Session
) -> dict[str, StackFiles]:
    """Tables of the avatar stacks, and of hosts that run nothing else; a release that all have is that of the fleet."""
    stacks: dict[str, Table] = {}
    by_name: dict[str, StackFiles] = {}
    for files in sources.stacks:
        host = _host_of_stack(files, sources, session)
        lone = len(sources.stacks) == 1 and host != "stage"
        taken = {*session.hosts, *session.runners, *stacks, *(name for kind in tables.values() for name in kind)}
        name = session.name_for("stage" if lone else f"{host}-avatars", "avatars", taken)
        stacks[name], by_name[name] = stack_table(files, session, name, host), files
    if stacks:
        tables["avatars"] = stacks
        first, *others = (table.values.get("avatar_release") for table in stacks.values())
        if first is not None and all(other == first for other in others):
            fleet.values["avatar_release"] = first
            for table in stacks.values():
                del table.values["avatar_release"]
    return by_name


def _host_of_stack(files: StackFiles, sources: Found, session: Session) -> str:
    """The host of a stack: as the user or the tree says, else the only one there is, else its folder."""
    name = files.host
    if not name and len(sources.stacks) > 1:
        name = posixpath.basename(posixpath.dirname(files.span.source))
    name = name or next(iter([*session.hosts, *sources.hosts, LONE_HOST]))
    if name not in session.hosts:
        known = sources.hosts.get(name)
        name = session.name_for(name, "host", set(session.hosts)) if known is None else name
        table = session.hosts[name] = Table((known or {}) | {"runtime": "docker"}, path=("hosts", name))
        if files.public:
            table.values.setdefault("public", files.public)
        ask_address(table, files.public)
    return name


def _without_hidden(assembled: Assembled) -> Assembled:
    """Leave out values that no spec may have, with hidden characters or too long, and ask for them."""
    for table in assembled.each():
        for key in [key for key, value in table.values.items() if _hidden(value)]:
            del table.values[key]
            table.put(Ask.HIDDEN, visible(key))
    return assembled


def _hidden(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(_hidden(key) or _hidden(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return any(map(_hidden, value))
    return isinstance(value, str) and (visible(value) != value or len(value) > _LONGEST_TEXT)


def _only_models(sources: Found, session: Session) -> Assembled:
    """Lists of models that no node names: their tables, and the rest is asked."""
    fleet = Table({"name": FLEET_NAME}, path=("fleet",))
    fleet.put(Ask.NO_SOURCE, "network", '"offchain"')
    fleet.put(Ask.RELEASE, "node_release")
    for source in sources.models:
        try:
            entries = documents.models(source.text)
        except DocumentError as problem:
            session.ledger.refuse("adopt-document-unread", problem.span(source),
                                  f"the node does not read this list of models: {problem}", "repair it")  # fmt: skip
            continue
        for entry in entries:
            name = session.model(entry)
            session.models[name].origin = f"from {leaks.shown(source.name)}"
            price = price_text(entry.price) if entry.price is not None else None
            if price is not None:
                session.models[name].values["price"] = price
    host = Table(path=("hosts", LONE_HOST))
    host.put(Ask.RUNTIME, "runtime", '"docker"')
    ask_address(host)
    return _without_hidden(Assembled(fleet, {"hosts": {LONE_HOST: host}, "models": session.models}))


def _on_a_network(node: Running) -> bool:
    """Whether a node has a network of its own to be on; workers and gateways with a remote signer have none."""
    behind_signer = node.role == "gateway" and bool(node.text("remoteSignerUrl"))
    return node.role not in ("transcoder", "ai-worker") and not behind_signer


def _network(nodes: Sequence[Running], session: Session) -> str | None:
    """The one network of the fleet."""
    of_network: dict[str, list[Running]] = {}
    for node in filter(_on_a_network, nodes):
        word = node.settings.get("network")
        if word is not None and word.word.holes:
            session.ledger.refuse(
                "adopt-value-unknown", word.word.span, "no source says which network this node is on",
                "write the name of the network in its place, such as arbitrum-one-mainnet, and adopt again",
            )  # fmt: skip
            return None
        of_network.setdefault(node.network, []).append(node)
    if len(of_network) > 1:
        ways = []
        for network, members in of_network.items():
            names = [leaks.shown(node.process.name or node.process.span.source) for node in members[:4]]
            ways.append(f"for {network} --only {' --only '.join(names)}")
        session.ledger.refuse(
            "adopt-networks-differ", of_network[sorted(of_network)[-1]][0].process.span,
            f"these nodes are on {' and '.join(sorted(of_network)[:3])}, and a fleet is on one network",
            f"adopt the nodes of each network into a spec of their own: {'; '.join(ways)}",
        )  # fmt: skip
        return None
    behind = [node.network for node in nodes if node.on_chain and node.role == "gateway"]
    return next(iter(of_network), behind[0] if behind else OFFCHAIN)


LONE_HOST = "host-1"
_LONGEST_TEXT = 50_000
"""Characters of a value; a line of a spec has at most 65,536."""
_P = TypeVar("_P", bound=Process)
_PLAIN_STEMS = frozenset({
    "compose", "docker-compose", "livepeer", "start", "run", "launch", "main", "node", "standard input", "arguments",
})  # fmt: skip
"""Names of files that say nothing of a node."""


class UnknownNodeError(ValueError):
    """Somebody says the host of nodes that no source starts; its text is the sentence for them."""


def place_all(processes: Iterable[_P], known_hosts: Collection[str]) -> list[_P]:
    """Give processes the hosts that paths of their sources name: those that are known, and copies of whole roots."""
    listed = list(processes)
    roots = {_root(process) for process in listed} - {""}
    known = {*known_hosts, *roots} if len(roots) > 1 else {*known_hosts}
    return [process if process.host else replace(process, host=_named_host(process, known)) for process in listed]


def _root(process: Process) -> str:
    """The folder that has a copy of the root of a host, as in gpu-1/etc/systemd/system/livepeer.service."""
    folders = process.span.source.split("/")[:-1]
    place = folders.index("etc") if "etc" in folders else 0
    return folders[place - 1] if place > 0 and len(folders) > place + 1 else ""


def _named_host(process: Process, known: Collection[str]) -> str:
    """The nearest part of a source's path that is the name of a host; "" for none."""
    *folders, file = process.span.source.split("/")
    parts = (file, posixpath.splitext(file)[0], *reversed(folders))
    return next((part for part in parts if part in known), "")


def put_on_hosts(nodes: Sequence[Running], said: Mapping[str, str], session: Session, sources: Found) -> None:
    """Put nodes on the hosts that people name for them, by the name of the node, its unit or its container; "" stands
    for all that are on no host. Raises UnknownNodeError.
    """
    if not said:
        return
    name_all(nodes, Session(session.library, Ledger()), sources)
    known = {name for node in nodes for name in (node.name, node.process.name) if name}
    if unknown := sorted(set(said) - known - {""}):
        raise UnknownNodeError(f"no source starts {' or '.join(unknown)}; nodes are {', '.join(sorted(known))}")
    for node in nodes:
        host = said.get(node.name) or said.get(node.process.name)
        host = host or ("" if node.process.host else said.get("", ""))
        if host:
            node.process = replace(node.process, host=host)


def name_all(nodes: Sequence[Running], session: Session, sources: Found) -> tuple[dict[str, str], str]:
    """Name nodes and hosts; those `claimed` run nothing but what was named for them. The names of hosts by what sources
    call them come back, and what a lone host is called. No node has the name of a host: they share directories.
    """
    free = len(sources.hosts) == 1 and not set(sources.claimed).intersection(sources.hosts)
    lone = next(iter(sources.hosts)) if free else LONE_HOST
    hosts: dict[str, str] = {}
    for node in nodes:
        host = node.process.host or lone
        if host not in hosts:
            hosts[host] = session.name_for(host, "host", set(hosts.values()))
        node.host = hosts[host]
    taken = {*hosts.values(), *(session.name_for(name, "host", set()) for name in sources.hosts)}
    counted = Counter(node.process.span.source for node in nodes)
    hints = [_hint(node, counted[node.process.span.source] == 1, taken, session) for node in nodes]
    homes: dict[str, set[str]] = {}
    for node, hint in zip(nodes, hints, strict=True):
        homes.setdefault(hint, set()).add(node.host)
    for node, hint in zip(nodes, hints, strict=True):
        called = f"{hint}-{node.host}" if len(homes[hint]) > 1 else hint
        node.name = session.name_for(called, node.role, taken)
        taken.add(node.name)
    return hosts, lone


def _hint(node: Running, alone: bool, hosts: Collection[str], session: Session) -> str:
    """What the source calls a node, or the name of a source that is about it `alone`, else its role."""
    stem = posixpath.splitext(posixpath.basename(node.process.span.source))[0] if alone else ""
    names = (text.removeprefix("livepeer-").removeprefix("livepeer_") for text in (node.process.name, stem))
    plain = {*_PLAIN_STEMS, "", node.process.host}
    free = (text for text in names if text not in plain and session.name_for(text, node.role, set()) not in hosts)
    return next(free, node.role)


def chosen(sources: Found, said: Said, library: Library) -> tuple[list[Process], set[str]]:
    """The processes that --only names, by their own names or those of their nodes; and the names to choose from."""
    own = {process.name for process in sources.processes if process.name}
    if not said.only or own.issuperset(said.only):
        return [process for process in sources.processes if not said.only or process.name in said.only], own
    apart = Session(Library(dict(library.sources)), Ledger())  # what is read for names alone is not used
    placed = place_all(sources.processes, sources.hosts)
    nodes = [running(process, apart.library, apart.ledger, said.role) for process in placed]
    name_all([node for node in nodes if node is not None], apart, sources)
    names = [node.name if node is not None else "" for node in nodes]
    both, others = zip(sources.processes, names, strict=True), set(said.only) - own
    wanted = [process for process, name in both if process.name in said.only or name in others]
    return wanted, own | {*filter(None, names)}
