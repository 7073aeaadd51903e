"""A slot started by hand is the slot of a rollout: Compose makes the same of its environment file alone."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.emit.programs import program
from tests.host_program.avatar_world import SLOT_COMPOSE
from tests.support import ROOT, compile_text

SPEC = (ROOT / "tests/data/avatar_stage.toml").read_text(encoding="utf-8")


def model(tmp_path: Path, spec: str, slot: str) -> dict[str, Any]:
    """What Compose makes of a slot that is started with its environment file and nothing else."""
    tree = compile_text(spec).tree
    assert tree is not None
    checkout, release = tmp_path / "checkout", tmp_path / "avatar"
    for artifact in tree.artifacts:
        if artifact.path.startswith("hosts/gpu-1/avatar/"):
            path = release / artifact.path.removeprefix("hosts/gpu-1/avatar/")
            path.parent.mkdir(parents=True, exist_ok=True)
            moved = artifact.content.replace(b"/home/ubuntu/Unreal_Vtuber", str(checkout).encode())
            path.write_bytes(moved.replace(b"/opt/fleetc/current/avatar", str(release).encode()))
    checkout.mkdir()
    (checkout / "docker-compose.unreal.instance.yml").write_text(SLOT_COMPOSE)
    (checkout / ".env").write_bytes((release / "host.env").read_bytes())
    (checkout / ".env.turn").write_text("TURN_PASS=p\n")
    command = [program("docker-compose"), "--project-directory", checkout, "--env-file", checkout / ".env"]
    command += ["--env-file", release / "slots" / f"{slot}.env", "config", "--format", "json"]
    done = subprocess.run(
        list(map(str, command)), env={"HOME": str(tmp_path)}, capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def published(service: dict[str, Any]) -> list[tuple[str, int]]:
    return [(port["published"], port["target"]) for port in service["ports"]]


@pytest.mark.usefixtures("processes")
def test_slot_gets_its_project_ports_network_gpu_and_arguments(tmp_path: Path) -> None:
    found = model(tmp_path, SPEC, "slot-03")
    assert found["name"] == "vtuber-mira"
    services = found["services"]
    assert published(services["unreal-signaling"]) == [("8083", 80)]
    assert published(services["unreal-game"]) == [("7780", 7777), ("9880", 9877)]
    assert published(services["recorder-control"]) == [("8892", 8889)]
    assert services["unreal-game"]["environment"]["NVIDIA_VISIBLE_DEVICES"] == "0"
    arguments = services["unreal-signaling"]["environment"]["SIGNALING_EXTRA_ARGS"].split()
    assert arguments[-4:] == ["--public_port", "8083", "--matchmaker_streamer_id", "Mira"]
    assert found["networks"]["default"]["ipam"]["config"] == [{"subnet": "172.30.3.0/24"}]
    assert services["vtuber-script-runner"]["image"] == "runner:v1.3.6"


@pytest.mark.usefixtures("processes")
def test_slot_starts_from_what_the_spec_chooses(tmp_path: Path) -> None:
    services = model(tmp_path, SPEC, "slot-03")["services"]
    digest = {"unreal-signaling": "embody-signaling@sha256:1", "unreal-game": "embody-ue-ps@sha256:2"}
    for service, image in digest.items():
        assert services[service]["image"].startswith(f"registry.example.net/{image}")
    assert services["unreal-signaling"]["environment"]["ENABLE_REST_API"] == "1"
    assert services["unreal-game"]["ulimits"] == {"nofile": {"soft": 4096, "hard": 4096}}
    assert services["recorder-control"]["environment"]["RECORDER_SIGNALING_URL"] == "ws://unreal-signaling:8888"
    mounted = {mount["target"]: mount["source"] for mount in services["unreal-game"]["volumes"]}
    config = tmp_path / "checkout/pixel-streaming/config"
    assert mounted["/opt/embody/ConsoleVariables.ini"] == str(config / "ConsoleVariables.lowload.30fps.720p.ini")
    assert mounted["/opt/embody/Engine.ini"] == str(config / "Engine.ini")


@pytest.mark.usefixtures("processes")
def test_slot_that_chooses_nothing_starts_from_what_the_checkout_has(tmp_path: Path) -> None:
    start, end = SPEC.index("[avatars.stage.game_files]"), SPEC.index("[avatars.solo]")
    spec = SPEC[:start] + SPEC[end:]
    for line in re.findall("(?m)^(?:game_open_files|signaling_rest_api|recorder_signaling) .*\n", spec):
        spec = spec.replace(line, "")
    services = model(tmp_path, spec, "slot-03")["services"]
    assert (services["unreal-signaling"]["image"], services["unreal-game"]["image"]) == ("signaling", "game")
    assert services["unreal-signaling"]["environment"]["ENABLE_REST_API"] == "0"
    assert services["unreal-game"]["ulimits"] == {"nofile": {"soft": 1040, "hard": 1040}}
    mounted = {mount["target"]: mount["source"] for mount in services["unreal-game"]["volumes"]}
    assert mounted["/opt/embody/Game.ini"] == str(tmp_path / "checkout/pixel-streaming/config/Game.ini")


COMMAND_LINE = """
import json, os
data = json.load(open(os.environ["FILE"]))
count = data.get("slot_count") or 20
assert 1 <= count <= 20
for item in data["instances"]:
    gpu = item.get("gpu") or "all"   # the number 0 would be all of them
    assert 0 <= item["slot"] < count
    print(item["avatar_id"], item["slot"], gpu)
"""
"""A stand-in for the way in which the stack's command line reads its file of slots."""


@pytest.mark.usefixtures("processes")
def test_command_line_finds_each_slot_with_its_gpu(tmp_path: Path) -> None:
    tree = compile_text(SPEC).tree
    assert tree is not None
    by_path = tree.as_mapping()
    (tmp_path / "cluster.json").write_bytes(by_path["hosts/gpu-1/avatar/cluster.json"].content)
    environment = {"FILE": str(tmp_path / "cluster.json")}
    done = subprocess.run([sys.executable, "-c", COMMAND_LINE], env=environment, capture_output=True, check=True)
    assert done.stdout.decode().splitlines() == ["luna 0 1", "orin 1 1", "Mira 3 0"]
    exported = by_path["hosts/gpu-1/avatar/profile.sh"].content.decode()
    assert 'export AVATAR_CLUSTER_FILE="/opt/fleetc/current/avatar/cluster.json"' in exported


@pytest.mark.usefixtures("processes")
def test_slot_without_command_port_publishes_none(tmp_path: Path) -> None:
    assert published(model(tmp_path, SPEC, "slot-01")["services"]["unreal-game"]) == [("9878", 9877)]


@pytest.mark.usefixtures("processes")
def test_slot_beyond_the_public_design_takes_no_network_of_another(tmp_path: Path) -> None:
    spec = SPEC.replace("slot = 3,", "slot = 300,")
    spec += '\n[silences.accepted]\ncode = "slot-beyond-public-design"\nreason = "our own design"\n'
    found = model(tmp_path, spec, "slot-300")
    assert published(found["services"]["unreal-signaling"]) == [("8380", 80)]
    assert "config" not in (found["networks"]["default"].get("ipam") or {})
