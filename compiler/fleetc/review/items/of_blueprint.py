"""Splits a blueprint into items: each element that a host, a process or the fleet is given, under its own key.

In: a `Blueprint`, whole or with some of its hosts. Out: `Item` values by key. Called by `review/compare.py`, which
compares two blueprints. Every field of the blueprint has a function here or a reason in `LEFT_OUT`. Any other field is
split by its structure, and a test names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from fleetc.blueprint.blueprint import AVATAR_DIRECTORY, RUNNERS, Blueprint, HostBlueprint, Service
from fleetc.blueprint.listeners import HOST as HOST_ONLY
from fleetc.blueprint.listeners import MONITORING, Listening
from fleetc.blueprint.market import RunnerRow
from fleetc.blueprint.rollout import RolloutTimes
from fleetc.language.fleet import NODE_TABLES
from fleetc.places.diagnostic import Path
from fleetc.places.origin import Chosen, derived, given
from fleetc.review.items.item import (
    OUT,
    Item,
    ItemPlace,
    Key,
    by_its_looks,
    entries_of,
    field_names,
    leaf_text,
    nearest,
)
from fleetc.review.items.of_stacks import HOST_UNIT, avatar, monitoring, stream_api, streams
from fleetc.text.counting import counted
from fleetc.upstream import NEWEST_RELEASE, Release, format_release
from fleetc.upstream.releases import releases

_Take = Callable[[ItemPlace, Any, Any], Iterator[Item]]
"""Place, the whole service, host or blueprint, and the value of the field."""

_CARRIED = "the arguments and files that carry prices are items"
_OF_NEEDS = "they follow from accounts, secrets, programs, directories and ports, which are items"
_OF_PROGRAM = "one item of the node has the whole program"
_FOLLOWS = "they follow from prices, caps and lists, which are items; the impact has the market"

LEFT_OUT: dict[str, str] = {
    "Service.name": "it is the key of all items of the service",
    "Service.prices": _CARRIED,
    "PriceLine.pays": _CARRIED,
    "PriceLine.work": _CARRIED,
    "PriceLine.price": _CARRIED,
    **dict.fromkeys((f"RunnerRow.{field}" for field in RunnerRow._fields), "a sale is one item"),
    "Service.exclusive": "follows from the argument reward and the account",
    "Program.path": _OF_PROGRAM,
    "Program.version": "the release of the node says the same",
    "Program.sha256": _OF_PROGRAM,
    "Program.url": _OF_PROGRAM,
    "Program.file": _OF_PROGRAM,
    "Program.member": _OF_PROGRAM,
    "Service.health": "it follows from ports, prices and the release",
    "Service.live": "it follows from arguments and prices, which are items",
    "Service.table": "the role says the same in the words of the node",
    "HostBlueprint.name": "it is the key of all items of the host",
    "HostBlueprint.needs": _OF_NEEDS,
    **{f"Need.{field}": _OF_NEEDS for field in ("kind", "subject", "words", "nodes", "facts")},
    "HostBlueprint.services": "each has items of its own",
    "Blueprint.hosts": "each has items of its own",
    "MarketTables.whole": "how the page shows the market; the fleet's size decides",
    "MarketTables.rows": _FOLLOWS,
    "MarketTables.summaries": _FOLLOWS,
    "BlueprintFile.name": "it is the key of the items of the file",
    "FundsRow.node": "it is the key of the items of the row",
    "FundsRow.cost": "it follows from load and cap; the impact tells it",
    "FundsRow.runway": "it follows from deposit, load and cap; the impact tells it",
}
"""Fields that have no items, and why."""


def items_of(blueprint: Blueprint) -> dict[Key, Item]:
    """All items of a blueprint by key."""
    items = {item.key: item for item in _fields(PLAN, ItemPlace(("fleet",), "", "", ("fleet",)), blueprint)}
    for host in blueprint.hosts:
        items |= {item.key: item for item in _host(host)}
    return items


def _host(host: HostBlueprint) -> Iterator[Item]:
    path: Path = ("hosts", host.name)
    place = ItemPlace(("host", host.name), host.name, "", path)
    text = f"{host.runtime} at {host.address}" + (f", {counted(len(host.services), 'node')}" if host.services else "")
    yield Item(place.key, host.name, "", "host", host.name, text, given(*path), presence=True)
    yield from _fields(HOST, place, host)
    for service in host.services:
        yield from _service(host, service)


def _service(host: HostBlueprint, service: Service) -> Iterator[Item]:
    path: Path = (service.table, service.name)
    place = ItemPlace(("node", service.name), host.name, service.name, path)
    text = " ".join(filter(None, (service.role, service.mode, service.node_release)))
    yield Item(place.key, host.name, service.name, "service", service.name, text, given(*path), presence=True)
    yield place.item("service", "host", host.name, given(*path, "host"))
    yield from _fields(SERVICE, place, service)


def _fields(takers: Mapping[str, _Take], place: ItemPlace, whole: Any) -> Iterator[Item]:
    for name in field_names(whole):
        taker = takers.get(name)
        if taker is not None:
            yield from taker(place, whole, getattr(whole, name))
        elif f"{type(whole).__name__}.{name}" not in LEFT_OUT:
            yield from by_its_looks(place, name, getattr(whole, name))


# --- services -------------------------------------------------------------------------------------


def _arguments(place: ItemPlace, service: Service, arguments: Any) -> Iterator[Item]:
    """One item for each flag; the words of a live runner are one, because their order has a meaning."""
    if service.table == RUNNERS:
        if arguments:
            words = " ".join(argument.text for argument in arguments)
            yield place.item("words", "arguments", words, given(*place.path, "arguments"))
        return
    for argument in arguments:
        follows = argument.flag in _PARTS_OF_A_PRICE
        yield place.item("argument", f"-{argument.flag}", argument.value, argument.origin, follows=follows)


_PARTS_OF_A_PRICE = ("pixelsPerUnit",)
"""Flags that follow the price flag that they belong to, when both change."""


def _variables(place: ItemPlace, _service: Service, variables: Any) -> Iterator[Item]:
    for variable in variables:
        yield place.item("variable", variable.name, variable.value, variable.origin)


def _secrets(place: ItemPlace, _service: Service, secrets: Any) -> Iterator[Item]:
    """The reference, which is not secret; only the host or the rollout knows the value."""
    for secret in secrets:
        yield place.item("secret", secret.name, f"{secret.kind} {secret.reference}", secret.origin)


def _kept(place: ItemPlace, _service: Service, values: Any) -> Iterator[Item]:
    for kept in values:
        yield place.item("service", kept.what, kept.value, kept.origin)


def _files(place: ItemPlace, _service: Service, files: Any) -> Iterator[Item]:
    for file in files:
        key = (*place.key, "file", file.name)
        head = Item(key, place.host, place.node, "file", file.name, "", file.origin)
        groups = entries_of(file.content)
        yield head._replace(value="1 entry" if len(groups) == 1 else f"{len(groups)} entries", presence=True)
        for name, entry in groups.items():
            if name:
                named = head._replace(key=(*key, name), what=f"{file.name}: {name}", origin=nearest(file, entry.place))
                yield named._replace(value=leaf_text(entry.values), presence=True)
            for leaf, value in entry.values.items():
                what = f"{file.name}: {name} {leaf}" if name else f"{file.name}: {leaf}"
                origin = nearest(file, (*entry.place, leaf))
                yield head._replace(key=(*key, name, leaf), what=what, value=leaf_text(value), origin=origin)
        names = "\n".join(name for name in groups if name)
        yield head._replace(key=(*key, "", "order"), what=f"{file.name}: order", value=names, order=True)


def _mounts(place: ItemPlace, _service: Service, mounts: Any) -> Iterator[Item]:
    for mount in mounts:
        value = "read-only" if mount.read_only else "read-write"
        yield place.item("mount", mount.path, value, mount.origin, follows=True)


def _gpus(place: ItemPlace, _service: Service, gpus: Any) -> Iterator[Item]:
    if gpus is not None:
        text = gpus if isinstance(gpus, str) else ", ".join(map(str, gpus))
        yield place.item("gpus", "GPUs of the host", text, given(*place.path, "gpus"), follows=True)


def _known(release: Release) -> str:
    """A release, and that fleetc does not know it, where it is newer than all that fleetc has facts of."""
    unknown = release > NEWEST_RELEASE and all(facts.release != release for facts in releases())
    return format_release(release) + (" (unknown to fleetc)" if unknown else "")


def _release(place: ItemPlace, service: Service, release: Any) -> Iterator[Item]:
    if service.table == RUNNERS:
        return
    origin = derived("the node's own release, else the fleet's", (*place.path, "node_release"), _NODE_RELEASE)
    yield place.item("service", "node release", _known(release), origin)


def _image(place: ItemPlace, service: Service, image: str) -> Iterator[Item]:
    if service.table == RUNNERS:
        if image:
            yield place.item("image", "image", image, given(*place.path, "image"))
        return
    paths = ((*place.path, "image"), ("fleet", "image"), (*place.path, "node_release"), _NODE_RELEASE)
    origin = derived("the node's own image, else the fleet's, with the release as its tag", *paths)
    yield place.item("image", "image", image, origin, follows=True)


def _program(place: ItemPlace, _service: Service, program: Any) -> Iterator[Item]:
    if program is not None:
        source = program.url or program.file
        text = f"{program.sha256[:12]} from {source}" if source else program.path
        yield place.item("program", "program", text, program.origin, follows=True)


_NODE_RELEASE: Path = ("fleet", "node_release")


def _of_service(name: str, *keys: str) -> _Take:
    """One item for a plain field that follows from these keys of the node's table."""

    def take(place: ItemPlace, _service: Service, value: Any) -> Iterator[Item]:
        if value not in (None, "", False):
            origin = derived("the node's settings", *[(*place.path, key) for key in keys] or [place.path])
            yield place.item("service", name, "yes" if value is True else str(value), origin, follows=True)

    return take


