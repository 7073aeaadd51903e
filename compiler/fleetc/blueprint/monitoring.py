"""The part of the blueprint that monitors the fleet: targets, alerts, panels, and what is not monitored.

Made by `lower/monitoring.py` and its neighbours, read by `emit/`. All decisions have been made; texts are still
separate from the template code between them, so that no word of a spec is ever evaluated.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from fleetc.places.origin import Chosen, Origin

VARIABLES = ("host", "node", "role", "region")
"""Labels of targets that a reader of the dashboard filters by."""


class Live(str):
    """What an alert fills in when it fires, in its template language, such as `$labels.node`."""

    __slots__ = ()


Said = tuple[str | Live, ...]
"""A sentence of an alert: text, which is data, and what is filled in."""


class TargetLabel(NamedTuple):
    """One label of all metrics of a target, or of an alert."""

    name: str
    value: str
    origin: Origin


class ScrapeTarget(NamedTuple):
    """One address that metrics are read from; `job` is livepeer, gpu, avatar or verify.

    `probe` is what a blackbox exporter at that address is asked to probe; "" if the address serves its own metrics.
    """

    job: str
    address: str
    labels: tuple[TargetLabel, ...]
    origin: Origin
    probe: str = ""


class Agent(NamedTuple):
    """The agent on one host, and what it reads there."""

    host: str
    targets: tuple[ScrapeTarget, ...]


class Alert(NamedTuple):
    """One alerting rule. `group` is its topic, `wait` how long the expression must hold before it fires.

    `threshold` is the number that the expression compares with, or None; `origins` say where it and the choice of this
    alert come from.
    """

    name: str
    group: str
    expr: str
    wait: str
    severity: str
    summary: Said
    description: Said
    origins: tuple[Origin, ...]
    threshold: Decimal | None = None
    labels: tuple[TargetLabel, ...] = ()


class Query(NamedTuple):
    """One line of a panel; `legend` is in Grafana's syntax, such as `{{node}}`."""

    expr: str
    legend: str


class Panel(NamedTuple):
    """One graph. `unit` is its name in Grafana; the area beyond the threshold is bad, `below` says on which side.

    A `daily` one has a bar for each day, and its expressions look back over one.
    """

    title: str
    group: str
    unit: str
    queries: tuple[Query, ...]
    description: str
    origins: tuple[Origin, ...]
    threshold: Decimal | None = None
    below: bool = False
    daily: bool = False


class Unwatched(NamedTuple):
    """Something that is not monitored here, and why."""

    what: str
    why: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class MonitoringBlueprint:
    """How the fleet is monitored. `home` is the host that Prometheus runs on, or "" if it is not known."""

    home: str
    interval: Chosen[int]
    receiver: Chosen[str] | None
    token_file: Chosen[str] | None
    alertmanagers: tuple[Chosen[str], ...]
    rule_files: tuple[Chosen[str], ...]
    runbook: Chosen[str] | None
    targets: tuple[ScrapeTarget, ...]
    agents: tuple[Agent, ...]
    alerts: tuple[Alert, ...]
    panels: tuple[Panel, ...]
    unwatched: tuple[Unwatched, ...]
