"""The part of the blueprint that monitors the fleet: targets, alerts, panels, and what is not monitored.

Made by `lower/monitoring.py` and its neighbours, read by `emit/`. All decisions are made. Texts stay separate from
template code, so no word of a spec is ever evaluated.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from fleetc.places.origin import Chosen, Origin

VARIABLES = ("host", "node", "role", "region")
"""Labels of targets that a reader of the dashboard filters by."""

PROJECT_DIRECTORY = "/opt/fleetc-monitoring"
"""Where containers of the monitoring project see its files, and where the Ansible role writes them on the host."""


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
    """One address that metrics are read from; `job` is livepeer, gpu, node, avatar, runner or verify.

    `probe` is the target of a blackbox exporter at that address; "" if the address serves its own metrics.
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

    `threshold` is the number that the expression compares with, or None; `origins` are those of the alert and its
    choice.
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
    """One graph. `unit` is its name in Grafana; values beyond the threshold are bad, with `below` those under it.

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
    """A gap of the monitoring, and why."""

    what: str
    why: str
    origin: Origin


class Container(NamedTuple):
    """One program of a monitoring project, by the name of its service.

    `user` is "uid:gid", `files` are host files under the same path, `data` its persistent directory or "", `ready` its
    readiness URL. If `configured`, it reads the files of the project; if `sees_host`, it gets the host's file systems
    and processes.
    """

    name: str
    image: str
    user: str
    arguments: tuple[Chosen[str], ...]
    ready: Chosen[str]
    origin: Origin
    variables: tuple[tuple[str, Chosen[str]], ...] = ()
    files: tuple[Chosen[str], ...] = ()
    data: str = ""
    configured: bool = True
    sees_host: bool = False


class HostProject(NamedTuple):
    """The monitoring project of one host: of Prometheus' own, or of one where an `agent` reads."""

    host: str
    agent: bool
    containers: tuple[Container, ...]


class Notified(NamedTuple):
    """A receiver of Alertmanager: `kind` is webhook, slack or heartbeat, `file` has the URL."""

    kind: str
    file: Chosen[str]


class Programs(NamedTuple):
    """The monitoring projects, and what their programs are configured with.

    `prometheus` and `alertmanager` are their URLs for Grafana.
    """

    hosts: tuple[HostProject, ...]
    notified: tuple[Notified, ...]
    prometheus: Chosen[str]
    alertmanager: Chosen[str]


@dataclass(frozen=True, slots=True)
class MonitoringBlueprint:
    """How the fleet is monitored. `home` is the host that Prometheus runs on, or "" if it is not known.

    `programs` is None if people run Prometheus and the other programs themselves.
    """

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
    programs: Programs | None
