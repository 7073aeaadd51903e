"""The picture of `FLEET.md`: hosts with what runs on them and the connections between, or regions of a large fleet.

In: the blueprint. Out: the name of a template, its view, and marks of the same shape.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable

from fleetc.blueprint.blueprint import AvatarSlot, Blueprint, HostBlueprint
from fleetc.emit.templates import Word
from fleetc.emit.tracing import Marks, Together
from fleetc.places.origin import derived, given

PICTURE_LIMIT = 60
"""The most nodes and slots that are drawn one by one; a bigger fleet is drawn as regions."""


def drawn_whole(blueprint: Blueprint) -> bool:
    """Whether the nodes and slots are few enough to be drawn one by one."""
    slots = sum(len(host.avatar.slots) for host in blueprint.hosts if host.avatar is not None)
    return sum(len(host.services) for host in blueprint.hosts) + slots <= PICTURE_LIMIT


def drawing(blueprint: Blueprint) -> tuple[str, dict[str, object]]:
    """The template of the picture and its view."""
    return (
        ("diagram/fleet.mmd.j2", _picture(blueprint))
        if drawn_whole(blueprint)
        else ("diagram/regions.mmd.j2", _summary(blueprint))
    )


def _picture(blueprint: Blueprint) -> dict[str, object]:
    """Hosts as boxes, nodes inside them, edges between; what an edge names outside the fleet stands alone."""
    known = {service.name for host in blueprint.hosts for service in host.services}
    ends = {end for edge in blueprint.edges for end in (edge.source, edge.target)}
    return {
        "hosts": [
            {
                "id": Word(f"host_{_underscored(host.name)}"),
                "label": " ".join(filter(None, (host.name, host.runtime, host.region))),
                "nodes": [
                    {"id": _node_id(s.name, known), "label": " ".join(filter(None, (s.name, s.role, s.mode)))}
                    for s in host.services
                ]
                + [{"id": _slot_id(host, slot), "label": _slot_label(slot)} for slot in _slots_of(host)],
            }
            for host in blueprint.hosts
        ],
        "outside": [{"id": _node_id(name, known), "label": name} for name in sorted(ends - known)],
        "edges": [
            {
                "source": _node_id(e.source, known),
                "target": _node_id(e.target, known),
                # An outside end that is a source is the orchestrator of a worker of this fleet.
                "kind": "serves" if e.kind == "outside" and e.source not in known else e.kind,
            }
            for e in blueprint.edges
        ],
    }


def _node_id(name: str, known: Iterable[str]) -> Word:
    """A Mermaid id. The prefix keeps names such as `end` from being words of its language."""
    if name in known:
        return Word(f"node_{_underscored(name)}")
    return Word(f"outside_{hashlib.sha256(name.encode()).hexdigest()[:12]}")


def _slots_of(host: HostBlueprint) -> tuple[AvatarSlot, ...]:
    return host.avatar.slots if host.avatar is not None else ()


def _slot_id(host: HostBlueprint, slot: AvatarSlot) -> Word:
    return Word(f"slot_{slot.number}_{_underscored(host.name)}")


def _slot_label(slot: AvatarSlot) -> str:
    return f"slot {slot.number} {slot.avatar} on GPU {slot.gpu} signaling {dict(slot.ports)['signaling']}"


def _underscored(name: str) -> str:
    return name.replace("-", "_")


def _summary(blueprint: Blueprint) -> dict[str, object]:
    """Regions with their hosts and nodes counted, and how many connections lead from one to another."""
    region_of = {service.name: host.region for host in blueprint.hosts for service in host.services}
    hosts = Counter(host.region for host in blueprint.hosts)
    roles = Counter((host.region, service.role) for host in blueprint.hosts for service in host.services)
    roles.update((host.region, "avatar slots") for host in blueprint.hosts for _ in _slots_of(host))
    links = Counter((region_of.get(e.source, ""), region_of.get(e.target, "")) for e in blueprint.edges)
    regions = sorted(hosts)
    ids = {region: Word(f"region_{_underscored(region)}" if region else "region") for region in (*regions, "")}
    labels = {
        region: " and ".join(
            [f"{region or 'no region'} with {hosts[region]} hosts"]
            + [f"{count} {role}" for (place, role), count in sorted(roles.items()) if place == region]
        )
        for region in regions
    }
    return {
        "regions": [{"id": ids[region], "label": labels[region]} for region in regions],
        "links": [
            {"source": ids[source], "target": ids[target], "label": f"{count} connections"}
            for (source, target), count in sorted(links.items())
            if source in hosts and target in hosts
        ],
    }


def picture_marks(blueprint: Blueprint) -> dict[str, Marks]:
    """The origins of the picture, in the shape of its view."""
    table_of = {service.name: service.table for host in blueprint.hosts for service in host.services}

    def ends(*names: str) -> Together:
        return Together(given(table_of[name], name) for name in names if name in table_of)

    if not drawn_whole(blueprint):
        regions = derived("hosts and nodes counted by region", ("hosts",))
        return {"regions": Together([regions]), "links": Together([regions])}
    outside = {end for edge in blueprint.edges for end in (edge.source, edge.target)} - table_of.keys()
    return {
        "hosts": [
            {
                "id": given("hosts", host.name),
                "label": Together(given("hosts", host.name, *field) for field in ((), ("runtime",), ("region",))),
                "nodes": [*(ends(service.name) for service in host.services), *(s.origin for s in _slots_of(host))],
            }
            for host in blueprint.hosts
        ],
        "outside": [
            ends(*(end for e in blueprint.edges if name in (e.source, e.target) for end in (e.source, e.target)))
            for name in sorted(outside)
        ],
        "edges": [ends(edge.source, edge.target) for edge in blueprint.edges],
    }
