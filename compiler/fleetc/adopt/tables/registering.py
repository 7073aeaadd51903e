"""Finds live runners that register themselves, and accounts for processes that are neither nodes nor runners.

In: the processes that are no nodes, once the nodes and the lists of orchestrators are filled. Out: tables of runners.
"""

from __future__ import annotations

import posixpath
import re

from fleetc.adopt.found.ledger import Fate
from fleetc.adopt.found.process import Other
from fleetc.adopt.node.listeners import SERVICE_PORT, http_listener, is_loopback
from fleetc.adopt.node.reading import Running
from fleetc.adopt.node.runner_list import price_of
from fleetc.adopt.node.web import Address, address
from fleetc.adopt.tables.filling import Facts
from fleetc.adopt.tables.runner_host import Machines, same_project
from fleetc.adopt.tables.runner_processes import Started, arguments, in_order
from fleetc.adopt.tables.session import HOUR_PRICE, Session, Table
from fleetc.text import leaks

_PLAIN = frozenset({"app", "runner", "server", "service", "worker"})
"""Names that say nothing."""


def fill_others(session: Session, facts: Facts, orchestrators: dict[str, Table]) -> None:
    """Processes that register themselves become runners; what is none is dropped with its reason."""
    machines = facts.machines
    registries = {
        name: one for name, one in facts.processes.items() if one.role == "orchestrator" and one.on("useLiveRunners")
    }
    for other in machines.others:
        whom = _registers_with(other, registries)
        if id(other) in session.runner_of or whom is None or not machines.takes(other):
            continue
        taken = {*session.runners, *session.hosts, *facts.processes}
        name = session.name_for(called(other), "runner", taken)
        session.runner_of[id(other)] = name
        table = session.runners[name] = Table({"register_by": "runner"})
        Started(session, facts, other, name, table).fill()
        _by_itself(other, table, facts.on_chain)
        table.values = in_order(table.values)
        if not whom and not other.ours:
            table.ask(
                "TODO: write it into runners = [...] of the orchestrator that it registers with; no source has it"
            )
        for one in whom:
            values = orchestrators[one].values
            values.setdefault("runners", []).append(name)
            values.pop("live_runners", None)
            values["runners"] = values.pop("runners")
    _left_out(session, machines)


def _left_out(session: Session, machines: Machines) -> None:
    """Account for processes that are neither nodes nor runners; one that a runner calls has to stay where it is."""
    runners = [other for other in machines.others if id(other) in session.runner_of]
    for other in machines.others:
        if id(other) in session.runner_of:
            continue
        shown = other.name or leaks.shown(other.program)
        user = next((one for one in runners if other.peers and same_project(one, other) and _calls(one, other)), None)
        if user is None:
            why = "its host runs nodes in another way" if id(other) in machines.unfit else other.why
            session.ledger.note(other.span, shown, Fate.DROPPED, why)
            continue
        why = f"{leaks.shown(user.name)} calls it, and a spec starts runners and nothing beside them"
        session.ledger.note(other.span, shown, Fate.DROPPED, why, "adopt-cannot-say")
        session.ledger.warn(
            "adopt-cannot-say", other.span, why,
            "keep it in a Compose file of its own, which publishes its port on 127.0.0.1 of the host",
        )  # fmt: skip


def _calls(one: Other, other: Other) -> bool:
    """Whether a container has the address of another one."""
    texts = [word.text for word in (*one.words, *one.variables.values())]
    return any(re.search(rf"://{re.escape(peer)}(?:[:/]|$)", text) for text in texts for peer in other.peers)


def called(other: Other) -> str:
    """What a source calls a process that is no node: not by a word that says nothing, if there is another."""
    if other.ours:
        return other.name.removeprefix("livepeer-")
    image = other.image.text.rpartition("/")[2].partition(":")[0] if other.image is not None else ""
    folder = posixpath.basename(posixpath.dirname(other.span.source))
    names = [other.name, *other.peers[1:2], image, folder, posixpath.basename(other.program)]
    return next((name for name in names if name and name not in _PLAIN), "runner")


def _registers_with(other: Other, registries: dict[str, Running]) -> list[str] | None:
    """The orchestrators with which a process registers; None where nothing says that it does."""
    if other.ours:
        return list(registries)
    said = [found.value.text for found in arguments(other.words)] + [word.text for word in other.variables.values()]
    urls = [parts for text in said if (parts := address(text)) is not None]
    for name, one in registries.items():
        secret = one.text("orchSecret")
        if any(_is_of(parts, one, same_project(one.process, other)) for parts in urls) and secret and secret in said:
            return [name]
    return [] if registers_elsewhere(other) else None


_CALLED = frozenset({"orchestrator", "orchestrator-url", "orch", "orch-url", "livepeer-orch-url"})


def registers_elsewhere(other: Other) -> bool:
    """Whether the arguments or variables of a process have an orchestrator's address and a secret for it."""
    said = _said(other)
    names = [name for name, text in said.items() if "secret" in name and text]
    return bool(names) and any(address(text) is not None for name, text in said.items() if name in _CALLED)


def _said(other: Other) -> dict[str, str]:
    """What arguments and variables say, by name in lower case; of both, the variable."""
    said = {found.name.replace("_", "-").lower(): found.value.text for found in arguments(other.words) if found.name}
    named = {name.replace("_", "-").lower(): word.text for name, word in other.variables.items() if not word.holes}
    return said | named


def _is_of(url: Address, one: Running, beside: bool) -> bool:
    """Whether an address is that of an orchestrator."""
    listener = http_listener("orchestrator", one.text("httpAddr"), one.text("serviceAddr"))[1]
    port = listener[1] if listener is not None else SERVICE_PORT
    if url.port != port:
        return False
    service = one.text("serviceAddr").partition("://")[2] or one.text("serviceAddr")
    return (beside and url.host in one.process.peers) or is_loopback(url.host) or url.host == service.rpartition(":")[0]


def _by_itself(other: Other, table: Table, on_chain: bool) -> None:
    """What a runner tells its orchestrator itself: a spec repeats it, as far as its arguments say it."""
    said = _said(other)
    app = next((said[key] for key in ("app", "app-id", "capability-name") if said.get(key)), "")
    if app and app == app.strip():
        table.values["app"] = app
    else:
        table.ask('TODO app = "owner/model": what it registers as; its program says that')
    own = [
        parts
        for text in said.values()
        if (parts := address(text)) is not None and (parts.host in other.peers or is_loopback(parts.host))
    ]
    port = next(
        (parts.port for key, text in said.items() if "runner" in key and (parts := address(text)) in own and parts),
        None,
    )
    port = port or next((int(said[key]) for key in ("port", "runner-port") if said.get(key, "").isdigit()), None)
    if port is not None and 0 < port < 65536:
        table.values["port"] = port
    else:
        table.ask("TODO port = 8000: where it listens; its program says that")
    if said.get("capacity", "").isdigit() and 0 < int(said["capacity"][:7]) <= 1_000_000:
        table.values["capacity"] = int(said["capacity"])
    if on_chain:
        price = said.get("price", "")
        words = f"; its own argument says {price}" if price_of(price) is not None else ""
        table.ask(f"TODO price = {HOUR_PRICE}: what it asks{words}")
