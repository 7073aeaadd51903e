"""What is monitored, by whom, and what is not, as tables of `FLEET.md`.

In: the blueprint. Out: a part of the view.
"""

from __future__ import annotations

from fleetc.blueprint.blueprint import Blueprint
from fleetc.blueprint.monitoring import Alert, ScrapeTarget
from fleetc.emit.fleet_page.cells import cell, word
from fleetc.emit.templates import View
from fleetc.emit.traced import Mark, together
from fleetc.places.origin import derived


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
        "unwatched": [mark((cell(item.what), cell(item.why)), item.origin) for item in watched.unwatched],
    }


def _read(target: ScrapeTarget, agent: str, mark: Mark) -> object:
    what = cell(_instance(target))
    return mark((what, word(target.job), cell(target.address), cell(agent) if agent else ""), target.origin)


def _instance(target: ScrapeTarget) -> str:
    return next(label.value for label in target.labels if label.name == "instance")
