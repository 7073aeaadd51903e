"""Lowers what must be on a host for the programs that watch the fleet there.

In: the lowered monitoring, and the name of a host. Out: `Need` values. Their fact `monitoring` names the program that
needs it: no rollout starts those programs, so what they lack keeps no release from running.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.blueprint.monitoring import MonitoringBlueprint
from fleetc.blueprint.rollout import Need
from fleetc.language.effective_monitoring import PROJECT, PROMETHEUS
from fleetc.places.origin import Chosen, derived

COMPOSE = "2.24.0"
"""The oldest release of Compose that reads what fleetc writes."""

_WORDS = {
    "grafana_password": "file with the password of Grafana's admin",
    "webhook": "file with the URL that Alertmanager sends alerts to",
    "slack": "file with the URL of the webhook that Alertmanager tells in the form of Slack",
    "receiver_token": "file with the bearer token for the receiver of metrics",
    "rule_files": "file with your own rules for Prometheus",
}
"""By the field of the spec that names the file."""


def monitoring_needs(monitoring: MonitoringBlueprint | None, host: str) -> Iterator[Need]:
    """What the host needs for its monitoring project, or for what people run there themselves."""
    if monitoring is None:
        return
    if monitoring.programs is None:
        yield from _of_people(monitoring, host)
        return
    for project in monitoring.programs.hosts:
        if project.host == host:
            why = derived("the programs of the monitoring project are containers", PROJECT)
            facts = (("monitoring", "the monitoring project"),)
            yield Need("docker", "", why, "Docker Engine, running", facts=facts)
            words = f"Compose plugin of Docker, {COMPOSE} or newer"
            yield Need("compose", "", why, words, facts=(("version", COMPOSE), *facts))
            for container in project.containers:
                for file in container.files:
                    yield _file(file, container.name, container.user)


def _of_people(monitoring: MonitoringBlueprint, host: str) -> Iterator[Need]:
    """Files that Prometheus and its agents read where people run them, as a user that nobody knows here."""
    if monitoring.token_file is not None and any(agent.host == host for agent in monitoring.agents):
        yield _file(monitoring.token_file, PROMETHEUS, "")
    if monitoring.home == host:
        for file in monitoring.rule_files:
            yield _file(file, PROMETHEUS, "")


def _file(file: Chosen[str], program: str, user: str) -> Need:
    field = next(part for path in file.origin.paths for part in path if part in _WORDS)
    kind = "rule-file" if field == "rule_files" else "file"
    return Need(kind, file.value, file.origin, _WORDS[str(field)], facts=(("monitoring", program), ("user", user)))
