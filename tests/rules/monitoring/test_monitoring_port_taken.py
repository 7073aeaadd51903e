"""A port of the monitoring project is somebody else's."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, free_gateway, free_orchestrator, offchain, printed, silent

CODE = "monitoring-port-taken"
HOME = '[monitoring]\nhost = "edge"\n'
HOOK = 'webhook = { host_file = "/etc/fleetc-monitoring/webhook" }\n'
REACHED = 'prometheus = "203.0.113.10:9191"\n'


def spec(project: str, *nodes: str, **fleet: str | None) -> str:
    return offchain(
        *(nodes or (free_gateway(), free_orchestrator())), f"{HOME}\n[monitoring.project]\n{project}{HOOK}", **fleet
    )


def test_orchestrator_health_at_the_port_of_prometheus(snapshot: SnapshotAssertion) -> None:
    stack = '[avatars.stage]\nhost = "edge"\nslots = 1\n'
    text = spec("", stack, free_gateway(), free_orchestrator(), avatar_release='"v1.3.6"')
    assert flagged(text, CODE) == snapshot


@pytest.mark.parametrize(
    ("project", "listener", "says"),
    [
        (REACHED, '"127.0.0.1:9093"', "alertmanager_port = 9094"),
        (REACHED, '"127.0.0.1:3000"', 'grafana = "127.0.0.1:3001"'),
        (REACHED, '"0.0.0.0:9100"', "node_exporter_port = 9101"),
        (REACHED, '"203.0.113.10:9191"', 'prometheus = "203.0.113.10:9192"'),
        (REACHED + "alertmanager_port = 22\n", '"127.0.0.1:5935"', "alertmanager_port = 23"),
    ],
)
def test_each_program_says_what_to_write(project: str, listener: str, says: str) -> None:
    gate = free_gateway(cli=listener, cli_exposed="true" if "127" not in listener else None)
    assert f"write {says} in monitoring.project" in flagged(spec(project, gate, free_orchestrator()), CODE)


def test_port_of_another_address_is_free() -> None:
    silent(spec(REACHED, free_gateway(cli='"127.0.0.1:9191"'), free_orchestrator()))


def test_agent_meets_a_node_of_its_host() -> None:
    text = spec(REACHED, free_gateway(), free_orchestrator(cli='"127.0.0.1:9191"'))
    assert (
        "Prometheus agent of the monitoring project and orch (administration) both use port 9191 of host gpu"
        in flagged(text, CODE)
    )


def test_two_programs_of_the_project() -> None:
    said = flagged(spec(REACHED + "alertmanager_port = 3000\n"), CODE)
    assert "Grafana of the monitoring project and the project (Alertmanager) both use port 3000" in said


def test_exporter_of_gpu_metrics_and_the_blackbox_exporter() -> None:
    text = spec(REACHED).replace(
        'runtime = "systemd"', 'runtime = "systemd"\ngpu_exporter = { kind = "dcgm" }\nblackbox_port = 9400'
    )
    assert "write blackbox_port = 9401 in hosts.gpu" in flagged(text, CODE)


def test_a_clash_of_all_hosts_is_told_once() -> None:
    said = printed(spec(REACHED + "node_exporter_port = 22\n"), CODE)
    assert said.count(f"[{CODE}]") == 1
