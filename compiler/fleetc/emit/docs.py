"""Emits `FLEET.md`: the fleet for people, with its picture, ports, prices and required secrets.

In: the blueprint. Out: `FLEET.md`. The encoders of Markdown and Mermaid escape all text of the spec: it is never
markup, a mention or a link. The parts are in `fleet_page/`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from fleetc.blueprint.blueprint import Blueprint
from fleetc.emit.draft import Draft
from fleetc.emit.fleet_page import streams
from fleetc.emit.fleet_page.avatars import caller_rows, image_rows, slot_row, stack_row
from fleetc.emit.fleet_page.cells import cell
from fleetc.emit.fleet_page.hosts import host_row, node_row, port_rows, price_rows, secret_rows, task_lists
from fleetc.emit.fleet_page.market import market_view
from fleetc.emit.fleet_page.picture import PICTURE_LIMIT, drawings, drawn_whole
from fleetc.emit.fleet_page.watching import monitoring_view
from fleetc.emit.templates import Rendered, Templates, View, Word
from fleetc.emit.traced import Mark
from fleetc.places.origin import derived, given
from fleetc.upstream import format_release

FILE = "FLEET.md"
_TEMPLATE = "docs/fleet.md.j2"


def emit(blueprint: Blueprint, templates: Templates) -> Iterator[Draft]:
    """The document."""
    yield Draft(FILE, Rendered(templates, _TEMPLATE, partial(_view, blueprint, templates)), tables=("fleet",))


def _view(blueprint: Blueprint, templates: Templates, mark: Mark) -> View:
    pairs = [(host, service) for host in blueprint.hosts for service in host.services]
    stacks = [(host, host.avatar) for host in blueprint.hosts if host.avatar is not None]
    slots = [slot_row(host, slot, mark) for host, avatar in stacks for slot in avatar.slots]
    hosts = derived("the hosts of the fleet", ("hosts",))
    nodes = (hosts, *(given(service.table, service.name) for _, service in pairs))
    counted = (hosts, *(given("avatars", avatar.name) for _, avatar in stacks))
    return {
        "fleet": mark(cell(blueprint.fleet), given("fleet", "name")),
        "network": mark(cell(blueprint.network), given("fleet", "network")),
        "release": mark(Word(format_release(blueprint.release)), given("fleet", "node_release")),
        "host_count": mark(len(blueprint.hosts), hosts),
        "node_count": mark(len(pairs), *nodes),
        "stacks": [stack_row(host, avatar, mark) for host, avatar in stacks],
        "slots": slots,
        "slot_count": mark(len(slots), *counted),
        "stack_images": [found for _, avatar in stacks for found in image_rows(avatar, mark)],
        "callers": [found for host, avatar in stacks for found in caller_rows(host, avatar, mark)],
        "drawn_whole": mark(drawn_whole(blueprint), *nodes),
        "picture_limit": mark(PICTURE_LIMIT, *nodes),
        "pictures": [
            {"region": mark(cell(drawn.region) if drawn.region else "", hosts), "body": drawn.body}
            for drawn in drawings(blueprint, templates)
        ],
        "hosts": [host_row(host, mark) for host in blueprint.hosts],
        "nodes": [node_row(host, service, mark) for host, service in pairs],
        "ports": [found for host in blueprint.hosts for found in port_rows(host, mark)],
        "tasks": list(task_lists(blueprint, mark)),
        "prices": [found for _, service in pairs for found in price_rows(service, mark)],
        **market_view(blueprint, mark),
        "stream_api": streams.api_rows(blueprint.stream_api, mark),
        "streams": [streams.stream_row(stream, mark) for stream in blueprint.streams],
        "stream_secrets": [found for stream in blueprint.streams for found in streams.secret_rows(stream, mark)],
        **monitoring_view(blueprint, mark),
        "secrets": [found for host in blueprint.hosts for found in secret_rows(host, mark)],
        "silenced": [
            mark(tuple(cell(text) if text else "" for text in one[1:]), given("silences", one.name))
            for one in blueprint.silenced
        ],
    }