SERVICE: dict[str, _Take] = {
    "role": _of_service("role"),
    "mode": _of_service("mode", "mode"),
    "release": _release,
    "image": _image,
    "program": _program,
    "data_dir": _of_service("data directory", "data_dir", "host"),
    "arguments": _arguments,
    "variables": _variables,
    "kept": _kept,
    "secrets": _secrets,
    "files": _files,
    "mounts": _mounts,
    "gpus": _gpus,
    "manages_containers": _of_service("starts containers"),
    "hardened": _of_service("runs without capabilities", "hardened"),
    "host_ipc": _of_service("shares the memory segments of the host", "host_ipc"),
    "monitored": _of_service("serves metrics", "monitor"),
    "out": lambda place, _service, out: _out(place, out),
}


# --- hosts and the fleet --------------------------------------------------------------------------


def _of_host(field: str) -> _Take:
    def take(place: ItemPlace, _host: HostBlueprint, value: Any) -> Iterator[Item]:
        if value != "":
            text = ("yes" if value else "no") if isinstance(value, bool) else str(value)
            yield place.item("host", field, text, given(*place.path, field))

    return take


_HOST_FIELDS = (
    "address",
    "public",
    "runtime",
    "region",
    "ssh_user",
    "ssh_port",
    "become",
    "node_user",
)
HOST: dict[str, _Take] = {
    **{field: _of_host(field) for field in _HOST_FIELDS},
    "avatar": lambda place, _host, stack: avatar(place, stack),
    "listeners": lambda place, _host, listeners: _ports(place, listeners),
    "out": lambda place, _host, out: _out(place, out),
}


