"""Live runners that an exporter asks for their health, and those that nobody asks."""

from __future__ import annotations

from tests.monitoring.support import watched
from tests.rules.support import renting

ASKING = renting().replace("[hosts.gpu]", "[hosts.gpu]\nblackbox_port = 9115", 1) + '\n[monitoring]\nhost = "gpu"\n'


def probes(text: str) -> list[str]:
    found = watched(text)
    targets = [*found.targets, *(target for agent in found.agents for target in agent.targets)]
    return [target.probe for target in targets if target.job == "runner"]


def unwatched(text: str) -> list[str]:
    return [one.why for one in watched(text).unwatched if one.what.startswith("live runner ")]


def test_health_is_asked_where_the_orchestrator_asks_it() -> None:
    assert probes(ASKING) == ["http://edge.example.net:8989/health"]
    other = ASKING.replace('health = "/health"', 'health = "http://edge.example.net:9000/up"')
    assert probes(other) == ["http://edge.example.net:9000/up"]
    below = ASKING.replace("port = 8989", 'port = 8989\npath = "/v1"')
    assert probes(below) == ["http://edge.example.net:8989/v1/health"]
    assert unwatched(ASKING) == []


def test_what_is_asked_carries_the_name_of_the_runner() -> None:
    (target,) = [target for target in watched(ASKING).targets if target.job == "runner"]
    labels = {label.name: label.value for label in target.labels}
    assert (labels["runner"], labels["host"], labels["instance"]) == ("echo", "gpu", "gpu-echo")
    assert {alert.name for alert in watched(ASKING).alerts} >= {"RunnerSilent", "RunnerUnsteady", "RunnerSlow"}


def test_what_nobody_can_ask_is_said() -> None:
    silent = ASKING.replace("blackbox_port = 9115", "")
    assert unwatched(silent) == ["no blackbox exporter asks it as host gpu has no blackbox_port"]
    assert not {alert.name for alert in watched(silent).alerts if alert.name.startswith("Runner")}
    strange = ASKING.replace('health = "/health"', 'health = "/health"\nhealth_status = 302')
    assert unwatched(strange) == ["a blackbox exporter takes another status than 2xx for a failure"]
    themselves = ASKING.replace('health = "/health"', 'register_by = "runner"')
    assert unwatched(themselves) == ["it registers itself and the spec has no health URL"]


def test_one_host_asks_a_runner_once_however_many_orchestrators_offer_it() -> None:
    again = ASKING.split("[orchestrators.orch]")[1].split("\n[", 1)[0]
    second = again.replace("8935", "8936") + '\ncli = "127.0.0.1:7936"\nservice = "edge.example.net:8936"\n'
    called = ASKING.replace("[wallets.earner]", '[wallets.earner]\nreward_by = "orch"')
    assert len(probes(f"{called}\n[orchestrators.twin]{second}")) == 1
