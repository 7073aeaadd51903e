"""Splits a blueprint into items: each element that a host, a process or the fleet is given, under its own key.

In: a `Blueprint`, whole or with some of its hosts. Out: `Item` values by key. Called by `review/compare.py`, which
compares two blueprints. A test names each field of a blueprint that has neither an item here nor a reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fleetc.blueprint.blueprint import AVATAR_DIRECTORY, RUNNERS, Blueprint, BlueprintFile, HostBlueprint, Service
from fleetc.blueprint.listeners import HOST as HOST_ONLY
from fleetc.blueprint.listeners import MONITORING, Listening
from fleetc.blueprint.market import RunnerRow
from fleetc.language.fleet import NODE_TABLES
from fleetc.places.diagnostic import Path
from fleetc.places.origin import Chosen, derived, given
from fleetc.review.items.item import OUT, Item, ItemPlace, Key, entries_of, parts_of
from fleetc.review.items.of_stacks import HOST_UNIT, avatar, monitoring, stream_api, streams
from fleetc.text.counting import counted
from fleetc.upstream import NEWEST_RELEASE, Release, format_release
from fleetc.upstream.releases import releases

_FLEET = ItemPlace(("fleet",), "", "", ("fleet",))
_NODE_RELEASE: Path = ("fleet", "node_release")


def items_of(blueprint: Blueprint) -> dict[Key, Item]:
    """All items of a blueprint by key."""
    items = {item.key: item for item in _fleet(blueprint)}
    for host in blueprint.hosts:
        items |= {item.key: item for item in _host(host)}
    return items


def _place(host: HostBlueprint, service: Service) -> ItemPlace:
    return ItemPlace(("node", service.name), host.name, service.name, (service.table, service.name))


# --- services -------------------------------------------------------------------------------------


def _service(place: ItemPlace, service: Service) -> Iterator[Item]:
    text = " ".join(filter(None, (service.role, service.mode, service.node_release)))
    head = Item(place.key, place.host, service.name, "service", service.name, text, given(*place.path), presence=True)
    yield head
    yield place.item("service", "host", place.host, given(*place.path, "host"))
    yield from _setting(place, "role", service.role)
    yield from _setting(place, "mode", service.mode, "mode")
    yield from _release(place, service)
    yield from _setting(place, "data directory", service.data_dir, "data_dir", "host")
    yield from _arguments(place, service)
    for variable in service.variables:
        yield place.item("variable", variable.name, variable.value, variable.origin)
    for secret in service.secrets:  # the reference is not secret; only the host or the rollout knows the value
        yield place.item("secret", secret.name, f"{secret.kind} {secret.reference}", secret.origin)
    for file in service.files:
        yield from _file(head._replace(kind="file", presence=False, origin=file.origin), file)
    for mount in service.mounts:
        value = "read-only" if mount.read_only else "read-write"
        yield place.item("mount", mount.path, value, mount.origin, follows=True)
    if service.gpus is not None:
        text = service.gpus if isinstance(service.gpus, str) else ", ".join(map(str, service.gpus))
        yield place.item("gpus", "GPUs of the host", text, given(*place.path, "gpus"), follows=True)
    yield from _setting(place, "starts containers", service.manages_containers)
    yield from _setting(place, "serves metrics", service.monitored, "monitor")
    if service.program is not None:
        source = service.program.url or service.program.file
        text = f"{service.program.sha256[:12]} from {source}" if source else service.program.path
        yield place.item("program", "program", text, service.program.origin, follows=True)
    yield from _setting(place, "shares the memory segments of the host", service.host_ipc, "host_ipc")
    yield from _setting(place, "runs without capabilities", service.hardened, "hardened")
    for kept in service.kept:
        yield place.item("service", kept.what, kept.value, kept.origin)
    yield from _out(place, "service", service.out)


def _setting(place: ItemPlace, what: str, value: str | bool, *keys: str) -> Iterator[Item]:
    """A plain value that follows from these keys of the node's table; nothing where it is not set."""
    if value:
        origin = derived("the node's settings", *[(*place.path, key) for key in keys] or [place.path])
        yield place.item("service", what, "yes" if value is True else str(value), origin, follows=True)


