"""Emits what watches the fleet: configurations of Prometheus, alerting rules, and a dashboard.

In: the blueprint. Out: `monitoring/prometheus.yml`, `monitoring/agents/<host>.yml`, `monitoring/alerts.yml` and
`monitoring/dashboard.json`, or nothing when nothing is watched. A rollout installs none of them: where Prometheus and
Grafana run, and how, is not the fleet's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from fleetc.blueprint.blueprint import Blueprint, BlueprintFile
from fleetc.blueprint.monitoring import Agent, Alert, Live, MonitoringBlueprint, Said, ScrapeTarget
from fleetc.emit.artifacts import json_document, tables_of
from fleetc.emit.grafana import dashboard
from fleetc.emit.templates import Templates, Word
from fleetc.emit.tracing import Marks, Together, TracedLine, file_lines, trace_template
from fleetc.emit.tree import Artifact
from fleetc.places.diagnostic import Path
from fleetc.places.origin import Origin, derived
from fleetc.text.encoders import go_template_text

FOLDER = "monitoring"
_PROMETHEUS = "monitoring/prometheus.yml.j2"
_ALERTS = "monitoring/alerts.yml.j2"
_JOBS = ("livepeer", "gpu", "avatar")
_PROBES = "http_2xx"
"""The module of a blackbox exporter that asks for an answer with a status of 200 to 299; its shipped file has it."""


def emit(blueprint: Blueprint, templates: Templates) -> Iterator[Artifact]:
    """All files of the folder."""
    watched = blueprint.monitoring
    if watched is None:
        return
    central = templates.render(_PROMETHEUS, _central_view(watched))
    yield _artifact("prometheus.yml", central, (t.origin for t in watched.targets))
    for agent in watched.agents:
        text = templates.render(_PROMETHEUS, _agent_view(watched, agent))
        yield _artifact(f"agents/{agent.host}.yml", text, (t.origin for t in agent.targets))
    raised = [origin for alert in watched.alerts for origin in alert.origins]
    yield _artifact("alerts.yml", templates.render(_ALERTS, _alerts_view(watched)), raised)
    yield _artifact("dashboard.json", json_document(dashboard(blueprint.fleet, watched.panels)), raised)


def _artifact(name: str, text: str, origins: Iterable[Origin]) -> Artifact:
    return Artifact(f"{FOLDER}/{name}", text.encode(), origins=tables_of(origins, {"fleet", "monitoring"}))


def _central_view(watched: MonitoringBlueprint) -> dict[str, object]:
    return {**_view(watched, watched.targets), "agent": False, "host": ""}


def _agent_view(watched: MonitoringBlueprint, agent: Agent) -> dict[str, object]:
    return {**_view(watched, agent.targets), "agent": True, "host": Word(agent.host)}


def _view(watched: MonitoringBlueprint, targets: Sequence[ScrapeTarget]) -> dict[str, object]:
    return {
        "interval": Word(f"{watched.interval.value}s"),
        "receives": bool(watched.agents),
        "receiver": watched.receiver.value if watched.receiver else "",
        "token_file": watched.token_file.value if watched.token_file else "",
        "rule_files": [path.value for path in watched.rule_files],
        "alertmanagers": [address.value for address in watched.alertmanagers],
        "jobs": [_job(job, found) for job, found in _by_job(targets)],
    }


def _by_job(targets: Sequence[ScrapeTarget]) -> list[tuple[str, list[ScrapeTarget]]]:
    """The targets of each job, sorted."""
    ordered = sorted(targets, key=lambda t: (_JOBS.index(t.job), t.address, t.labels))
    return [(job, list(found)) for job, found in groupby(ordered, key=lambda t: t.job)]


def _job(name: str, targets: list[ScrapeTarget]) -> dict[str, object]:
    probes = any(target.probe for target in targets)
    return {"name": Word(name), "module": _PROBES if probes else "", "targets": [_target(t) for t in targets]}


def _target(target: ScrapeTarget) -> tuple[str, list[tuple[str, str]]]:
    labels = [(label.name, label.value) for label in target.labels]
    return target.address, [*([("__param_target", target.probe)] if target.probe else ()), *labels]


def _alerts_view(watched: MonitoringBlueprint) -> dict[str, object]:
    groups = groupby(watched.alerts, key=lambda alert: alert.group)
    return {
        "groups": [(Word(group), [_alert(alert) for alert in alerts]) for group, alerts in groups],
        "runbook": go_template_text(watched.runbook.value) if watched.runbook else "",
    }


def _alert(alert: Alert) -> dict[str, Any]:
    return {
        "name": Word(alert.name),
        "expr": alert.expr,
        "wait": Word(alert.wait),
        "severity": Word(alert.severity),
        "labels": [(label.name, go_template_text(label.value)) for label in alert.labels],
        "summary": _said(alert.summary),
        "description": _said(alert.description),
    }


def _said(parts: Said) -> str:
    """An annotation: what is filled in stands in braces, and everything else comes out as it is."""
    return "".join(f"{{{{ {part} }}}}" if isinstance(part, Live) else go_template_text(part) for part in parts)


# --- where it comes from ----------------------------------------------------------------------------


def trace(blueprint: Blueprint, path: str, templates: Templates) -> list[TracedLine] | None:
    """The lines of a file of the folder with their origins; None when there is no such file."""
    watched, name = blueprint.monitoring, path.removeprefix(f"{FOLDER}/")
    if watched is None:
        return None
    if name == "prometheus.yml":
        return trace_template(templates, _PROMETHEUS, _central_view(watched), _marks(watched, watched.targets))
    for agent in watched.agents:
        if name == f"agents/{agent.host}.yml":
            return trace_template(templates, _PROMETHEUS, _agent_view(watched, agent), _marks(watched, agent.targets))
    if name == "alerts.yml":
        return trace_template(templates, _ALERTS, _alerts_view(watched), _alert_marks(watched))
    if name == "dashboard.json":
        return file_lines(_dashboard_file(blueprint, watched))
    return None


def _marks(watched: MonitoringBlueprint, targets: Sequence[ScrapeTarget]) -> dict[str, Marks]:
    watch = derived("what the spec says about monitoring", ("monitoring",))
    agents = Together(target.origin for agent in watched.agents for target in agent.targets)
    return {
        "interval": watched.interval.origin,
        "receives": agents or watch,
        "receiver": watched.receiver.origin if watched.receiver else watch,
        "token_file": watched.token_file.origin if watched.token_file else watch,
        "rule_files": [path.origin for path in watched.rule_files],
        "alertmanagers": [address.origin for address in watched.alertmanagers],
        "jobs": [
            {
                "name": Together(target.origin for target in found),
                "module": Together(target.origin for target in found),
                "targets": [_target_marks(target) for target in found],
            }
            for _, found in _by_job(targets)
        ],
        "agent": watch,
        "host": watch,
    }


def _target_marks(target: ScrapeTarget) -> list[Marks]:
    labels: list[Marks] = [Together([label.origin, target.origin]) for label in target.labels]
    return [target.origin, [*([target.origin] if target.probe else ()), *labels]]


def _alert_marks(watched: MonitoringBlueprint) -> dict[str, Marks]:
    groups = groupby(watched.alerts, key=lambda alert: alert.group)
    return {
        "groups": [
            [Together(origin for alert in found for origin in alert.origins), [Together(a.origins) for a in found]]
            for found in (list(alerts) for _, alerts in groups)
        ],
        "runbook": watched.runbook.origin if watched.runbook else derived("no runbook is named", ("monitoring",)),
    }


def _dashboard_file(blueprint: Blueprint, watched: MonitoringBlueprint) -> BlueprintFile:
    content = dashboard(blueprint.fleet, watched.panels)
    origins = {panel.title: panel.origins for panel in watched.panels}
    places: dict[Path, Origin] = {}
    for index, entry in enumerate(content["panels"]):
        paths = {path: None for origin in origins.get(entry["title"], ()) for path in origin.paths}
        if paths:
            places["panels", index] = derived("a panel for what the fleet has", *paths)
    return BlueprintFile("dashboard.json", content, derived("the fleet as a whole", ("fleet", "name")), places)
