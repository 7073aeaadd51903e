"""What is monitored, by whom, and what is not, as tables of `FLEET.md`.

In: the blueprint. Out: a part of the view.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.blueprint.blueprint import Blueprint
from fleetc.blueprint.listeners import MONITORING, Listening
from fleetc.blueprint.monitoring import Alert, HostProject, MonitoringBlueprint, ScrapeTarget
from fleetc.emit.fleet_page.cells import cell, text, word
from fleetc.emit.templates import View
from fleetc.emit.traced import Mark, together
from fleetc.language.effective import LOOPBACK
from fleetc.language.quantities import HostName, host_port, reach_of
from fleetc.places.origin import derived

_PAGES = {
    "Grafana": "the dashboard",
    "Prometheus": "targets, alerts and queries",
    "Alertmanager": "alerts that go out, and silences",
}
"""The pages of the project's programs."""


def monitoring_view(blueprint: Blueprint, mark: Mark) -> View:
    """What is read and by whom, what raises an alert, and what nothing monitors."""
    watched = blueprint.monitoring
    if watched is None:
        return {"watched": mark(False, derived("no node has monitor = true", ("fleet",)))}
    watch = derived("nodes with monitor = true and what the spec says about monitoring", ("monitoring",))
    receiver, origin = watched.receiver or ("", watch)
    alerts: dict[tuple[str, str], list[Alert]] = {}
    for alert in watched.alerts:
        alerts.setdefault((alert.name, alert.severity), []).append(alert)
    return {
        "watched": mark(True, watch),
        "home": mark(cell(watched.home) if watched.home else "", watch),
        "receiver": mark(cell(receiver) if receiver and watched.agents else "", origin),
        "read": [
            *(_read(target, "", mark) for target in watched.targets),
            *(_read(target, agent.host, mark) for agent in watched.agents for target in agent.targets),
        ],
        "alerts": [
            mark((word(name), word(severity), len(found)), *together(*(alert.origins for alert in found)))
            for (name, severity), found in alerts.items()
        ],
        "projects": [
            mark(
                (cell(project.host), project.agent, cell(_compose_file(project))),
                *(container.origin for container in project.containers),
            )
            for project in (watched.programs.hosts if watched.programs is not None else ())
        ],
        "pages": [_page(one, mark) for one in _pages(blueprint)],
        "provided": [*_provided(watched, mark)],
        "unwatched": [mark((cell(item.what), cell(item.why)), item.origin) for item in watched.unwatched],
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


def _provided(watched: MonitoringBlueprint, mark: Mark) -> Iterator[object]:
    """The files that people put on a host, and who reads each."""
    for project in watched.programs.hosts if watched.programs is not None else ():
        for container in project.containers:
            for file in container.files:
                user = word(container.user.partition(":")[0])
                yield mark((cell(project.host), cell(file.value), word(container.name), user), file.origin)


def _read(target: ScrapeTarget, agent: str, mark: Mark) -> object:
    what = cell(_instance(target))
    return mark((what, word(target.job), cell(target.address), cell(agent) if agent else ""), target.origin)


def _instance(target: ScrapeTarget) -> str:
    return next(label.value for label in target.labels if label.name == "instance")
