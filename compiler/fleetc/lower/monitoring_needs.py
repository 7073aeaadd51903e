"""Lowers what must be on a host for the programs that watch the fleet there.

In: a fleet. Out: `Need` values by host. Their fact `monitoring` names the program that
needs it: no rollout starts those programs, so what they lack keeps no release from running.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.blueprint.monitoring import MonitoringBlueprint
from fleetc.blueprint.rollout import Need
from fleetc.language.answers import once_for_all
from fleetc.language.effective_monitoring import PROJECT, PROMETHEUS
from fleetc.language.fleet import Fleet
from fleetc.lower.monitoring import lower_monitoring
from fleetc.places.origin import Chosen, derived

COMPOSE = "2.24.0"
"""The oldest release of Compose that reads what fleetc writes."""

_WORDS = {
    "grafana_password": "file with the password of Grafana's admin",
    "webhook": "file with the URL that Alertmanager sends alerts to",
    "slack": "file with the URL of Alertmanager's Slack webhook",
    "heartbeat": "file with the URL of the service that notices a silent Alertmanager",
    "receiver_token": "file with the bearer token for the receiver of metrics",
    "rule_files": "file with your own rules for Prometheus",
}
"""By the field of the spec that names the file."""


@once_for_all
def monitoring_needs(fleet: Fleet) -> dict[str, tuple[Need, ...]]:
    """What each host needs for its monitoring project, or for what people run there themselves."""
    monitoring = lower_monitoring(fleet)
    found: dict[str, list[Need]] = {}
    for host, need in _all(monitoring) if monitoring is not None else ():
        found.setdefault(host, []).append(need)
    return {host: tuple(needs) for host, needs in found.items()}


def _all(monitoring: MonitoringBlueprint) -> Iterator[tuple[str, Need]]:
    if monitoring.programs is None:
        yield from _of_people(monitoring)
        return
    for project in monitoring.programs.hosts:
        why = derived("the programs of the monitoring project are containers", PROJECT)
        facts = (("monitoring", "the monitoring project"),)
        yield project.host, Need("docker", "", why, "Docker Engine, running", facts=facts)
        words = f"Compose plugin of Docker, {COMPOSE} or newer"
        yield project.host, Need("compose", "", why, words, facts=(("version", COMPOSE), *facts))
        for container in project.containers:
            for file in container.files:
                yield project.host, _file(file, container.name, container.user)


def _of_people(monitoring: MonitoringBlueprint) -> Iterator[tuple[str, Need]]:
    """Files that Prometheus and its agents read if people run them, as an unknown user."""
    if monitoring.token_file is not None:
        for host in dict.fromkeys(agent.host for agent in monitoring.agents):
            yield host, _file(monitoring.token_file, PROMETHEUS, "")
    for file in monitoring.rule_files if monitoring.home else ():
        yield monitoring.home, _file(file, PROMETHEUS, "")


def _file(file: Chosen[str], program: str, user: str) -> Need:
    field = next(part for path in file.origin.paths for part in path if part in _WORDS)
    kind = "rule-file" if field == "rule_files" else "file"
    return Need(kind, file.value, file.origin, _WORDS[str(field)], facts=(("monitoring", program), ("user", user)))
