"""The metrics for monitoring: names, programs that serve them, and meaning of values.

In: `metrics.toml` beside this file, read on the first question, because only compiled fleets ask one. Out: `metrics()`
and `exporter_ports()`. No rule and no panel uses a metric that is not listed there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from fleetc.upstream import load


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric. `type` is gauge or counter; `roles` are the node tables of the spec that export it.

    `exporter` is the program that serves it, node for the node itself. `appears` is start, or use when its series are
    only written at the first event. `sources` are the addresses of its evidence.
    """

    name: str
    type: str
    unit: str
    roles: frozenset[str]
    exporter: str
    appears: str
    sources: tuple[str, ...]


@cache
def metrics() -> dict[str, Metric]:
    """Every metric, by name."""
    data = load("metrics.toml")
    return {
        name: Metric(
            name=name,
            type=row["type"],
            unit=row["unit"],
            roles=frozenset(row.get("roles", ())),
            exporter=row["exporter"],
            appears=row["appears"],
            sources=tuple(data["sources"][key] for key in row["sources"]),
        )
        for name, row in data["metrics"].items()
    }


@cache
def exporter_ports() -> dict[str, int]:
    """The default port of each exporter, by its name in a spec."""
    return dict(load("metrics.toml")["exporters"])