def _out(place: ItemPlace, out: Chosen[str] | None) -> Iterator[Item]:
    """Until when and why a host or a node is out of service, at the table that says so."""
    if out is not None and out.origin.paths[0][:2] == place.path:
        yield place.item("service" if place.node else "host", OUT, out.value, out.origin)


def _ports(place: ItemPlace, listeners: Sequence[Listening]) -> Iterator[Item]:
    """One item for each purpose of listening, which has all ports for it, who reaches them and what they can do."""
    purposes: dict[tuple[Path, str, str], list[Listening]] = {}
    for one in listeners:
        if one.owner != place.path:  # the SSH server, of which the port is an item of the host
            purposes.setdefault((one.owner, one.purpose, one.protocol), []).append(one)
    for (owner, purpose, protocol), ports in purposes.items():
        first, what = ports[0], f"{purpose} ({protocol})"
        node = "" if owner == MONITORING or owner[0] == "avatars" else first.name
        head = (
            ("node", node) if node else (*place.key, AVATAR_DIRECTORY, HOST_UNIT) if owner != MONITORING else place.key
        )
        where = ", ".join(f"{one.address}:{one.ports}" for one in ports)
        parts = [f"{where} for {first.reach}", first.power]
        parts += [f"meant for {first.meant_for}"] * (first.reach not in (HOST_ONLY, first.meant_for))
        parts += [f"from {', '.join(first.peers)}"] * bool(first.peers)
        value = "; ".join([*parts, *([f"asks for {first.guard}"] if first.guard else [])])
        yield Item((*head, "port", what), place.host, node, "port", what, value, first.origin, follows=True)


