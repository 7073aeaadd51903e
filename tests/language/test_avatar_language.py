"""Avatar tables that are no avatar tables, and what is printed about them; and what stands where nothing is written."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.language import effective_avatar
from fleetc.language.fleet import Fleet, Stack
from fleetc.language.references import too_many_nodes
from fleetc.places.diagnostic import Path
from tests.rules.support import (
    avatars,
    checked,
    flagged,
    free_orchestrator,
    host,
    onchain,
    orchestrator,
    printed,
    silent,
    staged,
)

TURN = 'user = { env = "TURN_USER" }, password = { env = "TURN_PASSWORD" }, address = "203.0.113.20"'
CONTROL = 'url = "https://edge.example.net", token = { env = "EDGE_TOKEN" }'
ACCOUNT = 'id = "stage-1", address = "0x1111111111111111111111111111111111111111"'


Settings = dict[str, str | None]


def _slots(text: str) -> Settings:
    return {"slots": f"[{{ {text} }}]"}


BAD: dict[str, Settings] = {
    "slot-minus-1": _slots('avatar = "mira", slot = -1'),
    "slot-70000": _slots('avatar = "mira", slot = 70000'),
    "slot-55659": _slots('avatar = "mira", slot = 55659'),
    "slot-true": _slots('avatar = "mira", slot = true'),
    "slot-1.0": _slots('avatar = "mira", slot = 1.0'),
    "slot-text": _slots('avatar = "mira", slot = "1"'),
    "id-with-a-dot": _slots('avatar = "mira.2"'),
    "id-with-a-newline": _slots('avatar = "mira\\nVTUBER_AVATAR_ID=noor"'),
    "id-empty": _slots('avatar = ""'),
    "id-200-characters": _slots(f'avatar = "{"a" * 200}"'),
    "id-with-spaces": _slots('avatar = "mira one"'),
    "id-only-hyphens": _slots('avatar = "---"'),
    "id-host": _slots('avatar = "Host"'),
    "id-missing": _slots("slot = 1"),
    "id-number": _slots("avatar = 7"),
    "image-with-a-tag-alone": {"images": '{ game = "registry.example.net/game:v1.3.6" }'},
    "image-with-half-a-digest": {"images": '{ signaling = "registry.example.net/s@sha256:0123" }'},
    "image-of-turn-without-turn": {"images": f'{{ turn = "registry.example.net/turn@sha256:{"a" * 64}" }}'},
    "game-file-elsewhere": {"game_files": '{ engine = "../secrets.ini" }'},
    "game-file-of-another-kind": {"game_files": '{ engine = "Engine.txt" }'},
    "open-files-0": {"game_open_files": "0"},
    "open-files-beyond-linux": {"game_open_files": "1048577"},
    "open-files-true": {"game_open_files": "true"},
    "recorder-over-http": {"recorder_signaling": '"http://unreal-signaling:80"'},
    "host-name-with-a-space": {"registration": f'{{ {ACCOUNT}, host_name = "rack 7" }}'},
    "gpu-list": _slots('avatar = "mira", gpu = [0, 1]'),
    "gpu-minus-1": _slots('avatar = "mira", gpu = -1'),
    "gpu-true": {"gpu": "true"},
    "slots-0": {"slots": "0"},
    "slots-above-the-limit": {"slots": "55660"},
    "slots-true": {"slots": "true"},
    "slots-text": {"slots": '"4"'},
    "slots-table": {"slots": '{ avatar = "mira" }'},
    "slots-empty": {"slots": "[]"},
    "slots-of-texts": {"slots": '["mira"]'},
    "unknown-key": {"alow": '["payments"]'},
    "unknown-key-of-a-slot": _slots('avatr = "mira", avatar = "noor"'),
    "unknown-brand": {"brand": '"Avatar"'},
    "release-without-v": {"avatar_release": '"1.3.6"'},
    "release-padded": {"avatar_release": '"v2026.03.01-alpha.1"'},
    "release-without-alpha": {"avatar_release": '"v2026.3.1"'},
    "release-month-13": {"avatar_release": '"v2026.13.1-alpha.1"'},
    "release-number": {"avatar_release": "1.3"},
    "release-with-a-space": {"avatar_release": '"the latest"'},
    "network-with-host-bits": {"allow": '["payments", "203.0.113.5/29"]'},
    "network-prefix-33": {"allow": '["payments", "203.0.113.0/33"]'},
    "allowed-name": {"allow": '["payments", "ops.example.net"]'},
    "allowed-word-in-capitals": {"allow": '["Payments"]'},
    "allowed-number": {"allow": "[1]"},
    "allowed-old-form": {"allow": '["010.0.0.1"]'},
    "payments-name": {"payments": '{ addresses = ["payments.example.net"] }'},
    "payments-network": {"payments": '{ addresses = ["203.0.113.0/29"] }'},
    "payments-without-addresses": {"payments": '{ url = "http://203.0.113.90:8081" }'},
    "payments-no-addresses": {"payments": "{ addresses = [] }"},
    "edge-ipv6": {"edge": '{ addresses = ["2001:db8::1"] }'},
    "edge-without-token": {"edge": '{ url = "https://edge.example.net" }'},
    "edge-polled-too-often": {"edge": f'{{ {CONTROL}, poll_interval = "4 s" }}'},
    "gateway-ipv6": {"docker_gateways": '["::1"]'},
    "slot-networks-too-small": {"slot_networks": '"172.30.0.0/24"'},
    "slot-networks-public": {"slot_networks": '"8.8.0.0/16"'},
    "slot-networks-loopback": {"slot_networks": '"127.0.0.0/16"'},
    "slot-memory-too-small": {"slot_memory": '"512 MiB"'},
    "slot-memory-odd": {"slot_memory": '"8000000 kB"'},
    "token-written-out": {"runner_token": '"hunter2hunter2"'},
    "token-misspelt": {"runner_tokn": '"hunter2hunter2"'},
    "turn-without-password": {"turn": '{ user = { env = "TURN_USER" } }'},
    "relay-ports-downwards": {"turn": f'{{ {TURN}, relay_ports = "49200-49160" }}'},
    "realm-with-a-newline": {"turn": f'{{ {TURN}, realm = "a\\nb" }}'},
    "signature-for-a-week": {"ops": '{ secret = { env = "OPS" }, ttl = "168 h" }'},
    "registration-without-account": {"registration": '{ id = "stage-1" }'},
    "registration-with-two-accounts": {"registration": f'{{ {ACCOUNT}, orchestrator = "orch" }}'},
    "registration-id-with-a-space": {"registration": f"{{ {ACCOUNT.replace('stage-1', 'stage 1')} }}"},
    "registration-unknown-orchestrator": {"registration": '{ id = "stage-1", orchestrator = "ork" }'},
    "health-check-of-an-hour": {"registration": f'{{ {ACCOUNT}, health_timeout = "1 h" }}'},
    "email-without-at": {"registration": f'{{ {ACCOUNT}, contact_email = "operator" }}'},
    "email-with-an-ampersand": {"registration": f'{{ {ACCOUNT}, contact_email = "a&b@example.net" }}'},
    "capability-with-a-space": {"registration": f'{{ {ACCOUNT}, capability = "avatar stage" }}'},
    "capability-with-a-semicolon": {"registration": f'{{ {ACCOUNT}, capability = "a&b;c&d" }}'},
    "capability-empty": {"registration": f'{{ {ACCOUNT}, capability = "" }}'},
    "control-plane-with-an-ampersand": {"edge": f"{{ {CONTROL.replace('.net', '.net/x?a=1&b=2')} }}"},
    "payments-with-an-ampersand": {
        "payments": '{ addresses = ["203.0.113.90"], url = "http://203.0.113.90:8081/?a=1&b=2" }'
    },
    "statistics-of-an-hour": {"gpu_statistics_age": '"1 h"'},
    "argument-with-a-space": {"game_args": '["-ResX=1920 -ResY=1080"]'},
    "argument-with-a-dollar": {"signaling_args": '["$HOME"]'},
    "prefix-in-capitals": {"power_project_prefixes": '["Vtuber-"]'},
    "service-with-a-comma": {"keep_running": '["a,b"]'},
    "docker-api-2": {"docker_api_version": '"2"'},
    "port-0": {"health_port": "0"},
    "unknown-neighbour": {"beside": '["media-mtx"]'},
    "directory-with-dots": {"session_dir": '"/srv/../etc"'},
    "unknown-host": {"host": '"gpo"'},
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_says_what_to_write(case: str, snapshot: SnapshotAssertion) -> None:
    text = staged(avatars(**BAD[case]), free_orchestrator(host='"edge"', service='"edge.example.net:8935"'))
    assert checked(text).fleet is None
    assert printed(text) == snapshot


GOOD: dict[str, Settings] = {
    "slot-with-all": _slots('avatar = "mira", slot = 3, gpu = "all", game_command = false'),
    "id-with-capitals": _slots('avatar = "Mira_2-b"'),
    "id-63-characters": _slots(f'avatar = "{"a" * 63}"'),
    "date-release": {"avatar_release": '"v2026.3.1-alpha.1"'},
    "memory": {"slot_memory": '"1 GiB"'},
    "edge-polled-every-5-s": {
        "edge": f'{{ {CONTROL}, poll_interval = "5 s", wake_settle = "60 s" }}',
        "registration": f"{{ {ACCOUNT} }}",
    },
    "turn": {"turn": f'{{ {TURN}, port = 3479, relay_ports = "49201-49240", realm = "stage.example" }}'},
    "registration": {
        "registration": f'{{ {ACCOUNT}, capability = "avatar", contact_email = "ops@example.net", '
        'health_timeout = "0.1 s", min_service_uptime = "0%" }'
    },
    "arguments": {"game_args": '["-ResX=1920", "-ForceRes"]', "signaling_args": '["--log_level=info"]'},
    "signature-for-a-day": {"ops": '{ secret = { vault = "ops" }, ttl = "24 h" }'},
    "statistics-not-kept": {"gpu_statistics_age": '"0 s"'},
    "statistics-for-10-minutes": {"gpu_statistics_age": '"600 s"'},
}


@pytest.mark.parametrize("case", GOOD)
def test_sound_input_is_silent(case: str) -> None:
    silent(staged(avatars(**GOOD[case])))


def test_release_missing(snapshot: SnapshotAssertion) -> None:
    assert flagged(staged(avatars(), avatar_release=None), "avatar-release-missing") == snapshot
    silent(staged(avatars(avatar_release='"v1.3.6"'), avatar_release=None))


def test_orchestrator_without_account(snapshot: SnapshotAssertion) -> None:
    stack = avatars(registration='{ id = "stage-1", orchestrator = "orch" }')
    text = staged(stack, free_orchestrator(host='"edge"', service='"edge.example.net:8935"'))
    assert flagged(text, "orchestrator-without-account") == snapshot
    silent(onchain(orchestrator(host='"edge"'), stack, avatar_release='"v1.3.6"'))


def test_name_of_a_stack_is_no_other_name() -> None:
    assert "is used twice" in flagged(staged(avatars("gpu")), "name-used-twice")
    assert "is used twice" in flagged(staged(avatars("orch"), free_orchestrator(host='"edge"')), "name-used-twice")


def test_slots_count_among_nodes_before_any_work() -> None:
    raw = {"avatars": {"a": {"slots": 60}, "b": {"slots": [{}] * 41}, "c": {"slots": True}, "d": 3, "e": {}}}
    found = too_many_nodes({**raw, "gateways": {"g": {}}}, ("gateways",), 101)
    assert [d.message for d in found] == ["the spec has 1 nodes and 101 avatar slots, more than 101"]
    assert too_many_nodes(raw, ("gateways",), 101) == []


def _stack(**settings: str | None) -> tuple[Fleet, Stack]:
    found = checked(staged(avatars(**settings), host("other")))
    assert found.fleet is not None, printed(staged(avatars(**settings)))
    return found.fleet, found.fleet.stacks[0]


def _numbers(**settings: str | None) -> dict[str, int]:
    fleet, stack = _stack(**settings)
    return {slot.avatar: slot.number for slot in effective_avatar.slots_of(fleet, stack)}


def test_missing_numbers_are_the_lowest_that_no_slot_has_wherever_it_stands() -> None:
    slots = (
        '[{ avatar = "a" }, { avatar = "b", slot = 2 }, { avatar = "c" }, { avatar = "d", slot = 0 }, { avatar = "e" }]'
    )
    assert _numbers(slots=slots, gpu='"all"') == {"a": 1, "b": 2, "c": 3, "d": 0, "e": 4}
    assert _numbers(slots="3", gpu=None) == {"stage-0": 0, "stage-1": 1, "stage-2": 2}


def test_ports_follow_from_the_number() -> None:
    fleet, stack = _stack(slots='[{ avatar = "Mira", slot = 7 }, { avatar = "noor", slot = 9, game_command = false }]')
    mira, noor = effective_avatar.slots_of(fleet, stack)
    assert mira.ports == {"signaling": 8087, "runner": 9884, "recorder": 8896, "game": 7784}
    assert noor.ports == {"signaling": 8089, "runner": 9886, "recorder": 8898}
    assert (mira.slug, mira.project, str(mira.network), str(mira.gateway)) == (
        "mira",
        "vtuber-mira",
        "172.30.7.0/24",
        "172.30.7.1",
    )


def test_last_slot_whose_ports_exist() -> None:
    assert _numbers(slots='[{ avatar = "a", slot = 55658 }]') == {"a": 55658}


def test_slot_beyond_255_has_no_network() -> None:
    fleet, stack = _stack(slots='[{ avatar = "a", slot = 255 }, { avatar = "b", slot = 256 }]')
    last, beyond = effective_avatar.slots_of(fleet, stack)
    assert str(last.network) == "172.30.255.0/24"
    assert (beyond.network, beyond.gateway) == (None, None)


def test_gpu_of_a_slot_its_table_or_its_host() -> None:
    def gpus(**settings: str | None) -> list[tuple[int | str, Path]]:
        fleet, stack = _stack(**settings)
        return [(slot.gpu, slot.gpu_origin.paths[0]) for slot in effective_avatar.slots_of(fleet, stack)]

    slots = '[{ avatar = "a", gpu = 0 }, { avatar = "b", gpu = "all" }, { avatar = "c" }]'
    assert gpus(slots=slots) == [
        (0, ("avatars", "stage", "slots", 0, "gpu")),
        ("all", ("avatars", "stage", "slots", 1, "gpu")),
        (1, ("avatars", "stage", "gpu")),
    ]
    assert gpus(gpu=None, slots="1") == [("all", ("avatars", "stage", "slots"))]


@pytest.mark.parametrize(
    ("release", "control", "updates"),
    [
        ("v1.3.4", False, False),
        ("v1.3.5", True, False),
        ("v1.3.10", True, False),
        ("v2026.2.28-alpha.1", True, False),
        ("latest", False, True),
        ("sha-abc1234", False, False),
    ],
)
def test_release_decides_about_switches(release: str, control: bool, updates: bool) -> None:
    fleet, stack = _stack(avatar_release=f'"{release}"')
    chosen = effective_avatar.remote_cluster_control(fleet, stack)
    assert (chosen.value, chosen.origin.kind) == (control, "default")
    assert effective_avatar.cli_auto_update(fleet, stack).value is updates
    assert effective_avatar.auto_upgrade_when_sleeping(fleet, stack).value is updates
    assert effective_avatar.image_tag(fleet, stack).value.text == release


def test_written_switches_win() -> None:
    fleet, stack = _stack(remote_cluster_control="false", cli_auto_update="true", image_tag='"sha-abc1234"')
    assert effective_avatar.remote_cluster_control(fleet, stack).value is False
    assert effective_avatar.cli_auto_update(fleet, stack).value is True
    assert effective_avatar.image_tag(fleet, stack).value.release is None


def test_allowlist_spells_payments_out_once_and_in_order() -> None:
    payments = '{ addresses = ["203.0.113.90", "203.0.113.91"] }'
    _, stack = _stack(allow='["198.51.100.0/30", "payments", "203.0.113.90"]', payments=payments)
    found = effective_avatar.allowed(stack)
    assert [str(entry.network) for entry in found] == ["198.51.100.0/30", "203.0.113.90/32", "203.0.113.91/32"]
    assert [str(address) for address in found[0].addresses] == [f"198.51.100.{last}" for last in range(4)]
    assert found[1].origin.paths == (("avatars", "stage", "payments", "addresses", 0), ("avatars", "stage", "allow", 1))
    wide = effective_avatar.allowed(_stack(allow='["payments", "198.51.0.0/23"]')[1])
    assert wide[1].addresses == ()


def test_monitored_services_are_turn_signaling_and_games() -> None:
    fleet, stack = _stack(turn=f"{{ {TURN} }}")
    assert effective_avatar.monitored_services(fleet, stack).value == (
        "vtuber-turn-server",
        "vtuber-mira-unreal-signaling",
        "vtuber-mira-unreal-game",
        "vtuber-noor-unreal-signaling",
        "vtuber-noor-unreal-game",
    )
