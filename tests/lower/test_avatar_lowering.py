"""Lowering of avatar stacks: what the spec says arrives in the files, and every value knows where it came from."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from typing import Any

import pytest

from fleetc.blueprint.blueprint import StackBlueprint
from fleetc.pipeline import Compiled
from fleetc.places.origin import Origin
from fleetc.upstream.avatar import settings as known_settings
from tests.support import ROOT, compile_text

SPEC = (ROOT / "tests/data/avatar_stage.toml").read_text(encoding="utf-8")
SMALL = """
spec = 1
[fleet]
name = "small"
network = "offchain"
node_release = "v0.9.1"
[hosts.one]
address = "192.0.2.1"
runtime = "docker"
gpus = [{ model = "RTX 4090", memory = "24 GiB" }]
[avatars.stage]
host = "one"
"""


def compiled(text: str) -> Compiled:
    done = compile_text(text)
    assert done.blueprint is not None, done.checked.diagnostics
    return done


def stack(text: str = SPEC, host: int = 0) -> StackBlueprint:
    plan = compiled(text).blueprint
    assert plan is not None
    found = plan.hosts[host].avatar
    assert found is not None
    return found


def values(avatar: StackBlueprint) -> dict[str, str]:
    return {variable.name: variable.value for variable in avatar.host_variables}


def small(more: str = "slots = 1\n", release: str = "v1.3.6", allow: str = '"203.0.113.90"') -> StackBlueprint:
    return stack(SMALL + f'avatar_release = "{release}"\nallow = [{allow}]\n' + more)


MISSION = ("EXPERIMENTAL_REMOTE_OPS", "EXPERIMENTAL_REMOTE_CLUSTER_CONTROL")
BRANDED = ("CLI_NO_AUTO_UPDATE", "CLI_AUTO_UPGRADE_WHEN_SLEEPING", "SERVICE_IMAGE_TAG")


@pytest.mark.parametrize(
    ("brand", "release", "expected"),
    [
        ("avatar", "v1.3.6", ["1", "1", "1", "0", "v1.3.6"]),
        ("avatar", "v1.3.4", ["1", "0", "1", "0", "v1.3.4"]),
        ("embody", "v2026.3.1-alpha.1", ["1", "1", "1", "0", "v2026.3.1-alpha.1"]),
        ("embody", "latest", ["1", "0", "0", "1", "latest"]),
    ],
)
def test_settings_of_the_mission_are_always_written(brand: str, release: str, expected: list[str]) -> None:
    avatar = small(f'slots = 1\nbrand = "{brand}"\n', release)
    found = values(avatar)
    names = [*MISSION, *(f"{brand.upper()}_{name}" for name in BRANDED)]
    assert [found[name] for name in names] == expected
    other = {"avatar": "EMBODY_", "embody": "AVATAR_"}[brand]
    written = [v.name for v in (*avatar.host_variables, *avatar.slots[0].variables)]
    assert not [name for name in written if name.startswith(other)]
    assert f"{brand.upper()}_SERVICE_IMAGE_TAG" in {v.name for v in avatar.slots[0].variables}


def test_switches_that_are_off_are_written_as_off() -> None:
    more = "slots = 1\nremote_ops = false\nremote_cluster_control = false\ncli_auto_update = true\n"
    found = values(small(more + "auto_upgrade_when_sleeping = true\n"))
    names = [*MISSION, *(f"AVATAR_{name}" for name in BRANDED[:2])]
    assert [found[name] for name in names] == ["0", "0", "0", "1"]


NOT_WRITTEN = {
    "POWER_ALLOWED_IPS_FILE": "the Compose file gives it the value of EDGE_POWER_ALLOWED_IPS_FILE",
    "EDGE_POWER_ALLOWED_IPS_FILE": "the rotator's own file, where a control plane steers the host",
    "ORCHESTRATOR_HOST_PUBLIC_IP": "the public address of this host is a name",
    "AUTO_GPU_UTIL_MAX": "no GPU is dealt automatically",
    "SIGNALING_EXTRA_ARGS": "in the Compose file of the slot",
    "VTUBER_SIGNALING_INSTANCE_ARGS": "in the Compose file of the slot",
    "EXTRA_ARGS": "in the Compose file of the slot",
}


def test_every_setting_of_the_stack_is_written_somewhere() -> None:
    avatar = stack()
    found = [*avatar.host_variables, *avatar.turn_variables, *avatar.slots[-1].variables]
    written = {v.name for v in found} | {secret.name for secret in avatar.secrets}
    expected = {known.variable("AVATAR") for name, known in known_settings().items() if name not in NOT_WRITTEN}
    assert expected - written == set()
    assert written - expected == {"COMPOSE_FILE", "COMPOSE_PROJECT_NAME"}
    for name in NOT_WRITTEN:
        assert name in known_settings()


@pytest.mark.parametrize("edge", ["", '[avatars.stage.edge]\naddresses = ["203.0.113.79"]\n'], ids=["none", "by hand"])
def test_list_of_callers_is_not_hidden_by_a_file_unless_a_control_plane_owns_it(edge: str) -> None:
    assert values(small(f"slots = 1\n{edge}"))["EDGE_POWER_ALLOWED_IPS_FILE"] == ""
    assert "EDGE_POWER_ALLOWED_IPS_FILE" not in values(stack())


def test_slot_files_hold_what_the_command_line_would_hand_to_compose() -> None:
    by_number = {slot.number: slot for slot in stack().slots}
    assert sorted(by_number) == [0, 1, 3]
    mira = {variable.name: variable.value for variable in by_number[3].variables}
    assert {name: mira[name] for name in mira if re.match("VTUBER|NVIDIA|ENABLE|HOST|RECORDER", name)} == {
        "VTUBER_AVATAR_ID": "Mira",
        "VTUBER_AVATAR_SLUG": "mira",
        "VTUBER_INSTANCE_PROJECT_NAME": "vtuber-mira",
        "VTUBER_SIGNALING_PUBLIC_PORT": "8083",
        "VTUBER_RUNNER_PORT": "9880",
        "VTUBER_RECORDER_PORT": "8892",
        "VTUBER_GAME_TCP_PORT": "7780",
        "VTUBER_SESSION_DIR": "/home/ubuntu/vtuber_sessions/mira",
        "VTUBER_RECORDINGS_DIR": "/home/ubuntu/recordings/mira",
        "VTUBER_DOCKER_SUBNET": "172.30.3.0/24",
        "VTUBER_ALLOWED_ADDRESSES": mira["VTUBER_ALLOWED_ADDRESSES"],
        "NVIDIA_VISIBLE_DEVICES": "0",
        "NVIDIA_DRIVER_CAPABILITIES": "all",
        "VTUBER_CONSOLE_VARIABLES_FILE": "./pixel-streaming/config/ConsoleVariables.lowload.30fps.720p.ini",
        "VTUBER_ENGINE_INI_FILE": "./pixel-streaming/config/Engine.ini",
        "VTUBER_GAME_INI_FILE": "./pixel-streaming/config/Game.ini",
        "VTUBER_GAME_USER_SETTINGS_FILE": "./pixel-streaming/config/GameUserSettings.lowload.30fps.720p.ini",
        "ENABLE_REST_API": "1",
        "HOST_ULIMIT_NOFILE": "4096",
        "RECORDER_SIGNALING_URL": "ws://unreal-signaling:8888",
    }
    callers = mira["VTUBER_ALLOWED_ADDRESSES"].split(",")
    assert callers[:5] == ["127.0.0.1", "::1", "172.17.0.1", "172.18.0.1", "172.30.3.1"]
    assert {"198.51.100.90", "203.0.113.0", "203.0.113.7", "203.0.113.77"} <= set(callers)
    assert not [caller for caller in callers if "/" in caller or caller in ("172.30.0.1", "172.30.1.1")]
    assert "VTUBER_GAME_TCP_PORT" not in {v.name for v in by_number[1].variables}


def test_settings_of_slots_that_nobody_chose_stay_those_of_the_checkout() -> None:
    found = {variable.name: variable.value for variable in small().slots[0].variables}
    assert found["ENABLE_REST_API"] == "0"
    assert not [n for n in found if n.endswith("_FILE") and n != "COMPOSE_FILE"]
    assert not {"HOST_ULIMIT_NOFILE", "RECORDER_SIGNALING_URL"} & set(found)


REGISTERED = """slots = 1
public = "198.51.100.11"
[avatars.stage.payments]
addresses = ["203.0.113.90"]
url = "http://203.0.113.90:8081"
[avatars.stage.registration]
id = "a"
address = "0x1111111111111111111111111111111111111111"
"""


def registered(text: str) -> dict[str, str]:
    return values(small(text, allow='"payments"'))


def test_registrar_is_told_the_name_of_the_host_and_its_address() -> None:
    found = registered(REGISTERED)
    assert (found["ORCHESTRATOR_HOST_NAME"], found["ORCHESTRATOR_HOST_PUBLIC_IP"]) == ("one", "198.51.100.11")
    assert registered(f'{REGISTERED}host_name = "rack.7"\n')["ORCHESTRATOR_HOST_NAME"] == "rack.7"
    by_name = registered(REGISTERED.replace("198.51.100.11", "one.example.net"))
    assert "ORCHESTRATOR_HOST_PUBLIC_IP" not in by_name, "a name is no address"
    assert not [name for name in values(small()) if name.startswith("ORCHESTRATOR_HOST")]


def test_cluster_file_lists_the_slots_as_the_command_line_reads_them() -> None:
    avatar = stack()
    assert avatar.cluster.content == {
        "slot_count": 4,
        "instances": [
            {"avatar_id": "luna", "slot": 0, "gpu": "1"},
            {"avatar_id": "orin", "slot": 1, "gpu": "1"},
            {"avatar_id": "Mira", "slot": 3, "gpu": "0"},
        ],
    }
    for brand in ("avatar", "embody"):
        by_brand = small(f'slots = 1\nbrand = "{brand}"\n')
        exported = {variable.name: variable.value for variable in by_brand.shell_variables}
        assert exported[f"{brand.upper()}_CLUSTER_FILE"] == "/opt/fleetc/current/avatar/cluster.json"


def test_arguments_register_each_slot_and_name_the_matchmaker_only_where_nobody_else_does() -> None:
    steered, by_hand = stack().slots[0], stack(host=1).slots[1]
    assert steered.arguments == "--log_level_console=info --public_port 8080 --matchmaker_streamer_id luna"
    assert by_hand.arguments == (
        "--use_matchmaker --matchmaker_address 203.0.113.79 --matchmaker_port 8889 "
        "--public_port 8081 --matchmaker_streamer_id solo-1"
    )


def test_allowlists_have_the_notation_of_their_readers() -> None:
    lists = {listed.file: listed.texts for listed in stack(host=1).allowlists}
    assert lists["firewall.cidr"] == ("203.0.113.90/32", "2001:db8:5::7/128", "203.0.113.79/32")
    own = ("127.0.0.1/32", "::1/128", "172.17.0.1/32", "172.18.0.1/32")
    assert lists["power.cidr"] == (*own, "203.0.113.90/32", "2001:db8:5::7/128")
    addresses = ("127.0.0.1", "::1", "172.17.0.1", "172.18.0.1", "172.30.0.1", "172.30.1.1")
    assert lists["runner.txt"] == (*addresses, "203.0.113.90", "2001:db8:5::7", "203.0.113.79")
    assert lists["recorder.txt"] == lists["runner.txt"]
    found = values(stack(host=1))
    assert found["EDGE_FIREWALL_EXTRA_CIDRS"] == found["EDGE_POWER_EXTRA_CIDRS"] == "203.0.113.90/32", "IPv4 only"


def test_power_allowlist_is_never_empty() -> None:
    closed = "slots = 1\nremote_ops = false\nremote_cluster_control = false\n"
    assert values(small(closed, allow=""))["POWER_ALLOWED_IPS"] == "127.0.0.1/32,::1/128,172.17.0.1/32,172.18.0.1/32"


def guarded(text: str) -> list[tuple[int, int, str]]:
    """The rotator's way to read its ports: commas, a range with a dash, the protocol behind a slash."""
    found = []
    for token in text.split(","):
        ports, _, protocol = token.partition("/")
        first, _, last = ports.partition("-")
        found.append((int(first), int(last or first), protocol))
        assert found[-1][0] <= found[-1][1]
        assert protocol in ("tcp", "udp")
    return found


