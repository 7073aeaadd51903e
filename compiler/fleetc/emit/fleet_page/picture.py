"""The picture of `FLEET.md`: hosts with their nodes and the connections between them, or regions of a large fleet.

In: the blueprint. Out: the picture as a nested file inside the page.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from functools import partial

from fleetc.blueprint.blueprint import AvatarSlot, Blueprint, HostBlueprint
from fleetc.emit.templates import Rendered, Templates, View, Word
from fleetc.emit.traced import Mark, Origins, together
from fleetc.places.origin import derived, given

PICTURE_LIMIT = 60
"""The most nodes and slots that are drawn individually; a larger fleet is drawn as regions."""


def drawn_whole(blueprint: Blueprint) -> bool:
    """Whether there are few enough nodes and slots to draw them individually."""
    slots = sum(len(host.avatar.slots) for host in blueprint.hosts if host.avatar is not None)
    return sum(len(host.services) for host in blueprint.hosts) + slots <= PICTURE_LIMIT


def drawing(blueprint: Blueprint, templates: Templates) -> Rendered:
    """The picture."""
    if drawn_whole(blueprint):
        return Rendered(templates, "diagram/fleet.mmd.j2", partial(_picture, blueprint))
    return Rendered(templates, "diagram/regions.mmd.j2", partial(_summary, blueprint))


def _picture(blueprint: Blueprint, mark: Mark) -> View:
    """Hosts as boxes, nodes inside them, edges between them; an end of an edge outside the fleet has no box."""
    table_of = {service.name: service.table for host in blueprint.hosts for service in host.services}

    def ends(*names: str) -> Origins:
        return together(given(table_of[name], name) for name in names if name in table_of)

    meets: dict[str, list[str]] = {}
    for edge in blueprint.edges:
        for name in {edge.source, edge.target} - table_of.keys():
            meets.setdefault(name, []).extend((edge.source, edge.target))
    return {
        "hosts": [
            {
                "id": mark(Word(f"host_{_underscored(host.name)}"), given("hosts", host.name)),
                "label": mark(
                    " ".join(filter(None, (host.name, host.runtime, host.region))),
                    *(given("hosts", host.name, *field) for field in ((), ("runtime",), ("region",))),
                ),
                "nodes": [
                    {
                        "id": mark(_node_id(s.name, table_of), *ends(s.name)),
                        "label": mark(" ".join(filter(None, (s.name, s.role, s.mode))), *ends(s.name)),
                    }
                    for s in host.services
                ]
                + [
                    {"id": mark(_slot_id(host, slot), slot.origin), "label": mark(_slot_label(slot), slot.origin)}
                    for slot in (host.avatar.slots if host.avatar is not None else ())
                ],
            }
            for host in blueprint.hosts
        ],
        "outside": [
            {"id": mark(_node_id(name, table_of), *ends(*met)), "label": mark(name, *ends(*met))}
            for name, met in sorted(meets.items())
        ],
        "edges": [
            {
                "source": mark(_node_id(e.source, table_of), *ends(e.source, e.target)),
                "target": mark(_node_id(e.target, table_of), *ends(e.source, e.target)),
                # A source outside the fleet is the orchestrator of a worker of this fleet.
                "kind": mark(
                    "serves" if e.kind == "outside" and e.source not in table_of else e.kind,
                    *ends(e.source, e.target),
                ),
            }
            for e in blueprint.edges
        ],
    }


def _node_id(name: str, known: Iterable[str]) -> Word:
    """A Mermaid id. The prefix keeps names such as `end` from being Mermaid keywords."""
    if name in known:
        return Word(f"node_{_underscored(name)}")
    return Word(f"outside_{hashlib.sha256(name.encode()).hexdigest()[:12]}")


def _slot_id(host: HostBlueprint, slot: AvatarSlot) -> Word:
    return Word(f"slot_{slot.number}_{_underscored(host.name)}")


def _slot_label(slot: AvatarSlot) -> str:
    return f"slot {slot.number} {slot.avatar} on GPU {slot.gpu} signaling {dict(slot.ports)['signaling']}"


def _underscored(name: str) -> str:
    return name.replace("-", "_")


def _summary(blueprint: Blueprint, mark: Mark) -> View:
    """Regions with the number of their hosts and nodes, and the number of connections from one to another."""
    region_of = {service.name: host.region for host in blueprint.hosts for service in host.services}
    hosts = Counter(host.region for host in blueprint.hosts)
    roles = Counter((host.region, service.role) for host in blueprint.hosts for service in host.services)
    slots = [(host.region, slot) for host in blueprint.hosts if host.avatar is not None for slot in host.avatar.slots]
    roles.update((region, "avatar slots") for region, _ in slots)
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
    counted = derived("hosts and nodes counted by region", ("hosts",))
    return {
        "regions": [{"id": mark(ids[region], counted), "label": mark(labels[region], counted)} for region in regions],
        "links": [
            {
                "source": mark(ids[source], counted),
                "target": mark(ids[target], counted),
                "label": mark(f"{count} connections", counted),
            }
            for (source, target), count in sorted(links.items())
            if source in hosts and target in hosts
        ],
    }
