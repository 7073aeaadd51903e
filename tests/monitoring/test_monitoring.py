"""What is read, with which labels, by whom; what the language refuses; and that no text of a spec is evaluated."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest
import yaml

from fleetc.blueprint.monitoring import Alert, Live, Panel
from fleetc.language.fleet import NODE_TABLES
from fleetc.lower.watching import alert_rows
from fleetc.places.origin import Origin
from fleetc.upstream.metrics import exporter_ports, metrics
from tests.monitoring.support import SPEC, files, watched, whole
from tests.rules.support import checked, free_gateway, free_orchestrator, offchain, orchestrator, printed
from tests.support import compile_text, files_of


def labels(text: str = SPEC) -> dict[str, dict[str, str]]:
    """The labels of every target, by its instance."""
    found = watched(text)
    targets = [*found.targets, *(target for agent in found.agents for target in agent.targets)]
    return {named["instance"]: named for named in ({x.name: x.value for x in target.labels} for target in targets)}


def test_targets_carry_fleet_host_node_role_and_region() -> None:
    found = labels()
    assert found["gate"] == {
        **{"fleet": "stage", "host": "front", "node": "gate", "role": "gateway", "region": "eu", "mode": "dual"},
        **{"wallet": "payer", "instance": "gate", "team": "ops {{ .Value }} $HOME"},
    }
    assert "region" not in found["orch"] and found["orch"]["reward"] == "caller"
    assert found["vtuber-stage-1"]["slot"] == "1" and found["vtuber-stage-1"]["avatar"] == "stage-1"


def test_each_is_read_where_it_can_be() -> None:
    found = watched()
    assert found.home == "front"
    assert [(t.job, t.address) for t in found.targets] == [
        ("livepeer", "127.0.0.1:5936"),
        ("livepeer", "127.0.0.1:5935"),
        ("node", "127.0.0.1:9100"),
        ("verify", "203.0.113.5:9100"),
    ]
    by_host = {agent.host: [(t.job, t.address, t.probe) for t in agent.targets] for agent in found.agents}
    assert by_host["gpu"] == [
        ("livepeer", "127.0.0.1:7935", ""),
        ("livepeer", "127.0.0.1:6935", ""),
        ("gpu", "127.0.0.1:9400", ""),
        ("node", "127.0.0.1:9100", ""),
        ("avatar", "127.0.0.1:9115", "http://127.0.0.1:8080/healthz"),
        ("avatar", "127.0.0.1:9115", "http://127.0.0.1:8081/healthz"),
        ("avatar", "127.0.0.1:9115", "http://127.0.0.1:9090/health"),
        ("runner", "127.0.0.1:9115", "http://192.0.2.9:8000/tiles/health"),
    ]
    assert by_host["second"] == [
        ("livepeer", "127.0.0.1:7935", ""),
        ("gpu", "127.0.0.1:9836", ""),
        ("node", "127.0.0.1:9100", ""),
    ]


def test_every_leaf_has_an_origin() -> None:
    found = watched()
    origins: list[Origin] = [found.interval.origin, *(a.origin for a in found.alertmanagers)]
    targets = [*found.targets, *(t for agent in found.agents for t in agent.targets)]
    origins += [t.origin for t in targets] + [label.origin for t in targets for label in t.labels]
    parts: list[Alert | Panel] = [*found.alerts, *found.panels]
    for part in parts:
        assert part.origins, part
        origins += part.origins
    origins += [item.origin for item in found.unwatched]
    spec: dict[str, Any] = tomllib.loads(SPEC)
    for origin in origins:
        assert origin.kind in ("given", "default", "derived") and (origin.reason or origin.kind == "given")
        for path in origin.paths:
            place: Any = spec
            for step in path:
                assert isinstance(step, int) or origin.kind != "given" or step in place, path
                place = place[step] if isinstance(step, int) or step in place else {}


def test_opened_listener_is_read_over_the_network_without_prometheus_on_a_host() -> None:
    opened = {"cli_exposed": "true", "monitor": "true"}
    text = offchain(free_gateway(cli='"10.0.0.1:5935"', **opened), free_orchestrator(cli='"0.0.0.0:7935"', **opened))
    found = watched(text)
    assert [t.address for t in found.targets] == ["10.0.0.1:5935", "203.0.113.20:7935"]
    assert found.agents == () and found.receiver is None


def test_opened_listener_is_read_on_loopback_where_an_agent_is() -> None:
    node = free_orchestrator(cli='"0.0.0.0:7935"', cli_exposed="true", monitor="true")
    (agent,) = watched(offchain(free_gateway(), node, '[monitoring]\nhost = "edge"\n')).agents
    assert [t.address for t in agent.targets] == ["127.0.0.1:7935"]


def test_receiver_elsewhere_gives_every_host_an_agent() -> None:
    text = SPEC.replace('host = "front"\nlabels', 'receiver = "https://prometheus.example.net/api/v1/write"\nlabels')
    text = "\n".join(line for line in text.splitlines() if not line.startswith(("webhook", "slack", "heartbeat")))
    found = watched(text)
    assert found.home == "" and [target.job for target in found.targets] == ["verify"]
    assert [agent.host for agent in found.agents] == ["front", "gpu", "second"]
    agent = yaml.safe_load(files(compile_text(text))["agents/front.yml"])
    assert agent["remote_write"] == [{"url": "https://prometheus.example.net/api/v1/write"}]


def test_nothing_is_emitted_where_nobody_asks() -> None:
    compiled = compile_text(
        SPEC[: SPEC.index("[hosts.gpu]")]
        .replace('avatar_release = "v1.3.6"\n', "")
        .replace('network = "arbitrum-one-mainnet"\nrpc = { env = "RPC_URL" }', 'network = "offchain"')
    )
    assert compiled.blueprint is not None and compiled.blueprint.monitoring is None
    assert files(compiled) == {}


def test_alerts_are_only_there_where_they_apply() -> None:
    everything = {alert.name for alert in watched().alerts}
    quiet = offchain(orchestrator(wallet=None, price=None, monitor="true"), '[monitoring]\nhost = "gpu"\n')
    assert {alert.name for alert in watched(quiet).alerts} == {
        *("NodeDown", "NodeRestarting", "OtherRelease", "SessionsNearLimit", "SessionLimitDiffers"),
    }
    assert everything == {row.name for row in alert_rows()}


def test_threshold_of_each_wallet_is_its_own_share_of_what_the_spec_plans() -> None:
    third = """