def _of_fleet(table: str, field: str, *, follows: bool = False) -> _Take:
    def take(place: ItemPlace, _plan: Blueprint, value: Any) -> Iterator[Item]:
        yield place.item(table, field, str(value), given(table, field), follows=follows)

    return take


def _fleet_release(place: ItemPlace, _plan: Blueprint, value: Any) -> Iterator[Item]:
    yield place.item("fleet", "node_release", _known(value), given(*_NODE_RELEASE), follows=True)


_EDGE_FIELDS = {"pays": "orchestrators", "outside": "orchestrators", "finds": "discovery", "signs": "remote_signer",
                "redeems": "redeemer", "offers": "runners", "serves": "orchestrator"}  # fmt: skip


def _edges(_place: ItemPlace, blueprint: Blueprint, edges: Iterable[Any]) -> Iterator[Item]:
    """Connections belong to the node whose setting makes them, if its host is part of the blueprint."""
    nodes = {service.name: (host.name, service) for host in blueprint.hosts for service in host.services}
    signed = {(edge.source, edge.target) for edge in blueprint.edges if edge.kind == "signs"}
    for edge in edges:
        serves = edge.kind == "serves" or (edge.kind == "outside" and edge.source not in nodes)
        owner, other = (edge.target, edge.source) if serves else (edge.source, edge.target)
        if owner not in nodes:
            continue
        host, service = nodes[owner]
        field = "orchestrator" if serves else _EDGE_FIELDS.get(edge.kind, edge.kind)
        if edge.kind == "finds" and (edge.source, edge.target) in signed:
            field = "remote_signer"
        origin = given(service.table, owner, field)
        what = f"{edge.source} {edge.kind} {edge.target}"
        yield Item(("node", owner, "edge", edge.kind, other), host, owner, "edge", what, "yes", origin, follows=True)


def _order(place: ItemPlace, _plan: Blueprint, batches: Iterable[Iterable[str]]) -> Iterator[Item]:
    """The order of the hosts follows from all nodes and from who uses whom."""
    origin = derived("hosts whose nodes others use go first", ("hosts",), *((table,) for table in NODE_TABLES))
    item = place.item(
        "rollout", "order of the hosts", "\n".join(name for batch in batches for name in batch), origin, follows=True
    )
    yield item._replace(order=True)


def _silenced(place: ItemPlace, _plan: Blueprint, silences: Any) -> Iterator[Item]:
    for silence in silences:
        words = [silence.reason, silence.until and f"until {silence.until}", silence.owner and f"owner {silence.owner}"]
        what = f"{silence.code} below {silence.at}" if silence.at else silence.code
        yield place.item("silence", what, ", ".join(filter(None, words)), given("silences", silence.name))