def test_rotator_guards_exactly_the_ports_of_the_slots_and_those_behind_docker() -> None:
    ports = guarded(values(stack())["EDGE_ALLOW_PORTS"])
    tcp = sorted(port for first, last, protocol in ports if protocol == "tcp" for port in range(first, last + 1))
    assert tcp == [80, 3478, 8080, 8081, 8083, 8889, 8890, 8892, 9090, 9877, 9878, 9880]
    assert [entry for entry in ports if entry[2] == "udp"] == [(3478, 3478, "udp"), (49160, 49200, "udp")]
    (only,) = [guarded(values(small('slots = [{ avatar = "a", slot = 7 }]\n'))["EDGE_ALLOW_PORTS"])]
    assert only == [(80, 80, "tcp"), (8087, 8087, "tcp"), (9877, 9877, "tcp"), (9884, 9884, "tcp"),
                    (8889, 8889, "tcp"), (8896, 8896, "tcp"), (9090, 9090, "tcp")]  # fmt: skip
    assert values(stack())["EDGE_SKIP_COMPOSE_RECREATE"] == "1"


def reach(text: str = SPEC, host: int = 0) -> dict[str, set[str]]:
    """Who reaches each kind of port."""
    plan = compiled(text).blueprint
    assert plan is not None
    found: dict[str, set[str]] = {}
    for one in plan.hosts[host].listeners:
        if one.owner[0] == "avatars":
            found.setdefault(one.purpose.split(" of slot")[0], set()).add(one.reach)
    return found


