"""What is watched, by whom, and what is not, as tables of `FLEET.md`, and the origins of each.

In: the blueprint. Out: a part of the view, and marks of the same shape.
"""

from __future__ import annotations

from collections import Counter

from fleetc.blueprint.blueprint import Blueprint
from fleetc.blueprint.monitoring import ScrapeTarget
from fleetc.emit.fleet_page.cells import cell, word
from fleetc.emit.tracing import Marks, Together
from fleetc.places.origin import Origin, derived


def monitoring_view(blueprint: Blueprint) -> dict[str, object]:
    """What is read and by whom, what raises an alert, and what nothing watches."""
    watched = blueprint.monitoring
    if watched is None:
        return {"watched": False}
    read = [("", target) for target in watched.targets]
    read += [(agent.host, target) for agent in watched.agents for target in agent.targets]
    return {
        "watched": True,
        "home": cell(watched.home) if watched.home else "",
        "receiver": cell(watched.receiver.value) if watched.receiver and watched.agents else "",
        "read": [
            (cell(_instance(target)), word(target.job), cell(target.address), cell(agent) if agent else "")
            for agent, target in read
        ],
        "alerts": [
            (word(name), word(severity), count)
            for (name, severity), count in Counter((a.name, a.severity) for a in watched.alerts).items()
        ],
        "unwatched": [(cell(item.what), cell(item.why)) for item in watched.unwatched],
    }


def monitoring_marks(blueprint: Blueprint) -> dict[str, Marks]:
    watched = blueprint.monitoring
    watch = derived("nodes with monitor = true and what the spec says about monitoring", ("monitoring",))
    if watched is None:
        return {"watched": derived("no node has monitor = true", ("fleet",))}
    read = [*watched.targets, *(target for agent in watched.agents for target in agent.targets)]
    origins: dict[tuple[str, str], list[Origin]] = {}
    for alert in watched.alerts:
        origins.setdefault((alert.name, alert.severity), []).extend(alert.origins)
    return {
        "watched": watch,
        "home": watch,
        "receiver": watched.receiver.origin if watched.receiver else watch,
        "read": [target.origin for target in read],
        "alerts": [Together(dict.fromkeys(found)) for found in origins.values()],
        "unwatched": [item.origin for item in watched.unwatched],
    }


def _instance(target: ScrapeTarget) -> str:
    return next(label.value for label in target.labels if label.name == "instance")
