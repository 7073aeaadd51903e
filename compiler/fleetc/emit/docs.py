"""Emits what people read: `FLEET.md`, and `hosts/<host>/README.md` for each host.

In: the blueprint. Out: pages. No page belongs to a release. The encoders of Markdown and Mermaid escape all text of the
spec: it is never markup, a mention or a link. The parts are in `pages/`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from fleetc.blueprint.blueprint import Blueprint
from fleetc.emit.draft import Draft
from fleetc.emit.pages.around import Around
from fleetc.emit.pages.fleet import fleet_view
from fleetc.emit.pages.host import host_view
from fleetc.emit.templates import Rendered, Templates
from fleetc.emit.tree import FLEET_PAGE, page_of


def emit(blueprint: Blueprint, templates: Templates) -> Iterator[Draft]:
    """The page of the fleet, then those of hosts."""
    around = Around(blueprint)
    view = partial(fleet_view, around, templates)
    yield Draft(FLEET_PAGE, Rendered(templates, "docs/fleet.md.j2", view), tables=("fleet",))
    for host in blueprint.hosts:
        body = Rendered(templates, "docs/host.md.j2", partial(host_view, around, host))
        yield Draft(page_of(host.name), body, tables=(f"hosts.{host.name}",))
