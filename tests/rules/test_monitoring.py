"""Borders of the rules about metrics, alerts and dashboards: one test for each rule, named as its code."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import OneRule, avatars, free_gateway, free_orchestrator, offchain, silent, staged


def test_alerts_reach_nobody(rule: OneRule) -> None:
    # Nobody is told.
    orch = free_orchestrator(monitor="true")
    rule.warns(offchain(orch, '[monitoring]\nhost = "gpu"\n'))
    silent(offchain(orch, '[monitoring]\nhost = "gpu"\nalertmanagers = ["203.0.113.10:9093"]\n'))
    # Who only serves metrics asked for no alerts.
    for table in ("", "[monitoring]\n"):
        rule.quiet(offchain(free_orchestrator(monitor="true"), table))
    # Alertmanager of the project needs a webhook.
    project = '[monitoring]\nhost = "gpu"\n\n[monitoring.project]\nprometheus = "203.0.113.20:9090"\n'
    orch = free_orchestrator(monitor="true")
    rule.warns(offchain(orch, project), "its Alertmanager has no webhook")
    for kind in ("webhook", "slack"):
        silent(offchain(orch, f'{project}{kind} = {{ host_file = "/etc/fleetc-monitoring/{kind}" }}\n'))


PROJECT = """
[monitoring]
host = "edge"

[monitoring.project]
prometheus = "203.0.113.10:9090"
webhook = { host_file = "/etc/fleetc-monitoring/webhook" }
"""


def spec(project: str) -> str:
    return offchain(free_gateway(), free_orchestrator(), PROJECT + project)


def test_grafana_without_password() -> None:
    # Loopback and a password are fine.
    silent(spec('grafana = "[::1]:3000"\n'))
    password = 'grafana_password = { host_file = "/etc/fleetc-monitoring/grafana-password" }\n'
    silent(spec('grafana = "203.0.113.10:3000"\n' + password))


FLEET = (free_gateway(monitor="true"), free_orchestrator(monitor="true"))
HOOK = 'webhook = { host_file = "/etc/fleetc-monitoring/webhook" }\n'


def watched(project: str = "", monitoring: str = "") -> str:
    tables = f'[monitoring]\nhost = "edge"\n{monitoring}\n[monitoring.project]\n{project}{HOOK}'
    return offchain(free_gateway(), free_orchestrator(), tables)


def test_metrics_out_of_reach(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    rule.warns(offchain(*FLEET), "the metrics of 2 nodes: they are served on the loopback of hosts edge, gpu")
    # Table that does not say where is not enough.
    rule.warns(offchain(FLEET[0], free_orchestrator(), "[monitoring]\n"), "1 node:")
    # Host or receiver is fine.
    for line in ['host = "edge"', 'receiver = "https://prometheus.example.net/api/v1/write"']:
        silent(offchain(*FLEET, f'[monitoring]\nalertmanagers = ["203.0.113.10:9093"]\n{line}\n'))
    # One host is fine.
    one = offchain(
        free_gateway(monitor="true", http='"127.0.0.1:9935"'), free_orchestrator(host='"edge"', monitor="true")
    )
    silent(one[: one.index("[hosts.gpu]")] + one[one.index("[gateways.gate]") :])
    # Nodes without metrics are fine.
    silent(offchain(free_gateway(), free_orchestrator()))
    # Loopback.
    assert rule.errs(watched()) == snapshot
    # Loopback that is written.
    rule.errs(
        watched('prometheus = "127.0.0.1:9191"\n'), 'write prometheus = "203.0.113.10:9191" in monitoring.project'
    )
    # Open listener and a receiver in front are fine.
    silent(watched('prometheus = "0.0.0.0:9090"\n'))
    silent(watched(monitoring='receiver = "https://watch.example.net/api/v1/write"\n'))
    # Fleet of one host has no agents.
    one = offchain(
        free_gateway(), free_orchestrator(host='"edge"', http='"0.0.0.0:8936"'), f"[monitoring.project]\n{HOOK}"
    )
    second = one.index("[hosts.gpu]")
    silent(one[:second] + one[one.index("[gateways.gate]") :])


NODES = (free_gateway(), free_orchestrator())


def test_monitoring_project_without_host(rule: OneRule) -> None:
    # Prometheus elsewhere needs agents alone.
    elsewhere = (
        '[monitoring]\nreceiver = "https://watch.example.net/api/v1/write"\nalertmanagers = ["203.0.113.5:9093"]\n'
    )
    rule.errs(offchain(*NODES, f"{elsewhere}\n[monitoring.project]\n{HOOK}"), "webhook is for the host of Prometheus")
    silent(offchain(*NODES, f"{elsewhere}\n[monitoring.project]\nnode_exporter_port = 9101\n"))


TURN = '{ user = { env = "TURN_USER" }, password = { env = "TURN_PASSWORD" }, address = "203.0.113.20" }'
ACCOUNT = 'id = "stage-1", address = "0x1111111111111111111111111111111111111111"'


def _slots(count: int, more: str = "", turn: str | None = TURN) -> str:
    registration = f"{{ {ACCOUNT}{more} }}"
    return staged(avatars(slots=str(count), gpu='"all"', slot_memory='"3 GiB"', turn=turn, registration=registration))


def test_too_many_monitored_services(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Thirteen slots.
    rule.errs(_slots(13))
    rule.errs(_slots(13, turn=None), "26 services")
    # Written list.
    names = ", ".join(f'"service-{index}"' for index in range(26))
    assert rule.errs(_slots(2, f", monitored_services = [{names}]")) == snapshot
    # Twelve slots with turn are fine.
    silent(_slots(12))
    # Shorter list is fine.
    silent(_slots(13, ', monitored_services = ["vtuber-turn-server"]'))
    # Host that does not register may monitor more.
    silent(staged(avatars(slots="13", gpu='"all"', slot_memory='"3 GiB"')))