CLOSED = {"signaling": {"callers"}, "runner": {"callers"}, "recorder": {"callers"}, "game": {"host"}}


def test_edge_decides_who_reaches_signaling_and_turn_and_nobody_a_game() -> None:
    turn = {"TURN": {"callers"}, "relayed media of TURN": {"callers"}}
    assert reach() == CLOSED | turn | {"orchestrator-health": {"callers"}}
    assert reach(host=1) == CLOSED | {"signaling": {"everyone"}, "orchestrator-health": {"callers"}}
    direct = SPEC.replace("[avatars.stage.turn]", '[avatars.stage.turn]\naddress = "198.51.100.11"')
    assert reach(direct)["TURN"] == {"everyone"}, "viewers reach it past the edge"
    steered = SPEC.replace('addresses = ["203.0.113.77", "203.0.113.78"]\n', "").replace(
        "[avatars.stage.turn]", '[avatars.stage.turn]\naddress = "198.51.100.11"'
    )
    assert reach(steered)["runner"] == {"everyone"}, "only the control plane knows the edges, and its rotator guards"
    assert reach(steered)["game"] == {"host"}


def test_stack_without_turn_starts_none_and_reserves_nothing() -> None:
    avatar = small()
    assert (avatar.relay, avatar.turn_variables, avatar.turn_secrets) == (None, (), ())
    assert "turn-server" not in avatar.services
    assert not [name for name in values(avatar) if name.startswith("TURN")]