def _release(place: ItemPlace, service: Service) -> Iterator[Item]:
    """Which release of the node runs, and in which image; a live runner has an image of its own."""
    own, image = (*place.path, "node_release"), (*place.path, "image")
    if service.table == RUNNERS:
        if service.image:
            yield place.item("image", "image", service.image, given(*image))
        return
    origin = derived("the node's own release, else the fleet's", own, _NODE_RELEASE)
    yield place.item("service", "node release", _known(service.release), origin)
    paths = (image, ("fleet", "image"), own, _NODE_RELEASE)
    origin = derived("the node's own image, else the fleet's, with the release as its tag", *paths)
    yield place.item("image", "image", service.image, origin, follows=True)


def _known(release: Release) -> str:
    """A release, and that fleetc does not know it, where it is newer than all that fleetc has facts of."""
    unknown = release > NEWEST_RELEASE and all(facts.release != release for facts in releases())
    return format_release(release) + (" (unknown to fleetc)" if unknown else "")


def _arguments(place: ItemPlace, service: Service) -> Iterator[Item]:
    """One item for each flag; the words of a live runner are one, because their order has a meaning."""
    if service.table == RUNNERS:
        if service.arguments:
            words = " ".join(argument.text for argument in service.arguments)
            yield place.item("words", "arguments", words, given(*place.path, "arguments"))
        return
    for argument in service.arguments:
        follows = argument.flag in _PARTS_OF_A_PRICE
        yield place.item("argument", f"-{argument.flag}", argument.value, argument.origin, follows=follows)


_PARTS_OF_A_PRICE = ("pixelsPerUnit",)
"""Flags that follow the price flag that they belong to, when both change."""


def _file(node: Item, file: BlueprintFile) -> Iterator[Item]:
    head = node._replace(key=(*node.key, "file", file.name), what=file.name)
    names = list(entries_of(file.content))
    yield head._replace(value="1 entry" if len(names) == 1 else f"{len(names)} entries", presence=True)
    yield from parts_of(file, head)
    order = head._replace(key=(*head.key, "", "order"), what=f"{file.name}: order", order=True)
    yield order._replace(value="\n".join(filter(None, names)))


def _out(place: ItemPlace, kind: str, out: Chosen[str] | None) -> Iterator[Item]:
    """Until when and why a host or a node is out of service, at the table that says so."""
    if out is not None and out.origin.paths[0][:2] == place.path:
        yield place.item(kind, OUT, out.value, out.origin)


# --- hosts ----------------------------------------------------------------------------------------

HOST_FIELDS = ("address", "public", "runtime", "region", "ssh_user", "ssh_port", "become", "node_user")


def _host(host: HostBlueprint) -> Iterator[Item]:
    place = ItemPlace(("host", host.name), host.name, "", ("hosts", host.name))
    text = f"{host.runtime} at {host.address}" + (f", {counted(len(host.services), 'node')}" if host.services else "")
    yield Item(place.key, host.name, "", "host", host.name, text, given(*place.path), presence=True)
    for field in HOST_FIELDS:
        value = getattr(host, field)
        if value != "":
            text = ("yes" if value else "no") if isinstance(value, bool) else str(value)
            yield place.item("host", field, text, given(*place.path, field))
    if host.avatar is not None:
        yield from avatar(place, host.avatar)
    yield from _ports(place, host.listeners)
    yield from _out(place, "host", host.out)
    for service in host.services:
        yield from _service(_place(host, service), service)


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


# --- the fleet ------------------------------------------------------------------------------------


def _fleet(blueprint: Blueprint) -> Iterator[Item]:
    yield _of_table("fleet", "name", blueprint.fleet)
    yield _of_table("fleet", "network", blueprint.network, follows=True)
    yield _of_table("fleet", "node_release", _known(blueprint.release), follows=True)
    yield from _edges(blueprint)
    yield _of_table("rollout", "canary", blueprint.canary)
    yield _of_table("rollout", "batch", blueprint.batch)
    for silence in blueprint.silenced:
        words = [silence.reason, silence.until and f"until {silence.until}", silence.owner and f"owner {silence.owner}"]
        what = f"{silence.code} below {silence.at}" if silence.at else silence.code
        yield _FLEET.item("silence", what, ", ".join(filter(None, words)), given("silences", silence.name))
    yield from _market(blueprint)
    yield from streams(blueprint.streams)
    if blueprint.stream_api is not None:
        yield from stream_api(blueprint.stream_api)
    if blueprint.monitoring is not None:
        yield from monitoring(blueprint.monitoring)
    # The order of the hosts follows from all nodes and from who uses whom.
    origin = derived("hosts whose nodes others use go first", ("hosts",), *((table,) for table in NODE_TABLES))
    names = "\n".join(name for batch in blueprint.batches for name in batch)
    yield _FLEET.item("rollout", "order of the hosts", names, origin, follows=True)._replace(order=True)
    yield _of_table("rollout", "may_miss", blueprint.may_miss)
    for field, value in blueprint.times._asdict().items():
        yield _of_table("rollout", field, value)
    yield _of_table("rollout", "live", blueprint.live)


