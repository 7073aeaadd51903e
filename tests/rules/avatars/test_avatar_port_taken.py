"""Ports of an avatar stack that something else on the host takes."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import (
    SECRET,
    ai_worker,
    avatars,
    checked,
    flagged,
    free_gateway,
    free_orchestrator,
    host,
    model,
    silent,
    staged,
)

CODE = "avatar-port-taken"

TURN = '{ user = { env = "TURN_USER" }, password = { env = "TURN_PASSWORD" }, address = "203.0.113.20" }'


def _slot(number: int, *tables: str, **settings: str) -> str:
    slots = f'[{{ avatar = "mira", slot = {number} }}]'
    silence = '[silences.design]\ncode = "slot-beyond-public-design"\nreason = "networks of our own"\n'
    return staged(avatars(slots=slots, **settings), *tables, *([silence] if number > 19 else []))


def test_recorder_of_slot_46_is_the_port_of_an_orchestrator(snapshot: SnapshotAssertion) -> None:
    assert flagged(_slot(46, free_orchestrator()), CODE) == snapshot
    silent(_slot(45, free_orchestrator()))


def test_game_of_slot_158_is_the_status_port_of_an_orchestrator(snapshot: SnapshotAssertion) -> None:
    assert flagged(_slot(158, free_orchestrator()), CODE) == snapshot
    silent(_slot(158, free_orchestrator(), game_command="false"))


def test_suggested_number_repairs_the_spec() -> None:
    assert "write slot = 0 for mira" in flagged(_slot(46, free_orchestrator()), CODE)
    silent(_slot(0, free_orchestrator()))


def test_node_that_stands_elsewhere_leaves_the_usual_port_free() -> None:
    silent(_slot(46, free_orchestrator(service='"orch.example.net:9935"', cli='"127.0.0.1:7936"')))
    silent(_slot(46, free_orchestrator(host='"edge"', service='"edge.example.net:8935"'), free_gateway(**_MOVED)))


_MOVED = {"host": '"gpu"', "http": '"127.0.0.1:9936"', "cli": '"127.0.0.1:5936"', "rtmp": '"127.0.0.1:1936"'}


def test_usual_port_is_a_warning_where_the_spec_describes_no_node(snapshot: SnapshotAssertion) -> None:
    assert flagged(_slot(46), CODE, Severity.WARNING) == snapshot
    silence = '[silences.accepted]\ncode = "avatar-port-taken"\nreason = "no node runs here"\n'
    silent(_slot(46, silence))


def test_service_that_the_spec_puts_beside_the_stack(snapshot: SnapshotAssertion) -> None:
    assert flagged(_slot(0, beside='["single-stack"]'), CODE) == snapshot
    silent(_slot(1, beside='["single-stack"]'))
    assert "8890" in flagged(_slot(1, beside='["mediamtx"]'), CODE)


def test_payments_service_and_edge_on_the_same_host() -> None:
    own = {"payments": '{ addresses = ["203.0.113.20"] }'}
    assert "the payments service both use port 8081" in flagged(_slot(1, **own), CODE)
    silent(_slot(1))
    edge = {"edge": '{ addresses = ["203.0.113.20"] }'}
    assert "the matchmaker of an edge both use port 8889" in flagged(_slot(0, **edge), CODE)


def test_runner_container_stands_on_the_recorder_of_slot_11(snapshot: SnapshotAssertion) -> None:
    live = model("live", pipeline='"live-video-to-video"', id='"comfyui"')
    ai = {"mode": '"ai"', "gpus": "[0]", "secret": SECRET, "models": '[{ use = "live", warm = true }]'}
    assert flagged(_slot(11, live, free_orchestrator(**ai)), CODE) == snapshot
    silent(_slot(12, live, free_orchestrator(**ai)))


def test_runner_containers_of_an_ai_worker_count_too() -> None:
    text = _slot(123, model(), ai_worker(orchestrator='"o.example.net:8935"', secret=SECRET, containers_per_gpu="3"))
    assert "text-to-image runner" not in "".join(d.message for d in checked(text).diagnostics)
    slot = {"slots": '[{ avatar = "mira", slot = 223 }]'}
    found = checked(staged(avatars(**slot), model(), ai_worker(orchestrator='"o.example.net:8935"', secret=SECRET)))
    assert [d.message for d in found.diagnostics if d.code == CODE] == [
        "game of slot 223 of stage and worker (text-to-image runner) both use port 8000 of host gpu"
    ]


def test_ssh_server() -> None:
    port = 'address = "203.0.113.20"\nssh_port = '
    text = _slot(0).replace('address = "203.0.113.20"', port + "8080")
    assert "the SSH server both use port 8080" in flagged(text, CODE, Severity.WARNING)
    assert "health_port" in flagged(_slot(0, health_port="22"), CODE)


def _watched(number: int, setting: str, **settings: str) -> str:
    own = 'public = "orch.example.net"'
    return _slot(number, **settings).replace(own, f"{own}\n{setting}")


def test_exporters_of_the_host(snapshot: SnapshotAssertion) -> None:
    assert flagged(_watched(1, "blackbox_port = 8081"), CODE) == snapshot
    assert "recorder of slot 226" in flagged(_watched(226, "blackbox_port = 9115"), CODE)
    assert "dcgm listens on 9400" in flagged(_watched(511, 'gpu_exporter = { kind = "dcgm" }'), CODE)
    assert "both use port 8080" in flagged(_watched(0, 'gpu_exporter = { kind = "dcgm", port = 8080 }'), CODE)
    assert "orchestrator-health of stage and the blackbox exporter both use port 9115" in flagged(
        _watched(0, "blackbox_port = 9115", health_port="9115"), CODE
    )


def test_exporters_on_ports_of_their_own_are_fine() -> None:
    silent(_watched(1, "blackbox_port = 9115"))
    silent(_watched(511, 'gpu_exporter = { kind = "dcgm", port = 9401 }', gpu="1"))


def test_health_on_a_port_of_a_slot(snapshot: SnapshotAssertion) -> None:
    assert flagged(_slot(201), CODE) == snapshot
    assert "orchestrator-health" in flagged(_slot(0, health_port="8080"), CODE)


def test_health_on_a_port_of_a_node_and_of_turn() -> None:
    assert "orch (service)" in flagged(_slot(0, free_orchestrator(), health_port="8935"), CODE)
    assert "TURN of stage and orchestrator-health both use port 3478" in flagged(
        _slot(0, health_port="3478", turn=TURN), CODE
    )


def test_relay_ports_of_turn(snapshot: SnapshotAssertion) -> None:
    turn = TURN.replace("{ user", '{ relay_ports = "3470-3520", user')
    assert flagged(_slot(0, turn=turn), CODE) == snapshot
    silent(_slot(0, turn=TURN))


def test_live_media_of_a_gateway_in_the_relay_ports() -> None:
    whip = free_gateway(
        host='"gpu"', orchestrators='["orch.example.org:8935"]', environment='{ LIVE_AI_WHIP_ADDR = "0.0.0.0:49170" }'
    )
    assert "gate (WHIP) uses UDP port 49170" in flagged(_slot(0, whip, turn=TURN), CODE)
    silent(_slot(0, whip.replace("49170", "49150"), turn=TURN))


def test_counted_slots_are_told_to_be_listed() -> None:
    text = staged(avatars(slots="2", beside='["mediamtx"]'))
    assert "list the slots instead of counting them, and write slot = 2 for stage-0" in flagged(text, CODE)


def test_ports_of_other_hosts_do_not_count() -> None:
    silent(_slot(46, free_orchestrator(host='"other"', service='"o.example.net:8935"'), host("other"), *_NOT_HERE))


_NOT_HERE = ('[silences.accepted]\ncode = "avatar-port-taken"\nreason = "no node runs here"\n',)
