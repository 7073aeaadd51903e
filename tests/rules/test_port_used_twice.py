"""Listeners of one host that meet: those of nodes, of avatar stacks, and of the monitoring project."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity, has_errors
from tests.rules.support import (
    SECRET,
    OneRule,
    ai_worker,
    avatars,
    checked,
    free_gateway,
    free_orchestrator,
    gateway,
    host,
    model,
    offchain,
    onchain,
    orchestrator,
    printed,
    silent,
    staged,
    transcoder,
    wallet,
)


def test_port_used_twice(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Gateway on another port is fine.
    silent(offchain(free_gateway(http='"0.0.0.0:9935"', http_ingest="true"), free_orchestrator(host='"edge"')))
    # Suggested port repairs the spec.
    text = offchain(free_gateway(http='"127.0.0.1:8935"', orchestrators='["edge.example.net:8935"]'))
    silent(text)
    both = offchain(free_gateway(http='"127.0.0.1:8935"'), free_orchestrator(host='"edge"'))
    rule.errs(both, 'write service = "edge.example.net:8936"')
    repaired = free_orchestrator(host='"edge"', service='"edge.example.net:8936"')
    silent(offchain(free_gateway(http='"127.0.0.1:8935"'), repaired))
    # Default administration ports of two gateways meet.
    second = free_gateway("gate-2", http='"127.0.0.1:9936"', rtmp='"127.0.0.1:1936"')
    assert rule.errs(offchain(free_orchestrator(), free_gateway(), second)) == snapshot
    silent(offchain(free_orchestrator(), free_gateway(), second + 'cli = "127.0.0.1:5936"\n'))
    # One node that takes a port twice.
    node = free_gateway(http='"127.0.0.1:5935"')
    assert rule.errs(offchain(free_orchestrator(), node)) == snapshot
    # Loopback addresses that differ do not meet.
    second = free_gateway("gate-2", http='"127.0.0.2:8935"', rtmp='"127.0.0.2:1935"', cli='"127.0.0.2:5935"')
    silent(offchain(free_orchestrator(), free_gateway(), second))
    # Localhost is the loopback address.
    second = free_gateway("gate-2", http='"localhost:8935"', rtmp='"127.0.0.1:1936"', cli='"127.0.0.1:5936"')
    rule.errs(offchain(free_orchestrator(), free_gateway(), second), "8935")
    # IPv6 wildcard meets everything.
    second = free_gateway("gate-2", http='"[::]:8935"', http_ingest="true", rtmp='"[::1]:1936"', cli='"[::1]:5936"')
    rule.errs(offchain(free_orchestrator(), free_gateway(), second), 'http = "[::]:8936"')


def forwarded(spec: str) -> str:
    """The spec with another SSH port for its edge host."""
    changed = spec.replace("[hosts.edge]", "[hosts.edge]\nssh_port = 2222")
    assert changed != spec
    return changed


def test_port_used_twice__ssh(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Port 22 of a node is an error.
    node = free_gateway(http='"0.0.0.0:22"', http_ingest="true")
    rule.errs(offchain(free_orchestrator(), node), "uses port 22 of host edge")
    # Other SSH port may be forwarded so it is a warning.
    node = free_gateway(http='"0.0.0.0:2222"', http_ingest="true")
    assert rule.warns(forwarded(offchain(free_orchestrator(), node))) == snapshot
    silence = '[silences.accepted]\ncode = "port-used-twice"\nat = "gateways.gate"\nreason = "the router forwards it"\n'
    silent(forwarded(offchain(free_orchestrator(), node, silence)))
    # SSH port hides no clash of two nodes.
    one = free_gateway(http='"0.0.0.0:2222"', http_ingest="true")
    other = free_orchestrator(host='"edge"', service='"edge.example.net:2222"')
    found = [d for d in checked(forwarded(offchain(one, other))).diagnostics if d.code == rule.code]
    assert sorted(d.severity.name for d in found) == ["ERROR", "WARNING"]


def test_port_used_twice__media(rule: OneRule) -> None:
    # Bracketed address for live media is the same address.
    both = free_gateway(environment='{ LIVE_AI_WHIP_ADDR = "[::1]:7280", LIVE_AI_WHEP_ADDR = "[0:0::1]:7280" }')
    rule.errs(offchain(free_orchestrator(), both), 'environment.LIVE_AI_WHIP_ADDR = "[::1]:7281"')
    # WHIP listener is UDP and meets only UDP.
    one = free_gateway(environment='{ LIVE_AI_WHIP_ADDR = "0.0.0.0:8935" }')
    silent(offchain(free_orchestrator(), one))
    both = free_gateway(environment='{ LIVE_AI_WHIP_ADDR = ":7280", LIVE_AI_WHEP_ADDR = ":7280" }')
    rule.errs(offchain(free_orchestrator(), both), "WHEP")
    # Runner containers on the CPU of one host meet.
    settings = {"mode": '"ai"', "models": '[{ use = "realvis" }]', "ai_registry": "true", "wallet": '"earner"'}
    secret = '{ env = "S" }'
    one = orchestrator("a", **settings, secret=secret, service='"orch.example.net:8001"')
    other = orchestrator("b", **settings, secret=secret, service='"orch.example.net:8002"', cli='"127.0.0.1:7936"')
    text = onchain(wallet(), model(), one, other.replace('"earner"', '"third"'))
    rule.errs(text, "text-to-image runner")
    # Same port on two hosts is fine.
    silent(
        offchain(
            free_orchestrator(),
            free_gateway(),
            transcoder(host='"edge"', orchestrator='"o.example.net:8935"', secret='{ env = "S" }'),
        )
    )
    # Many nodes on one port are found in one pass.
    nodes = [gateway(f"g{i}", orchestrators='["x.example.net:8935"]', wallet=None, max_price=None) for i in range(300)]
    found = checked(offchain(*nodes)).diagnostics
    assert has_errors(found)
    assert sum(d.code == rule.code for d in found) == 3 * 299


TURN = '{ user = { env = "TURN_USER" }, password = { env = "TURN_PASSWORD" }, address = "203.0.113.20" }'
RELAYS = TURN.replace("{ user", '{ relay_ports = "3470-3520", user')
DESIGN = '[silences.design]\ncode = "slot-beyond-public-design"\nreason = "networks of our own"\n'
MOVED = {"host": '"gpu"', "http": '"127.0.0.1:9936"', "cli": '"127.0.0.1:5936"', "rtmp": '"127.0.0.1:1936"'}
ABROAD = {"host": '"gpu"', "orchestrators": '["orch.example.org:8935"]'}
LIVE = (
    model("live", pipeline='"live-video-to-video"', id='"comfyui"'),
    free_orchestrator(mode='"ai"', gpus="[0]", secret=SECRET, models='[{ use = "live", warm = true }]'),
)


def _slot(number: int, *tables: str, of_host: str = "", **settings: str) -> str:
    slots = f'[{{ avatar = "mira", slot = {number} }}]'
    text = staged(avatars(slots=slots, **settings), *tables, *([DESIGN] if number > 19 else []))
    return text.replace('address = "203.0.113.20"', f'address = "203.0.113.20"\n{of_host}', 1)


def _two(first: int, second: int, **settings: str) -> str:
    slots = f'[{{ avatar = "mira", slot = {first} }}, {{ avatar = "noor", slot = {second} }}]'
    return staged(avatars(slots=slots, gpu='"all"', **settings), DESIGN)


def _repair(rule: OneRule, text: str) -> None:
    """Fail when the advice of a clash, once followed, leaves it or brings another error."""
    others = {d.code for d in checked(text).diagnostics} - {rule.code}
    for _ in range(8):
        found = [d for d in checked(text).diagnostics if d.code == rule.code or d.severity is Severity.ERROR]
        assert {d.code for d in found} <= {rule.code, *others}, printed(text)
        advice = next((d.help for d in found if d.code == rule.code), None)
        if advice is None:
            return
        text = _followed(tomllib.loads(text), advice)
    pytest.fail(printed(text))


def _followed(spec: dict[str, Any], advice: str) -> str:
    setting = re.search(r"write ([\w.]+) = (\S+) in ([\w.]+)", advice)
    slot = re.search(r"write slot = (\d+) for ([\w-]+)", advice)
    if slot is not None:
        stack = spec["avatars"]["stage"]
        if isinstance(stack["slots"], int):
            stack["slots"] = [{"avatar": f"stage-{number}"} for number in range(stack["slots"])]
        next(one for one in stack["slots"] if one["avatar"] == slot[2])["slot"] = int(slot[1])
    else:
        assert setting is not None, advice
        path = f"{setting[3]}.{setting[1]}".split(".")
        table = spec
        for name in path[:-1]:
            table = table.setdefault(name, {})
        table[path[-1]] = tomllib.loads(f"value = {setting[2]}")["value"]
    return tomli_w.dumps(spec)


def test_port_used_twice__avatars(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Ports of an avatar stack.
    for text, says in [
        (
            _slot(46, free_orchestrator()),
            "stage (recorder of slot 46) and orch (service) both use port 8935 of host gpu",
        ),
        (_slot(46, free_orchestrator()), "write slot = 0 for mira"),
        (_slot(158, free_orchestrator()), "write slot = 0 for mira, or game_command = false for it"),
        (_slot(0, beside='["single-stack"]'), "stage (game of slot 0) and the single stack (game) both use port 7777"),
        (_slot(0, beside='["single-stack"]'), "4 errors"),
        (_slot(1, beside='["mediamtx"]'), "8890"),
        (_slot(1, payments='{ addresses = ["203.0.113.20"] }'), "the payments service both use port 8081"),
        (_slot(0, edge='{ addresses = ["203.0.113.20"] }'), "the matchmaker of an edge both use port 8889"),
        (_slot(11, *LIVE), "orch (live-video-to-video runner) both use port 8900"),
        (
            _slot(223, model(), ai_worker(orchestrator='"o.example.net:8935"', secret=SECRET), gpu='"all"'),
            "stage (game of slot 223) and worker (text-to-image runner) both use port 8000 of host gpu",
        ),
        (_slot(1, of_host="blackbox_port = 8081"), "stage (signaling of slot 1) and monitoring (blackbox exporter)"),
        (_slot(226, of_host="blackbox_port = 9115"), "recorder of slot 226"),
        (_slot(511, of_host='gpu_exporter = { kind = "dcgm" }'), "dcgm listens on 9400"),
        (_slot(0, health_port="9115", of_host="blackbox_port = 9115"), "both use port 9115"),
        (_slot(201), "stage uses port 9090 of host gpu twice, for orchestrator-health and recorder of slot 201"),
        (_slot(0, health_port="8080"), "for orchestrator-health and signaling of slot 0"),
        (_slot(0, health_port="22"), "stage (orchestrator-health) uses port 22 of host gpu, its ssh_port"),
        (_slot(0, free_orchestrator(), health_port="8935"), "write health_port = 8936 in avatars.stage"),
        (_slot(0, health_port="3478", turn=TURN), "stage uses port 3478 of host gpu twice"),
        (_slot(0, turn=RELAYS), "for TURN and relayed media of TURN"),
        (_slot(0, turn=RELAYS), 'write turn.relay_ports = "3521-3561" in avatars.stage'),
        (
            _slot(0, free_gateway(**ABROAD, environment='{ LIVE_AI_WHIP_ADDR = "0.0.0.0:49170" }'), turn=TURN),
            "stage (relayed media of TURN) and gate (WHIP) both use port 49170",
        ),
        (
            staged(avatars(slots="2", beside='["mediamtx"]')),
            "list the slots instead of counting them, and write slot = 2 for stage-0",
        ),
    ]:
        rule.errs(text, says)
        _repair(rule, text)
    # Slots on free ports.
    for text in [
        _slot(45, free_orchestrator()),
        _slot(0, free_orchestrator()),
        _slot(158, free_orchestrator(), game_command="false"),
        _slot(46, free_orchestrator(service='"orch.example.net:9935"', cli='"127.0.0.1:7936"')),
        _slot(46, free_orchestrator(host='"edge"', service='"edge.example.net:8935"'), free_gateway(**MOVED)),
        _slot(1, beside='["single-stack"]'),
        _slot(1),
        _slot(12, *LIVE),
        _slot(1, of_host="blackbox_port = 9115"),
        _slot(511, of_host='gpu_exporter = { kind = "dcgm", port = 9401 }', gpu="1"),
        _slot(0, turn=TURN),
        _slot(0, free_gateway(**ABROAD, environment='{ LIVE_AI_WHIP_ADDR = "0.0.0.0:49150" }'), turn=TURN),
    ]:
        silent(text)
    # Port that something often has beside a stack.
    assert rule.warns(_slot(46)) == snapshot
    accepted = f'[silences.accepted]\ncode = "{rule.code}"\nreason = "no node runs here"\n'
    silent(_slot(46, accepted))
    silent(_slot(46, free_orchestrator(host='"other"', service='"o.example.net:8935"'), host("other"), accepted))
    rule.warns(_slot(0, of_host="ssh_port = 8080"), "slot 0) uses port 8080")
    # Two slots on one port.
    rule.errs(_two(809, 0), "stage uses port 8889 of host gpu twice, for recorder of slot 0 and signaling of slot 809")
    rule.errs(_two(0, 303), "for game of slot 303 and signaling of slot 0")
    silent(_two(0, 810))
    silent(_two(0, 304))
    silent(_two(0, 303, game_command="false"))
    # Many counted slots give one message for each pair of services.
    found = [
        d.message
        for d in checked(staged(avatars(slots="2001", gpu='"all"'), DESIGN)).diagnostics
        if d.code == rule.code
    ]
    assert len(found) == len(set(found)) < 12


HOME = '[monitoring]\nhost = "edge"\n'
HOOK = 'webhook = { host_file = "/etc/fleetc-monitoring/webhook" }\n'
REACHED = 'prometheus = "203.0.113.10:9191"\n'
STAGE = '[avatars.stage]\nhost = "edge"\nslots = 1\n'


def _project(project: str, *nodes: str, **fleet: str | None) -> str:
    nodes = nodes or (free_gateway(), free_orchestrator())
    return offchain(*nodes, f"{HOME}\n[monitoring.project]\n{project}{HOOK}", **fleet)


def _beside(project: str, listener: str) -> str:
    gate = free_gateway(cli=f'"{listener}"', cli_exposed="true" if "127" not in listener else None)
    return _project(project, gate, free_orchestrator())


def test_port_used_twice__monitoring(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Ports of the monitoring project.
    for text, says in [
        (
            _project("", STAGE, free_gateway(), free_orchestrator(), avatar_release='"v1.3.6"'),
            "monitoring (Prometheus) and stage (orchestrator-health) both use port 9090 of host edge",
        ),
        (_beside(REACHED, "127.0.0.1:9093"), "write alertmanager_port = 9094 in monitoring.project"),
        (_beside(REACHED, "127.0.0.1:3000"), 'write grafana = "127.0.0.1:3001" in monitoring.project'),
        (_beside(REACHED, "0.0.0.0:9100"), "write node_exporter_port = 9101 in monitoring.project"),
        (_beside(REACHED, "203.0.113.10:9191"), 'write prometheus = "203.0.113.10:9192" in monitoring.project'),
        (_beside(REACHED + "alertmanager_port = 22\n", "127.0.0.1:5935"), "write alertmanager_port = 23"),
        (
            _project(REACHED, free_gateway(), free_orchestrator(cli='"127.0.0.1:9191"')),
            "monitoring (Prometheus agent) and orch (administration) both use port 9191 of host gpu",
        ),
        (
            _project(REACHED, free_gateway(), free_orchestrator(cli='"127.0.0.1:9191"')),
            'write prometheus = "203.0.113.10:9192" in monitoring.project',
        ),
        (
            _project(REACHED + "alertmanager_port = 3000\n"),
            "port 3000 of host edge twice, for Grafana and Alertmanager",
        ),
        (
            _project(REACHED).replace("runtime", 'gpu_exporter = { kind = "dcgm" }\nblackbox_port = 9400\nruntime', 2),
            "write blackbox_port = 9401 in hosts.gpu",
        ),
    ]:
        rule.errs(text, says)
        _repair(rule, text)
    # Port of another address is free.
    silent(_beside(REACHED, "127.0.0.1:9191"))
    # Clash on all hosts is one message.
    assert rule.printed(_project(REACHED + "node_exporter_port = 22\n")).count(f"[{rule.code}]") == 1
    # Port that agents send to.
    central = '[monitoring]\nalertmanagers = ["203.0.113.10:9093"]\nhost = "edge"\n'
    agent, taken = free_orchestrator(monitor="true"), free_gateway(cli='"127.0.0.1:9090"')
    assert rule.errs(offchain(taken, agent, central)) == snapshot
    stack = offchain(free_gateway(), agent, central, STAGE, avatar_release='"v1.3.6"')
    rule.errs(stack, "stage (orchestrator-health)")
    rule.quiet(stack.replace("slots = 1", "slots = 1\nhealth_port = 9191"))
    silent(offchain(taken, agent, central + 'receiver = "http://203.0.113.10:9091/api/v1/write"\n'))
    silent(offchain(free_gateway(cli='"127.0.0.1:9090"', monitor="true"), free_orchestrator(), central))


_LISTENERS = st.tuples(
    st.sampled_from(["0.0.0.0", "127.0.0.1", "localhost", "10.0.0.1", "10.0.0.2"]), st.integers(9000, 9002)
)


@given(st.lists(_LISTENERS, min_size=1, max_size=6))
def test_port_used_twice__as_by_comparing_all_pairs(listeners: list[tuple[str, int]]) -> None:
    nodes = [
        gateway(
            f"g{index}",
            orchestrators='["x.example.net:8935"]',
            wallet=None,
            max_price=None,
            http=f'"{address}:{port}"',
            http_ingest="true",
            rtmp=f'"127.0.0.1:{1000 + index}"',
            cli=f'"127.0.0.1:{2000 + index}"',
        )
        for index, (address, port) in enumerate(listeners)
    ]
    clashing = set()
    for second, (address, port) in enumerate(listeners):
        for other, other_port in listeners[:second]:
            same = address.replace("localhost", "127.0.0.1") == other.replace("localhost", "127.0.0.1")
            if port == other_port and (same or "0.0.0.0" in (address, other)):
                clashing.add(f"g{second}")
    found = {str(d.primary.place[1]) for d in checked(offchain(*nodes)).diagnostics if d.code == "port-used-twice"}  # type: ignore[index]
    assert found == clashing