def _of_table(table: str, field: str, value: Any, *, follows: bool = False) -> Item:
    return _FLEET.item(table, field, str(value), given(table, field), follows=follows)


_EDGE_FIELDS = {"pays": "orchestrators", "outside": "orchestrators", "finds": "discovery", "signs": "remote_signer",
                "redeems": "redeemer", "offers": "runners", "serves": "orchestrator"}  # fmt: skip


def _edges(blueprint: Blueprint) -> Iterator[Item]:
    """Connections belong to the node whose setting makes them, if its host is part of the blueprint."""
    places = _places(blueprint)
    signed = {(edge.source, edge.target) for edge in blueprint.edges if edge.kind == "signs"}
    for edge in blueprint.edges:
        serves = edge.kind == "serves" or (edge.kind == "outside" and edge.source not in places)
        owner, other = (edge.target, edge.source) if serves else (edge.source, edge.target)
        if owner not in places:
            continue
        place = places[owner]
        field = "orchestrator" if serves else _EDGE_FIELDS.get(edge.kind, edge.kind)
        if edge.kind == "finds" and (edge.source, edge.target) in signed:
            field = "remote_signer"
        key, what = (*place.key, "edge", edge.kind, other), f"{edge.source} {edge.kind} {edge.target}"
        yield Item(key, place.host, owner, "edge", what, "yes", given(*place.path, field), follows=True)


def _places(blueprint: Blueprint) -> dict[str, ItemPlace]:
    return {service.name: _place(host, service) for host in blueprint.hosts for service in host.services}


def _market(blueprint: Blueprint) -> Iterator[Item]:
    """Rates, sales of runners, and funds: the load of a node is its own, everything else its wallet's.

    The gas price is an item where the spec states it; the assumption that replaces it is none.
    """
    market, places = blueprint.market, _places(blueprint)
    for currency, worth in market.rates:
        yield _FLEET.item("rate", currency, worth, given("rates", currency))
    if market.assumed is not None and market.assumed.origin.kind == "given":
        yield _FLEET.item("rate", "gas price", market.assumed.gas_price, market.assumed.origin)
    for sale in market.runners:
        if sale.orchestrator in places:
            yield _sale(places[sale.orchestrator], sale)
    for row in market.funds:
        if row.node in places:
            place, wallet = places[row.node], ("wallets", row.wallet)
            load = "expected_load" if place.path[0] == "gateways" else "runner_load"
            yield place.item("funds", "wallet", row.wallet, given(*wallet), follows=True)
            stated = (
                ("deposit", row.deposit, (*wallet, "deposit")),
                ("reserve", row.reserve, (*wallet, "reserve")),
                ("expected load", row.load, (*place.path, load)),
            )
            yield from (place.item("funds", what, value, given(*path)) for what, value, path in stated if value)


def _sale(place: ItemPlace, sale: RunnerRow) -> Item:
    """What an orchestrator sells of a runner, and what comes of it at one signer."""
    parts = (sale.comes_to, sale.in_advance and f"{sale.in_advance} in advance", sale.outcome)
    earns = sale.earns and f"at most {sale.earns} an hour"
    what = f"runner {sale.runner}" + (f" through {sale.signer}" if sale.signer else "")
    value = ", ".join(filter(None, (f"asks {sale.asks} for {sale.app}", *parts, earns)))
    table: Path = ("runners", sale.runner)
    origin = derived("what is sold, and for how much", (*table, "price"), (*table, "app"))
    return place.item("sale", what, value, origin)
