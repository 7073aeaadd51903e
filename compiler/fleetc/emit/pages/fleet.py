"""The page of the fleet: its picture, who buys from whom, wallets, streams, and what several hosts need.

In: the blueprint. Out: the view of a template, with the origins of each cell.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from fleetc.blueprint.blueprint import HostBlueprint, Service
from fleetc.blueprint.tasks import PEOPLE
from fleetc.emit.pages import streams
from fleetc.emit.pages.around import Around
from fleetc.emit.pages.cells import cell, text, word
from fleetc.emit.pages.host import task_row
from fleetc.emit.pages.market import market_view
from fleetc.emit.pages.picture import PICTURE_LIMIT, drawings, drawn_whole
from fleetc.emit.pages.watching import monitoring_view
from fleetc.emit.templates import Encoded, Templates, View, Word
from fleetc.emit.traced import Mark
from fleetc.places.origin import derived, given
from fleetc.upstream import format_release


def fleet_view(around: Around, templates: Templates, mark: Mark) -> View:
    """All of the page."""
    blueprint = around.blueprint
    hosts = derived("the hosts of the fleet", ("hosts",))
    nodes = (hosts, *(origin for _, origin in around.place_of.values()))
    whole = drawn_whole(blueprint)
    return {
        "fleet": mark(cell(blueprint.fleet), given("fleet", "name")),
        "network": mark(cell(blueprint.network), given("fleet", "network")),
        "release": mark(Word(format_release(blueprint.release)), given("fleet", "node_release")),
        "drawn_whole": mark(whole, *nodes),
        "picture_limit": mark(PICTURE_LIMIT, *nodes),
        "pictures": [
            {"region": mark(cell(drawn.region) if drawn.region else "", hosts), "body": drawn.body}
            for drawn in drawings(blueprint, templates)
        ],
        "hosts": [_host(host, mark) for host in blueprint.hosts] if whole else [],
        **market_view(blueprint, mark),
        "stream_api": streams.api_rows(blueprint.stream_api, mark),
        "streams": [streams.stream_row(stream, mark) for stream in blueprint.streams],
        "stream_secrets": [found for stream in blueprint.streams for found in streams.secret_rows(stream, mark)],
        **monitoring_view(blueprint, mark),
        "tasks": [*_tasks(around, mark)],
        "silenced": [
            mark(tuple(cell(text) if text else "" for text in one[1:]), given("silences", one.name))
            for one in blueprint.silenced
        ],
    }


def _host(host: HostBlueprint, mark: Mark) -> object:
    """One host with its nodes; an empty text is a value that the spec does not give."""
    table = ("hosts", host.name)
    nodes = [mark(_node(service), given(service.table, service.name)) for service in host.services]
    if host.avatar is not None:
        nodes.append(mark(Encoded(f"{cell(host.avatar.name)} avatars"), given("avatars", host.avatar.name)))
    return (
        mark(Encoded(f"[{cell(host.name)}](hosts/{host.name}/README.md)"), given(*table)),
        mark(cell(host.region) if host.region else "", given(*table, "region")),
        mark(cell(host.address), given(*table, "address")),
        mark(word(host.runtime), given(*table, "runtime")),
        nodes,
    )


def _node(service: Service) -> Encoded:
    return Encoded(f"{cell(service.name)} {service.role}")


def _tasks(around: Around, mark: Mark) -> Iterator[object]:
    """What people provide on several hosts, and for the fleet, by who does it."""
    shared = [(tasks[0], [task.host for task in tasks]) for tasks in around.common.values()]
    rows = [*shared, *((task, []) for task in around.tasks.get("", []))]
    rows.sort(key=lambda row: PEOPLE.index(row[0].who))
    for who, found in groupby(rows, key=lambda row: row[0].who):
        yield text(who), [task_row(task, hosts, mark) for task, hosts in found]
