"""Emits `FLEET.md`: the fleet for people, with its picture, ports, prices and the secrets that it needs.

In: the blueprint. Out: `FLEET.md`. All text of the spec passes the encoders of Markdown and Mermaid; nothing in it is
markup, a mention or a link. The parts are in `fleet_page/`.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.blueprint.blueprint import Blueprint
from fleetc.emit.fleet_page.avatars import caller_rows, image_rows, slot_row, stack_row
from fleetc.emit.fleet_page.cells import cell, word
from fleetc.emit.fleet_page.hosts import SecretRow, host_marks, host_row, node_marks, node_row, port_rows
from fleetc.emit.fleet_page.market import market_marks, market_view
from fleetc.emit.fleet_page.picture import PICTURE_LIMIT, drawing, drawn_whole, picture_marks
from fleetc.emit.fleet_page.prices import price_rows
from fleetc.emit.fleet_page.streams import stream_row
from fleetc.emit.fleet_page.watching import monitoring_marks, monitoring_view
from fleetc.emit.templates import Encoded, Templates, Word
from fleetc.emit.tracing import ByLine, Marks, Together, TracedLine, trace_template
from fleetc.emit.tree import Artifact
from fleetc.places.origin import derived, given
from fleetc.upstream import format_release

FILE = "FLEET.md"
_TEMPLATE = "docs/fleet.md.j2"


def emit(blueprint: Blueprint, templates: Templates) -> Iterator[Artifact]:
    """The one document."""
    yield Artifact(FILE, templates.render(_TEMPLATE, _view(blueprint, templates)).encode(), origins=("fleet",))


def trace(blueprint: Blueprint, templates: Templates) -> list[TracedLine]:
    """The lines of the document, each with the origins of what stands on it."""
    return trace_template(templates, _TEMPLATE, _view(blueprint, templates), _marks(blueprint, templates))


def _view(blueprint: Blueprint, templates: Templates) -> dict[str, object]:
    pairs = [(host, service) for host in blueprint.hosts for service in host.services]
    stacks = [(host, host.avatar) for host in blueprint.hosts if host.avatar is not None]
    slots = [slot_row(host, slot) for host, avatar in stacks for slot in avatar.slots]
    template, picture = drawing(blueprint)
    return {
        "fleet": cell(blueprint.fleet),
        "network": cell(blueprint.network),
        "release": Word(format_release(blueprint.release)),
        "host_count": len(blueprint.hosts),
        "node_count": len(pairs),
        "stacks": [stack_row(host, avatar) for host, avatar in stacks],
        "slots": slots,
        "slot_count": len(slots),
        "stack_images": [row for _, avatar in stacks for row in image_rows(avatar)],
        "callers": [row for host, avatar in stacks for row in caller_rows(host, avatar)],
        "drawn_whole": drawn_whole(blueprint),
        "picture_limit": PICTURE_LIMIT,
        "picture": Encoded(templates.render(template, picture)),
        "hosts": [host_row(host) for host in blueprint.hosts],
        "nodes": [node_row(host, service) for host, service in pairs],
        "ports": [row for host in blueprint.hosts for row, _ in port_rows(host)],
        "prices": [row for _, service in pairs for row, _ in price_rows(service)],
        **market_view(blueprint),
        "streams": [stream_row(stream) for stream in blueprint.streams],
        "stream_secrets": [
            (cell(stream.name), word(s.kind), cell(s.reference), cell(".".join(map(str, s.place))))
            for stream in blueprint.streams
            for s in stream.secrets
        ],
        **monitoring_view(blueprint),
        "secrets": [
            SecretRow(word(s.kind), cell(s.reference), cell(s.name), cell(owner), cell(host.name))
            for host in blueprint.hosts
            for owner, secrets in host.secrets()
            for s in sorted(secrets)
        ],
        "silenced": [
            {"code": cell(c), "at": cell(at) if at else "", "reason": cell(r)} for c, at, r in blueprint.silenced
        ],
    }


def _marks(blueprint: Blueprint, templates: Templates) -> dict[str, Marks]:
    pairs = [(host, service) for host in blueprint.hosts for service in host.services]
    hosts = derived("the hosts of the fleet", ("hosts",))
    nodes = Together([hosts, *(given(service.table, service.name) for _, service in pairs)])
    stacks = [(host, host.avatar) for host in blueprint.hosts if host.avatar is not None]
    template, picture = drawing(blueprint)
    drawn = trace_template(templates, template, picture, picture_marks(blueprint))
    return {
        "fleet": given("fleet", "name"),
        "network": given("fleet", "network"),
        "release": given("fleet", "node_release"),
        "host_count": hosts,
        "node_count": nodes,
        "stacks": [given("avatars", avatar.name) for _, avatar in stacks],
        "slots": [slot.origin for _, avatar in stacks for slot in avatar.slots],
        "slot_count": Together([nodes[0], *(given("avatars", avatar.name) for _, avatar in stacks)]),
        "stack_images": [
            Together([given("avatars", avatar.name), image.origin]) for _, avatar in stacks for image in avatar.images
        ],
        "callers": [given("avatars", avatar.name, "allow") for h, avatar in stacks for _ in caller_rows(h, avatar)],
        "drawn_whole": nodes,
        "picture_limit": nodes,
        "picture": ByLine((*line.origins, *line.presence) for line in drawn),
        "hosts": [host_marks(host) for host in blueprint.hosts],
        "nodes": [node_marks(host, service) for host, service in pairs],
        "ports": [Together([origin, given("hosts", h.name)]) for h in blueprint.hosts for _, origin in port_rows(h)],
        "prices": [
            Together([given(service.table, service.name), *origins])
            for _, service in pairs
            for _, origins in price_rows(service)
        ],
        **market_marks(blueprint),
        "secrets": [
            Together([s.origin, given("hosts", host.name)])
            for host in blueprint.hosts
            for _, secrets in host.secrets()
            for s in sorted(secrets)
        ],
        **monitoring_marks(blueprint),
        "streams": [Together([given("streams", s.name), s.request.origin]) for s in blueprint.streams],
        "stream_secrets": [
            Together([given("streams", s.name), x.origin]) for s in blueprint.streams for x in s.secrets
        ],
        "silenced": [given("silence", index) for index in range(len(blueprint.silenced))],
    }