def test_host_without_registration_starts_no_registration() -> None:
    assert "orchestrator-registration" in stack().services
    avatar = small()
    assert avatar.services == ("orchestrator-health", "orchestrator-edge-rotator", "vtuber-auto-updater")
    assert not [name for name in values(avatar) if name in ("ORCHESTRATOR_ID", "ORCHESTRATOR_ADDRESS")]


def origins(value: Any) -> list[Origin]:
    """Every origin below a value of the plan."""
    if isinstance(value, Origin):
        return [value]
    if isinstance(value, StackBlueprint) or hasattr(value, "__dataclass_fields__"):
        return [found for field in fields(value) for found in origins(getattr(value, field.name))]
    if isinstance(value, tuple):
        return [found for item in value for found in origins(item)]
    return []


@pytest.mark.parametrize("host", [0, 1])
def test_every_value_has_an_origin_that_stands_in_the_spec(host: int) -> None:
    done = compiled(SPEC)
    assert done.checked.document is not None
    found = origins(stack(host=host))
    assert len(found) > 60
    for origin in found:
        assert origin.paths, origin
        assert origin.kind == "given" or origin.reason, origin
        for path in origin.paths:
            place: Any = done.checked.document.raw
            for part in path if origin.kind == "given" else path[:2]:
                place = place[part]


def host_variables(text: str) -> dict[str, Any]:
    tree = compiled(text).tree
    assert tree is not None
    found: dict[str, Any] = json.loads(tree.as_mapping()["ansible/host_vars/gpu-1.json"].content)
    return found


def test_change_of_one_slot_changes_the_digest_of_that_slot_and_of_its_host_alone() -> None:
    before, after = host_variables(SPEC), host_variables(SPEC.replace("slot = 3, gpu = 0", "slot = 3, gpu = 1"))
    assert [name for name in before if before[name] != after[name]] == [
        *("fleet_host_needs", "fleet_host_stack_digests", "fleet_host_stack_slots")  # the GPU is one of the needs
    ]
    pairs = zip(before["fleet_host_stack_slots"], after["fleet_host_stack_slots"], strict=True)
    assert [(old["name"], old["arguments"] == new["arguments"]) for old, new in pairs if old != new] == [
        ("slot-03", True)
    ]


def test_switch_of_the_host_leaves_slots_alone_and_another_image_does_not() -> None:
    before = host_variables(SPEC)
    after = host_variables(SPEC.replace("[avatars.stage.payments]", "remote_ops = false\n[avatars.stage.payments]"))
    assert before["fleet_host_stack_slots"] == after["fleet_host_stack_slots"]
    assert before["fleet_host_stack_digests"]["host"] != after["fleet_host_stack_digests"]["host"]
    assert before["fleet_host_stack_digests"]["turn"] == after["fleet_host_stack_digests"]["turn"]
    pinned = host_variables(SPEC.replace('avatar_release = "v1.3.6"', 'avatar_release = "v1.3.5"'))
    for old, new in zip(before["fleet_host_stack_slots"], pinned["fleet_host_stack_slots"], strict=True):
        assert old["environment"] != new["environment"], "a slot keeps its old images until it is made anew"