def _market(place: ItemPlace, blueprint: Blueprint, market: Any) -> Iterator[Item]:
    yield from _fields(MARKET, place, market)
    hosts = {service.name: host.name for host in blueprint.hosts for service in host.services}
    tables = {service.name: service.table for host in blueprint.hosts for service in host.services}
    for sale in market.runners:
        if sale.orchestrator in hosts:
            yield _sale(ItemPlace(("node", sale.orchestrator), hosts[sale.orchestrator], sale.orchestrator, ()), sale)
    for row in market.funds:
        if row.node in hosts:
            yield from _fields(
                FUNDS, ItemPlace(("node", row.node), hosts[row.node], row.node, (tables[row.node], row.node)), row
            )


def _sale(place: ItemPlace, sale: RunnerRow) -> Item:
    """What an orchestrator sells of a runner, and what comes of it at one signer."""
    parts = (sale.comes_to, sale.in_advance and f"{sale.in_advance} in advance", sale.outcome)
    earns = sale.earns and f"at most {sale.earns} an hour"
    what = f"runner {sale.runner}" + (f" through {sale.signer}" if sale.signer else "")
    value = ", ".join(filter(None, (f"asks {sale.asks} for {sale.app}", *parts, earns)))
    table: Path = ("runners", sale.runner)
    origin = derived("what is sold, and for how much", (*table, "price"), (*table, "app"))
    return place.item("sale", what, value, origin)


def _rates(place: ItemPlace, _market: Any, rates: Any) -> Iterator[Item]:
    for currency, worth in rates:
        yield place.item("rate", currency, worth, given("rates", currency))


def _assumed(place: ItemPlace, _market: Any, gas: Any) -> Iterator[Item]:
    """The gas price that the spec states; the assumption that replaces it is not an item."""
    if gas is not None and gas.origin.kind == "given":
        yield place.item("rate", "gas price", gas.gas_price, gas.origin)


def _of_funds(name: str) -> _Take:
    """The funds of a node; the load is its own, everything else its wallet's."""

    def take(place: ItemPlace, row: Any, value: str) -> Iterator[Item]:
        if value:
            of_node = "expected_load" if place.path[:1] == ("gateways",) else "runner_load"
            path = (*place.path, of_node) if name == "expected load" else ("wallets", row.wallet, name)
            yield place.item("funds", name, value, given(*path))

    return take


MARKET: dict[str, _Take] = {
    "funds": lambda _place, _market, _rows: iter(()),
    "runners": lambda _place, _market, _rows: iter(()),
    "rates": _rates,
    "assumed": _assumed,
}


def _times(place: ItemPlace, _plan: Blueprint, times: RolloutTimes) -> Iterator[Item]:
    for field in times._fields:
        yield place.item("rollout", field, str(getattr(times, field)), given("rollout", field))


FUNDS: dict[str, _Take] = {
    "wallet": lambda place, row, value: iter((
        place.item("funds", "wallet", value, given("wallets", row.wallet), follows=True),
    )),
    "deposit": _of_funds("deposit"),
    "reserve": _of_funds("reserve"),
    "load": _of_funds("expected load"),
}  # fmt: skip
PLAN: dict[str, _Take] = {
    "fleet": _of_fleet("fleet", "name"),
    "network": _of_fleet("fleet", "network", follows=True),
    "release": _fleet_release,
    "edges": _edges,
    "canary": _of_fleet("rollout", "canary"),
    "batch": _of_fleet("rollout", "batch"),
    "batches": _order,
    "pairs": lambda _place, _plan, _found: iter(()),  # they follow from the batches
    "needed": lambda _place, _plan, _found: iter(()),  # it follows from gateways and their lists
    "may_miss": _of_fleet("rollout", "may_miss"),
    "times": _times,
    "live": _of_fleet("rollout", "live"),
    "silenced": _silenced,
    "market": _market,
    "streams": lambda _place, _plan, value: streams(value),
    "stream_api": lambda _place, _plan, value: stream_api(value),
    "monitoring": lambda _place, _plan, value: monitoring(value),
}