[wallets.third]
address = "0x3333333333333333333333333333333333333333"
keystore = "/var/lib/livepeer/keystore"
password = { env = "THIRD_PASSWORD" }
minimum_balance = "0.05 ETH"
deposit = "2 ETH"
reserve = "1 ETH"

[gateways.two]
host = "front"
mode = "video"
wallet = "third"
discovery = "registry"
max_price = "any"
http = "127.0.0.1:9936"
rtmp = "127.0.0.1:1937"
cli = "127.0.0.1:5937"
monitor = true
"""
    found = {
        alert.labels[0].value: (int(alert.threshold or 0), [".".join(map(str, o.paths[0])) for o in alert.origins])
        for alert in watched(SPEC + third).alerts
        if alert.name == "DepositLow"
    }
    assert found == {
        "payer": (125_000_000, ["monitoring", "wallets.payer.deposit"]),
        "third": (500_000_000, ["monitoring", "wallets.third.deposit"]),
    }


def test_text_of_the_spec_is_data_in_every_file() -> None:
    found = files(whole())
    config = yaml.safe_load(found["prometheus.yml"])
    assert config["scrape_configs"][0]["static_configs"][0]["labels"]["team"] == "ops {{ .Value }} $HOME"
    assert "external_labels" not in config["global"]
    rules = [rule for group in yaml.safe_load(found["alerts.yml"])["groups"] for rule in group["rules"]]
    assert {rule["annotations"]["runbook_url"] for rule in rules} == {'https://wiki.example.net/{{"{{"}}.Value}}'}
    for rule in rules:
        words = {*rule["annotations"].values(), *rule["labels"].values()}
        for code in re.findall(r"\{\{(.*?)\}\}", " ".join(words)):
            assert code == '"{{"' or re.fullmatch(
                r" \$(labels\.\w+|value( \| humanize(Percentage|Duration)?)?) ", code
            ), code


def test_labels_that_yaml_reads_otherwise_stay_text() -> None:
    text = SPEC.replace("labels = {", 'labels = { no = "yes", y = "1e3", on = "0x10",')
    config = yaml.safe_load(files(compile_text(text))["prometheus.yml"])
    target = config["scrape_configs"][0]["static_configs"][0]["labels"]
    assert (target["no"], target["y"], target["on"]) == ("yes", "1e3", "0x10")


def test_every_sentence_is_filled_in_by_labels_that_its_expression_keeps() -> None:
    for alert in watched().alerts:
        kept = set(re.findall(r"by \(([^)]*)\)", alert.expr)[0].split(", ")) if " by (" in alert.expr else None
        for part in (*alert.summary, *alert.description):
            if isinstance(part, Live) and part.startswith("$labels.") and kept is not None:
                assert part.removeprefix("$labels.") in kept, (alert.name, part)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('host = "nowhere"', 'there is no host "nowhere"'),
        ('alertmanagers = ["http://a.example.net:9093"]', "is a URL, but this takes only a host and a port"),
        ('alertmanagers = ["a b:9093"]', "is not a host"),
        ('alertmanagers = ["a.example.net"]', "has no port"),
        ('alertmanagers = ["a.example.net:99999"]', "is not a port from 1 to 65535"),
        ('alertmanagers = ["user:pw@a.example.net:9093"]', "cannot contain a user name or password"),
        ('alertmanagers = ["*.example.net:9093"]', "is not a host"),
        ('alertmanagers = ["a.example.net:9093\\n"]', "is not a port"),
        ('alertmanagers = ["0.0.0.0:9093"]', "an address to listen on, not one that others can reach"),
        ('alertmanagers = ["[::]:9093"]', "an address to listen on"),
        ("deposit_low = 0.25", "not a percentage"),
        ("deposit_low = 25", "not a percentage"),
        ('gpu_memory_high = "0%"', "not a percentage"),
        ('gpu_memory_high = "101%"', "not a percentage"),
        ('gpu_memory_high = "85 %"', "not a percentage"),
        ("scrape_interval = 30", "duration"),
        ('scrape_interval = "0.5s"', "whole seconds"),
        ('scrape_interval = "121s"', "look back 5 minutes"),
        ('reward_round = "90s"', "whole minutes"),
        ('reward_round = "30d"', "duration"),
        ("restarts_high = 0", "1"),
        ("runway_low = 24", "duration"),
        ('runway_low = "0.5s"', "whole seconds"),
        ('declined_high = "0%"', "not a percentage"),
        ('verify_every = "59s"', "once a minute at most"),
        ('verify_every = "8d"', "duration"),
        ('verify_every = "169h"', "once a week at least"),
        ('verify_exporter = "0.0.0.0:9100"', "an address to listen on"),
        ('verify_exporter = "http://203.0.113.5:9100"', "is a URL, but this takes only a host and a port"),
        ('labels = { planned = "x" }', "sets this label"),
        ('labels = { kind = "x" }', "sets this label"),
        ('labels = { node = "x" }', "sets this label"),
        ('labels = { error_code = "x" }', "sets this label"),
        ('labels = { __address__ = "x" }', "sets this label"),
        ('labels = { "a-b" = "x" }', "not a label name"),
        ('labels = { "1a" = "x" }', "not a label name"),
        ('labels = { a = "" }', "empty"),
        ('receiver = "prometheus.example.net:9090"', "not a URL"),
        ('receiver = "https://u:p@prometheus.example.net/x"', "user name or password"),
        ('rule_files = ["own.yml"]', "absolute path"),
        ("retention = 3", "retention"),
    ],
)
def test_language_refuses(line: str, says: str) -> None:
    text = offchain(orchestrator(wallet=None, price=None), f"[monitoring]\n{line}\n")
    shown = printed(text)
    assert shown.startswith("error[") and says in shown, shown
    assert checked(text).fleet is None


@pytest.mark.parametrize(
    "line",
    [
        'gpu_exporter = "dcgm"',
        'gpu_exporter = { kind = "other" }',
        'gpu_exporter = { kind = "dcgm", port = 0 }',
        "blackbox_port = 70000",
    ],
)
def test_language_refuses_of_a_host(line: str) -> None:
    assert checked(offchain(f'[hosts.more]\naddress = "203.0.113.9"\nruntime = "docker"\n{line}\n')).fleet is None


def test_number_that_is_meant_as_a_share_is_proposed() -> None:
    text = offchain(orchestrator(wallet=None, price=None), "[monitoring]\ngpu_memory_high = 85\n")
    found = [d for d in checked(text).diagnostics if d.code == "invalid-value"]
    assert found[0].fix is not None
    assert "85%" in str(found[0].fix)


def test_pages_say_what_is_read_and_what_is_not() -> None:
    pages = files_of(SPEC)
    section = pages["FLEET.md"].partition("## Monitoring")[2].partition("\n## ")[0]
    assert "| `orch` | livepeer | `127.0.0.1:7935` |" in pages["hosts/second/README.md"]
    assert "| `gate` | livepeer | `127.0.0.1:5935` |" in pages["hosts/front/README.md"]
    assert "balance of wallet payer" in section and "registration of the slots of stage" in section
    assert "firewall" in section


def test_facts_of_metrics_are_whole() -> None:
    for metric in metrics().values():
        assert metric.type in ("gauge", "counter") and metric.appears in ("start", "use") and metric.unit
        assert metric.sources and all(source.startswith("https://") for source in metric.sources)
        assert metric.roles <= set(NODE_TABLES) and (metric.exporter == "node") == bool(metric.roles)
    assert set(exporter_ports()) == {"dcgm", "nvidia-smi"} <= {m.exporter for m in metrics().values()}


def test_counters_that_appear_with_their_first_event_are_never_read_by_increase_alone() -> None:
    for alert in watched().alerts:
        for name in re.findall(r"increase\((\w+)\{", alert.expr):
            assert metrics()[name].appears == "use" and f"unless {name}" in alert.expr, alert.name


def test_warning_is_flagged_once_for_all_nodes() -> None:
    text = SPEC[: SPEC.index("[monitoring]")]
    assert flagged_warnings(text) == ["metrics-out-of-reach"]


def flagged_warnings(text: str) -> list[str]:
    return [d.code for d in checked(text).diagnostics]
