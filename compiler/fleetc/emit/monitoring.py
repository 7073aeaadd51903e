"""Emits the monitoring of the fleet: configurations of Prometheus, alerting rules, a dashboard, and what runs them.

In: the blueprint. Out: `monitoring/prometheus.yml`, `monitoring/agents/<host>.yml`, `monitoring/alerts.yml` and
`monitoring/dashboard.json`, or nothing if nothing is monitored. With a monitoring project also
`monitoring/compose.yaml`, `monitoring/agents/<host>.compose.yaml` and the files of Alertmanager and Grafana. A rollout
installs none of them, because its monitoring must not depend on it: the playbook `monitoring.yml` or people do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby

from fleetc.blueprint.blueprint import Blueprint, BlueprintFile
from fleetc.blueprint.monitoring import (
    PROJECT_DIRECTORY,
    Agent,
    Alert,
    Container,
    HostProject,
    Live,
    MonitoringBlueprint,
    Programs,
    Said,
    ScrapeTarget,
    TargetLabel,
)
from fleetc.emit.draft import Draft, JsonFile
from fleetc.emit.grafana import dashboard
from fleetc.emit.templates import Rendered, Templates, View, Word
from fleetc.emit.traced import Mark, together
from fleetc.emit.tracing import Body
from fleetc.places.diagnostic import Path
from fleetc.places.origin import Chosen, Origin, derived
from fleetc.text.encoders import go_template_text

FOLDER = "monitoring"
_COMPOSE = "compose/monitoring.yaml.j2"
_PROMETHEUS = "monitoring/prometheus.yml.j2"
_ALERTS = "monitoring/alerts.yml.j2"
_PROGRAM_FILES = {
    "alertmanager.yml": "monitoring/alertmanager.yml.j2",
    "grafana/dashboards/fleetc.yml": "monitoring/dashboards.yml.j2",
    "grafana/datasources/fleetc.yml": "monitoring/datasources.yml.j2",
}
"""What Alertmanager and Grafana read, and the templates of it."""
_JOBS = ("livepeer", "gpu", "node", "avatar", "runner", "verify")
_PROBES = "http_2xx"
"""The blackbox exporter module that requires an answer with a status of 200 to 299; its shipped config has it."""


_COLLECTED = {"verify": "textfile"}
"""The collectors of node_exporter that a job asks for; without a word it serves all of them."""


def emit(blueprint: Blueprint, templates: Templates) -> Iterator[Draft]:
    """All files of the folder."""
    watched = blueprint.monitoring
    if watched is None:
        return
    central = Rendered(templates, _PROMETHEUS, partial(_view, watched, watched.targets, None))
    yield _file("prometheus.yml", central, (t.origin for t in watched.targets))
    for agent in watched.agents:
        body = Rendered(templates, _PROMETHEUS, partial(_view, watched, agent.targets, agent))
        yield _file(f"agents/{agent.host}.yml", body, (t.origin for t in agent.targets))
    raised = [origin for alert in watched.alerts for origin in alert.origins]
    yield _file("alerts.yml", Rendered(templates, _ALERTS, partial(_alerts_view, watched)), raised)
    yield _file("dashboard.json", JsonFile(_dashboard_file(blueprint, watched)), raised)
    if watched.programs is not None:
        yield from _project(watched, watched.programs, templates)


def _project(watched: MonitoringBlueprint, programs: Programs, templates: Templates) -> Iterator[Draft]:
    """What starts the programs of each host, and what Alertmanager and Grafana read."""
    for project in programs.hosts:
        name = f"agents/{project.host}.compose.yaml" if project.agent else "compose.yaml"
        body = Rendered(templates, _COMPOSE, partial(_compose_view, project, name.rpartition("/")[2]))
        yield _file(name, body, (container.origin for container in project.containers))
        if not project.agent:
            view = partial(_programs_view, watched, programs)
            for name, template in _PROGRAM_FILES.items():
                yield _file(name, Rendered(templates, template, view), [programs.prometheus.origin])


def _compose_view(project: HostProject, file: str, mark: Mark) -> View:
    """The containers of a host; each part of one has its own origins."""
    return {
        "file": Word(file),
        "host": Word(project.host),
        "directory": Word(PROJECT_DIRECTORY),
        "containers": [_container(container, mark) for container in project.containers],
        "kept": [mark(Word(c.name), c.origin) for c in project.containers if c.data],
    }


def _container(container: Container, mark: Mark) -> View:
    return {
        "name": mark(Word(container.name), container.origin),
        "image": mark(container.image, container.origin),
        "user": mark(container.user, container.origin),
        "arguments": [mark(argument.value, argument.origin) for argument in container.arguments],
        "variables": [mark((Word(name), chosen.value), chosen.origin) for name, chosen in container.variables],
        "files": [mark(file.value, file.origin) for file in container.files],
        "configured": mark(container.configured, container.origin),
        "data": mark(container.data, container.origin),
        "sees_host": mark(container.sees_host, container.origin),
        "ready": mark(container.ready.value, container.ready.origin),
    }


def _programs_view(watched: MonitoringBlueprint, programs: Programs, mark: Mark) -> View:
    """The settings of Alertmanager and Grafana: receivers of alerts, and addresses."""
    return {
        "directory": Word(PROJECT_DIRECTORY),
        "interval": mark(Word(f"{watched.interval.value}s"), watched.interval.origin),
        "prometheus": mark(programs.prometheus.value, programs.prometheus.origin),
        "alertmanager": mark(programs.alertmanager.value, programs.alertmanager.origin),
        "webhooks": _files_of("webhook", programs, mark),
        "slacks": _files_of("slack", programs, mark),
        "heartbeats": _files_of("heartbeat", programs, mark),
    }


def _files_of(kind: str, programs: Programs, mark: Mark) -> list[object]:
    return [mark(found.file.value, found.file.origin) for found in programs.notified if found.kind == kind]


def _file(name: str, body: Body, origins: Iterable[Origin]) -> Draft:
    return Draft(f"{FOLDER}/{name}", body, origins, ("fleet", "monitoring"))


def _view(watched: MonitoringBlueprint, targets: Sequence[ScrapeTarget], agent: Agent | None, mark: Mark) -> View:
    """The template view for the central Prometheus, or for an agent."""
    watch = derived("what the spec says about monitoring", ("monitoring",))
    agents = together(target.origin for agent in watched.agents for target in agent.targets)
    return {
        "interval": mark(Word(f"{watched.interval.value}s"), watched.interval.origin),
        "receives": mark(bool(watched.agents), *(agents or (watch,))),
        "receiver": _chosen(watched.receiver, watch, mark),
        "token_file": _chosen(watched.token_file, watch, mark),
        "rule_files": [_chosen(path, watch, mark) for path in watched.rule_files],
        "alertmanagers": [_chosen(address, watch, mark) for address in watched.alertmanagers],
        "jobs": [_job(job, found, mark) for job, found in _by_job(targets)],
        "agent": mark(agent is not None, watch),
        "host": mark(Word(agent.host) if agent is not None else "", watch),
    }


def _chosen(chosen: Chosen[str] | None, otherwise: Origin, mark: Mark) -> object:
    return mark(chosen.value, chosen.origin) if chosen is not None else mark("", otherwise)


def _by_job(targets: Sequence[ScrapeTarget]) -> list[tuple[str, list[ScrapeTarget]]]:
    """The targets of each job, sorted."""
    ordered = sorted(targets, key=lambda t: (_JOBS.index(t.job), t.address, t.labels))
    return [(job, list(found)) for job, found in groupby(ordered, key=lambda t: t.job)]


def _job(name: str, targets: list[ScrapeTarget], mark: Mark) -> View:
    origins = together(target.origin for target in targets)
    probes = any(target.probe for target in targets)
    return {
        "name": mark(Word(name), *origins),
        "module": mark(_PROBES if probes else "", *origins),
        "collected": mark(_COLLECTED.get(name, ""), *origins),
        "targets": [_target(target, mark) for target in targets],
    }


def _target(target: ScrapeTarget, mark: Mark) -> object:
    address = mark(target.address, target.origin)
    probe = [mark(("__param_target", target.probe), target.origin)] if target.probe else []
    return address, [*probe, *(_label(label, target.origin, mark) for label in target.labels)]


def _label(label: TargetLabel, target: Origin, mark: Mark) -> object:
    return mark((label.name, label.value), label.origin, target)


def _alerts_view(watched: MonitoringBlueprint, mark: Mark) -> View:
    unnamed = derived("no runbook is named", ("monitoring",))
    runbook, origin = watched.runbook or ("", unnamed)
    return {
        "groups": [_group(name, list(alerts), mark) for name, alerts in groupby(watched.alerts, key=lambda a: a.group)],
        "runbook": mark(go_template_text(runbook), origin),
    }


def _group(name: str, alerts: Sequence[Alert], mark: Mark) -> object:
    origins = together(*(alert.origins for alert in alerts))
    return mark(Word(name), *origins), [_alert(alert, mark) for alert in alerts]


def _alert(alert: Alert, mark: Mark) -> View:
    origins = together(alert.origins)
    values = {
        "name": Word(alert.name),
        "expr": alert.expr,
        "wait": Word(alert.wait),
        "severity": Word(alert.severity),
        "summary": _said(alert.summary),
        "description": _said(alert.description),
    }
    labels = [mark((label.name, go_template_text(label.value)), *origins) for label in alert.labels]
    return {**{name: mark(value, *origins) for name, value in values.items()}, "labels": labels}


def _said(parts: Said) -> str:
    """An annotation: what is filled in is in braces, and everything else is printed literally."""
    return "".join(f"{{{{ {part} }}}}" if isinstance(part, Live) else go_template_text(part) for part in parts)


def _dashboard_file(blueprint: Blueprint, watched: MonitoringBlueprint) -> BlueprintFile:
    content = dashboard(blueprint.fleet, watched.panels)
    origins = {panel.title: panel.origins for panel in watched.panels}
    places: dict[Path, Origin] = {}
    for index, entry in enumerate(content["panels"]):
        paths = {path: None for origin in origins.get(entry["title"], ()) for path in origin.paths}
        if paths:
            places["panels", index] = derived("a panel for what the fleet has", *paths)
    return BlueprintFile("dashboard.json", content, derived("the fleet as a whole", ("fleet", "name")), places)
