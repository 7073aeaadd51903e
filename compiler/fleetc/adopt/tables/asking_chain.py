"""Finds the RPC addresses and the controller of a fleet.

In: the nodes. Out: `rpc` and `controller` of its table, and `rpc` of hosts that ask elsewhere; an address with a key is
a reference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from fleetc.adopt.found.words import Same, Unknown
from fleetc.adopt.node.listeners import is_loopback
from fleetc.adopt.node.reading import OFFCHAIN, Running
from fleetc.adopt.node.rpc import ASKED, is_known, site_of
from fleetc.adopt.tables import asking_words
from fleetc.adopt.tables.filling import hole_variable, printed_place
from fleetc.adopt.tables.session import Session, Table
from fleetc.language.quantities import QuantityError, parse_url
from fleetc.text import leaks
from fleetc.toml.edits import toml_value
from fleetc.upstream import NETWORKS


def asks_chain(one: Running) -> bool:
    """Whether a node asks the chain."""
    return one.on_chain and one.role not in ("transcoder", "ai-worker")


def fill_rpc(found: list[Running], fleet: Table, session: Session) -> None:
    """The RPC address and the controller of the fleet. A host whose nodes ask another address has that one. A host has
    one address: where its nodes name several, that is asked.
    """
    values: dict[str, Any] = {}
    of_hosts: dict[str, dict[str, list[Running]]] = {}
    for one in filter(asks_chain, found):
        _fill_controller(one, fleet)
        if not one.text("ethUrl"):
            one.reasons.setdefault("ethUrl", Unknown("no source says it; it gets that of the spec"))
            continue
        one.reasons.setdefault("ethUrl", Same("a reference in the spec has the same address"))
        value = rpc_value(one, session)
        key = one.text("ethUrl") if is_known(one) else str(value)
        values.setdefault(key, value)
        of_hosts.setdefault(one.host, {}).setdefault(key, []).append(one)
    if values:
        _place_rpc(of_hosts, values, fleet, session)
    elif fleet.values["network"] != OFFCHAIN:
        fleet.ask('TODO rpc = { env = "RPC_URL" }: the JSON-RPC address of the chain; no source has one')
        for one in found:
            one.reasons["ethUrl"] = ASKED


def _place_rpc(
    of_hosts: Mapping[str, Mapping[str, Sequence[Running]]], values: Mapping[str, Any], fleet: Table, session: Session
) -> None:
    """Give the fleet the address of most hosts, one that is of a host itself last, and the others theirs."""
    settled = Counter(key for named in of_hosts.values() for key in named if len(named) == 1)
    usual = max(settled, key=lambda key: (not _is_local(key), settled[key]), default="")
    if usual:
        fleet.values["rpc"] = values[usual]
    for host, named in of_hosts.items():
        if len(named) > 1:
            _ask_rpc(named, values, fleet if len(of_hosts) == 1 else session.hosts[host])
        elif {*named} != {usual}:
            session.hosts[host].values["rpc"] = values[next(iter(named))]


def _ask_rpc(named: Mapping[str, Sequence[Running]], values: Mapping[str, Any], table: Table) -> None:
    offered = next((key for key in named if not _is_local(key)), next(iter(named)))
    asked = [f"{_names(nodes)} asks {site_of(key)}" for key, nodes in islice(named.items(), _SHOWN)]
    more = f" and {len(named) - _SHOWN} more" if len(named) > _SHOWN else ""
    table.ask(f"TODO rpc = {_written(values[offered])}: {asking_words.ONE_RPC}{', '.join(asked)}{more}")
    for one in (one for nodes in named.values() for one in nodes):
        one.reasons["ethUrl"] = ASKED


_SCHEMES = ("http", "https", "ws", "wss")
_SHOWN = 3
"""How many addresses, and nodes of each, are named."""


def _written(value: Any) -> str:
    """An address, or a reference to one, as TOML."""
    if isinstance(value, str):
        return toml_value(value)
    return f"{{ {', '.join(f'{kind} = {toml_value(name)}' for kind, name in value.items())} }}"


def _names(nodes: Sequence[Running]) -> str:
    more = f" and {len(nodes) - _SHOWN} more" if len(nodes) > _SHOWN else ""
    return ", ".join(one.name for one in nodes[:_SHOWN]) + more


def _is_local(address: str) -> bool:
    """Whether an address is of the host itself, where other hosts have other services."""
    try:
        return is_loopback(parse_url(address, _SCHEMES).host)
    except QuantityError:
        return False


def _fill_controller(one: Running, fleet: Table) -> None:
    """The controller that a node names, unless it is the one that the node knows for its network."""
    controller, known = one.text("ethController"), NETWORKS.get(one.network)
    if controller and not one.word("ethController").holes:
        if known is None or known.controller.lower() != controller.lower():
            fleet.values.setdefault("controller", controller)
    elif known is None and "controller" not in fleet.values:
        fleet.ask('TODO controller = "0x...": the contract of the protocol; the node knows none for this network')


def rpc_value(one: Running, session: Session) -> object:
    """The address that a node asks, or a reference to it."""
    word = one.word("ethUrl")
    known = one.process.secrets.get("LP_ETHURL")
    if known is not None:
        return {known[0]: known[1]}
    variable, place = hole_variable(word), printed_place(one.process, word)
    if place is not None:
        session.opened.add(one.host, one.process, place)
        return {"host_file": place.path}
    if variable:
        return {"env": variable}
    if word.holes:
        return {"env": "RPC_URL"}
    text = word.text
    if "://" not in text and not text.startswith("/"):
        session.ledger.mistake(
            "adopt-value-invalid", word.span, "-ethUrl",
            "without a scheme the node takes the address for the path of a local socket",
            "write https:// before it; the spec has it",
        )  # fmt: skip
        one.reasons["ethUrl"] = "without a scheme the node takes the address for the path of a local socket"
        text = f"https://{text}"
    variable = word.alone or "RPC_URL"
    if leaks.find(text, "ethUrl") is not None:
        return session.secret(word, variable, "the RPC address with its key")
    if leaks.may_need_key(text) and not one.process.ours:  # ours had it in a spec before
        return session.secret(
            word, variable, "the RPC address, which may hold a key,",
            "; if no part of it is a key, write the address itself as rpc",
            "if no part of it is a key, write the address itself as rpc",
        )  # fmt: skip
    try:
        parse_url(text, _SCHEMES)
    except QuantityError:
        return {"env": "RPC_URL"}
    return text
