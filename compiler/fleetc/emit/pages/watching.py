"""What is monitored, by whom, and what is not, for the page of the fleet and those of hosts.

In: the blueprint. Out: parts of views.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.blueprint.blueprint import Blueprint
from fleetc.blueprint.listeners import MONITORING, Listening
from fleetc.blueprint.monitoring import HostProject, ScrapeTarget
from fleetc.emit.pages.around import Around
from fleetc.emit.pages.cells import cell, named, text, word
from fleetc.emit.templates import View
from fleetc.emit.traced import Mark, together
from fleetc.language.effective import LOOPBACK
from fleetc.language.quantities import HostName, host_port, reach_of
from fleetc.places.origin import Origin, derived

_PAGES = {
    "Grafana": "the dashboard",
    "Prometheus": "targets, alerts and queries",
    "Alertmanager": "alerts that go out, and silences",
}
"""The pages of the project's programs."""


def monitoring_view(blueprint: Blueprint, mark: Mark) -> View:
    """Where people look, and what nothing monitors, by the reason."""
    watched = blueprint.monitoring
    if watched is None:
        return {"watched": mark(False, derived("no node has monitor = true", ("fleet",)))}
    watch = derived("nodes with monitor = true and what the spec says about monitoring", ("monitoring",))
    receiver, origin = watched.receiver or ("", watch)
    unwatched: dict[str, tuple[list[str], list[Origin]]] = {}
    for item in watched.unwatched:
        names, origins = unwatched.setdefault(item.why, ([], []))
        names.append(item.what)
        origins.append(item.origin)
    return {
        "watched": mark(True, watch),
        "home": mark(cell(watched.home) if watched.home else "", watch),
        "receiver": mark(cell(receiver) if receiver and watched.agents else "", origin),
        "scraped": mark(bool(watched.targets or watched.agents), watch),
        "projects": mark(watched.programs is not None, watch),
        "pages": [_page(one, mark) for one in _pages(blueprint)],
        "unwatched": [
            mark((text(why), named(names)), *together(origins)) for why, (names, origins) in unwatched.items()
        ],
    }


def project_view(around: Around, host: str, mark: Mark) -> View:
    """What a host reads metrics from, what starts the programs there, and the files that people put there."""
    watched = around.blueprint.monitoring
    programs = watched.programs if watched is not None else None
    projects = [project for project in (programs.hosts if programs is not None else ()) if project.host == host]
    containers = [(project, container) for project in projects for container in project.containers]
    return {
        "read": [_read(target, mark) for target in around.scraped.get(host, ())],
        "projects": [
            mark(cell(_compose_file(project)), *(container.origin for container in project.containers))
            for project in projects
        ],
        "provided": [
            mark((cell(file.value), word(container.name), word(container.user.partition(":")[0])), file.origin)
            for _, container in containers
            for file in container.files
        ],
    }


def _compose_file(project: HostProject) -> str:
    return f"monitoring/agents/{project.host}.compose.yaml" if project.agent else "monitoring/compose.yaml"


def _pages(blueprint: Blueprint) -> Iterator[Listening]:
    """What people look at: the ports of the project beside Prometheus, but for exporters."""
    found = {one.purpose: one for host in blueprint.hosts for one in host.listeners if one.owner == MONITORING}
    return (found[purpose] for purpose in _PAGES if purpose in found)


def _page(one: Listening, mark: Mark) -> object:
    where = LOOPBACK if reach_of(one.address) == "everywhere" else HostName(one.address)
    return mark(
        (word(one.purpose), text(_PAGES[one.purpose]), cell(f"http://{host_port(where, one.port)}")), one.origin
    )


def _read(target: ScrapeTarget, mark: Mark) -> object:
    what = next(label.value for label in target.labels if label.name == "instance")
    return mark((cell(what), word(target.job), cell(target.address)), target.origin)
