"""The pictures of `FLEET.md`: regions with their hosts, nodes, prices and streams, and the connections between them.

In: the blueprint. Out: pictures as nested files inside the page. A small fleet is one picture; a larger one has a
picture of regions and one per region; a very large one only regions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

from fleetc.blueprint.blueprint import AvatarSlot, Blueprint, HostBlueprint, PriceLine, Service
from fleetc.emit.pages.points import DrawnEdge, joined
from fleetc.emit.templates import Encoded, Rendered, Templates, View, Word
from fleetc.emit.traced import Mark, Origins, together
from fleetc.language.quantities import price_in_words
from fleetc.places.origin import derived, given
from fleetc.text.counting import counted
from fleetc.text.encoders import mermaid_label

PICTURE_LIMIT = 120
"""The most nodes and slots that are drawn individually; a larger fleet is drawn as regions."""

_ONE_PICTURE = 12
"""The most nodes and slots of a single picture."""

_STREAMS = 6
"""The most streams of a gateway with names in their box; of more it has the number."""


class Picture(NamedTuple):
    """A picture and the region that it shows; empty for the fleet."""

    region: str
    body: Rendered


def drawn_whole(blueprint: Blueprint) -> bool:
    """Whether there are few enough nodes and slots to draw them individually."""
    return _size(blueprint) <= PICTURE_LIMIT


def drawings(blueprint: Blueprint, templates: Templates) -> list[Picture]:
    """The pictures, the one of the fleet first."""
    regions = sorted({host.region for host in blueprint.hosts})
    if _size(blueprint) <= _ONE_PICTURE or (len(regions) < 2 and drawn_whole(blueprint)):
        return [Picture("", Rendered(templates, "diagram/fleet.mmd.j2", partial(_picture, blueprint, regions)))]
    found = [Picture("", Rendered(templates, "diagram/regions.mmd.j2", partial(_summary, blueprint)))]
    for region in regions if drawn_whole(blueprint) else ():
        drawn = Rendered(templates, "diagram/fleet.mmd.j2", partial(_picture, blueprint, [region]))
        found.append(Picture(region or "no region", drawn))
    return found


def _size(blueprint: Blueprint) -> int:
    slots = sum(len(host.avatar.slots) for host in blueprint.hosts if host.avatar is not None)
    return sum(len(host.services) for host in blueprint.hosts) + slots


def _picture(blueprint: Blueprint, regions: list[str], mark: Mark) -> View:
    """Regions as boxes with hosts and nodes inside; services outside have no box.

    Of other regions only their names are shown.
    """
    table_of = {service.name: service.table for host in blueprint.hosts for service in host.services}
    region_of = {service.name: host.region for host in blueprint.hosts for service in host.services}
    here = {name for name, region in region_of.items() if region in regions}

    def ends(*names: str) -> Origins:
        return together(given(table_of[name], name) for name in names if name in table_of)

    def end(name: str, way: str) -> str:
        """The id of a node, or of its region when that is another: one for each way, so that all edges lead right."""
        far = name in table_of and name not in here
        return f"{way}_{_underscored(region_of[name])}" if far else _node_id(name, table_of)

    outside: dict[str, tuple[str, list[str]]] = {}
    found: dict[DrawnEdge, list[str]] = {}
    for edge in blueprint.edges:
        if edge.source not in here and edge.target not in here:
            continue
        for name, way in ((edge.source, "from"), (edge.target, "to")):
            if name not in here:
                label = f"region {region_of[name] or 'without a name'}" if name in table_of else name
                outside.setdefault(end(name, way), (label, []))[1].extend((edge.source, edge.target))
        # A source outside the fleet is the orchestrator of a worker of this fleet.
        kind = "serves" if edge.kind == "outside" and edge.source not in table_of else edge.kind
        found.setdefault(DrawnEdge(end(edge.source, "from"), end(edge.target, "to"), kind), []).extend(
            (edge.source, edge.target)
        )
    edges, points = joined(found)
    inside: dict[str, str] = {_node_id(name, table_of): region_of[name] for name in here}
    beside = {point: {inside.get(edge.source) for edge in edges if edge.target == point} for point in points}
    streams = _streams(blueprint, here, complete=len(regions) > 1 or region_of.keys() <= here)
    return {
        "regions": [
            {
                "id": mark(Word(_region_id(region)), given("hosts")),
                "label": mark(f"region {region}" if region else "", given("hosts")),
                "hosts": [_host(host, table_of, ends, mark) for host in blueprint.hosts if host.region == region],
                "points": [mark(Word(one), *ends(*met)) for one, met in points.items() if beside[one] == {region}],
            }
            for region in regions
        ],
        "outside": [
            {"id": mark(Word(name), *ends(*met)), "label": mark(label, *ends(*met))}
            for name, (label, met) in sorted(outside.items())
        ],
        "streams": [
            {
                "id": mark(Word(f"stream_{number}"), *(given("streams", name) for name in names)),
                "label": mark(label, *(given("streams", name) for name in names)),
                "gateway": mark(_node_id(gateway, table_of), *ends(gateway)) if gateway in here else "",
            }
            for number, (gateway, label, names) in enumerate(streams, 1)
        ],
        "points": [mark(Word(one), *ends(*met)) for one, met in points.items() if len(beside[one]) > 1],
        "edges": [
            {
                "source": mark(Word(edge.source), *ends(*met)),
                "target": mark(Word(edge.target), *ends(*met)),
                "kind": mark(edge.kind, *ends(*met)),
            }
            for edge, met in edges.items()
        ],
    }


def _host(host: HostBlueprint, known: Iterable[str], ends: Callable[..., Origins], mark: Mark) -> dict[str, object]:
    return {
        "id": mark(Word(f"host_{_underscored(host.name)}"), given("hosts", host.name)),
        "label": mark(
            f"{host.name} {host.runtime}", *(given("hosts", host.name, *field) for field in ((), ("runtime",)))
        ),
        "nodes": [
            {
                "id": mark(_node_id(s.name, known), *ends(s.name)),
                "label": mark(_node_label(s), *ends(s.name), *(line.origin for line in s.prices)),
            }
            for s in host.services
        ]
        + [
            {"id": mark(_slot_id(host, slot), slot.origin), "label": mark(_slot_label(slot), slot.origin)}
            for slot in (host.avatar.slots if host.avatar is not None else ())
        ],
    }


def _node_label(service: Service) -> Encoded:
    """What a node is, what it asks or pays, and the wallet that it acts for, a line each."""
    wallets = [a.origin.paths[0][1] for a in service.arguments if a.flag == "ethAcctAddr" and a.origin.paths]
    role = " ".join(filter(None, (service.role, service.mode)))
    return Encoded(mermaid_label(service.name, role, *_prices(service.prices), *(f"wallet {name}" for name in wallets)))


def _prices(prices: tuple[PriceLine, ...]) -> list[str]:
    """The first price, which is the base price where there is one, and how many others there are."""
    if not prices:
        return []
    first, *rest = prices
    work = "" if first.work == "base price" else f" for {first.work}"
    more = f" and {counted(len(rest), 'more cap' if first.pays else 'more price')}" if rest else ""
    return [f"{price_in_words(first.pays, first.price)}{work}{more}"]


def _streams(blueprint: Blueprint, here: set[str], complete: bool) -> list[tuple[str, str, list[str]]]:
    """Gateway, label and names of each box of streams. Those without a gateway are in a picture of all regions."""
    by_gateway: dict[str, list[str]] = {}
    for stream in blueprint.streams:
        if stream.gateway in here or (complete and not stream.gateway):
            by_gateway.setdefault(stream.gateway, []).append(stream.name)
    found = []
    for gateway, names in by_gateway.items():
        kind = "stream" if len(names) == 1 else "streams"
        label = f"{len(names)} streams" if len(names) > _STREAMS else f"{kind} {', '.join(names)}"
        found.append((gateway, label, names))
    return found


def _node_id(name: str, known: Iterable[str]) -> Word:
    """A Mermaid id. The prefix keeps names such as `end` from being Mermaid keywords."""
    if name in known:
        return Word(f"node_{_underscored(name)}")
    return Word(f"outside_{hashlib.sha256(name.encode()).hexdigest()[:12]}")


def _region_id(region: str) -> str:
    return f"region_{_underscored(region)}" if region else "region"


def _slot_id(host: HostBlueprint, slot: AvatarSlot) -> Word:
    return Word(f"slot_{slot.number}_{_underscored(host.name)}")


def _slot_label(slot: AvatarSlot) -> str:
    return f"slot {slot.number} {slot.avatar} on GPU {slot.gpu} signaling {dict(slot.ports)['signaling']}"


def _underscored(name: str) -> str:
    return name.replace("-", "_")


def _summary(blueprint: Blueprint, mark: Mark) -> View:
    """Regions with what runs there, and the connections from one to another: no numbers, which every node changes."""
    region_of = {service.name: host.region for host in blueprint.hosts for service in host.services}
    roles: dict[str, set[str]] = {host.region: set() for host in blueprint.hosts}
    for host in blueprint.hosts:
        roles[host.region] |= {f"{service.role}s" for service in host.services}
        roles[host.region] |= {"avatars"} if host.avatar is not None and host.avatar.slots else set()
    links = {(region_of.get(edge.source), region_of.get(edge.target)) for edge in blueprint.edges}
    origin = derived("what runs in each region", ("hosts",))

    def end(region: str) -> object:
        return mark(Word(_region_id(region)), origin)

    return {
        "regions": [
            {
                "id": end(region),
                "label": mark(" with ".join(filter(None, [region or "no region", ", ".join(sorted(found))])), origin),
            }
            for region, found in sorted(roles.items())
        ],
        "links": [
            {"source": end(source), "target": end(target)}
            for source, target in sorted((a, b) for a, b in links if a is not None and b is not None)
        ],
    }
