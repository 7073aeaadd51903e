"""The avatar stack on a host: files arrive as they should, and exactly what changed starts anew."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fleetc.emit.tree import is_released
from fleetc.lower.avatar import HOST_SERVICES
from tests.emit.programs import program
from tests.host_program.avatar_world import CHECKOUT, COMPOSE_RELEASE, GAME_FILES, World
from tests.host_program.program import loaded
from tests.support import ROOT, compile_text

SPEC = (ROOT / "tests/data/avatar_stage.toml").read_text(encoding="utf-8")
STATED = f'''project_dir = "{CHECKOUT}"
session_dir = "/var/lib/sessions"
recordings_dir = "/var/lib/recordings"

[avatars.stage.payments]'''
PASSWORD = "turn-password-7f3a"
VAULT = {"turn_user": "turn-user-1", "ops_secret": "ops-secret-1", "runner_token": "runner-token-1"}
SECRETS = ("turn-user-1", "ops-secret-1", "runner-token-1", "edge-token-1", "turn-password-", "recordings-9c1e")
PROJECTS = ["vtuber-luna", "vtuber-orin", "vtuber-mira"]

pytestmark = pytest.mark.usefixtures("processes")


class Fleet:
    """A spec and its host: each test begins at a state that was kept and looks at what one change does."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.first: list[dict[str, Any]] = []
        self.keep("bare")
        self.begin_at("bare")

    def keep(self, name: str) -> None:
        """Keep the state of the host."""
        self.world.save(name)

    def begin_at(self, name: str) -> None:
        """The spec of the tests, and the host in a state that was kept."""
        self.world.restore(name)
        self.spec = SPEC.replace("[avatars.stage.payments]", STATED).replace(
            "/etc/avatar/edge-token", "/opt/edge-token"
        )
        self.password = PASSWORD

    def change(self, old: str, new: str) -> None:
        """Change the spec at one place."""
        assert self.spec.count(old) == 1, old
        self.spec = self.spec.replace(old, new)

    def rollout(self, check: bool = False) -> dict[str, Any]:
        """A rollout, whatever comes of it: the answer of the host."""
        environment = {"TURN_PASSWORD": self.password, "RECORDINGS_TOKEN": "recordings-9c1e"}
        done = self.world.deploy(self.spec, {"env": environment, "vault": VAULT}, check)
        for secret in SECRETS:
            assert secret not in "".join(self.world.said)
        self.world.said.clear()
        return done

    def deploy(self) -> list[dict[str, Any]]:
        """A rollout that must succeed, and what it asked of docker."""
        done = self.rollout()
        assert done["ok"], done["message"]
        assert done.get("switch", {"phase": "healthy"})["phase"] == "healthy", done
        return self.world.calls()


def health(calls: list[dict[str, Any]]) -> dict[str, str]:
    """The environment of orchestrator-health in what docker was asked to start."""
    (call,) = [call for call in calls if "orchestrator-health" in call.get("services", ())]
    found: dict[str, str] = call["model"]["services"]["orchestrator-health"]["environment"]
    return found


def reserved(fleet: Fleet) -> str:
    """The ports that the kernel keeps free."""
    return fleet.world.run("sysctl", "-n", "net.ipv4.ip_local_reserved_ports").strip()


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """A host on which nothing was done yet."""
    for name in ("nft", "ip", "unshare", "sysctl", "setsid"):
        program(name)
    if os.geteuid() != 0:
        pytest.skip("namespaces need root")
    made = World(tmp_path_factory.mktemp("world"), program("docker-compose"))
    made.inside("/opt/edge-token").write_text("edge-token-1\n")
    yield Fleet(made)
    made.close()


@pytest.fixture(scope="module")
def refusals(bare: Fleet) -> dict[str, str]:
    """What a host without a checkout and one with an unusable secret hear."""
    bare.begin_at("bare")
    heard = {}

    def refused() -> str:
        done = bare.rollout()
        assert not done["ok"]
        return f"{done['code']}: {done['message']}"

    heard["checkout"] = refused()
    bare.world.check_out(game_files=GAME_FILES[1:])
    (bare.world.inside(CHECKOUT) / "pixel-streaming/config" / GAME_FILES[0]).mkdir()
    heard["game files"] = refused()
    (bare.world.inside(CHECKOUT) / "pixel-streaming/config" / GAME_FILES[0]).rmdir()
    bare.world.check_out()
    bare.world.set_compose(None)
    heard["engine"] = refused()
    bare.world.set_compose(COMPOSE_RELEASE)
    bare.world.check_out(brand="EMBODY")
    heard["brand"] = refused()
    bare.world.check_out()
    for bare.password in ("", "turn-password- two words"):
        heard[bare.password] = refused()
    bare.password = PASSWORD
    heard["dry"] = str(bare.rollout(check=True)["ok"])
    heard["files"] = str(sorted(path.name for path in bare.world.inside("/opt").iterdir()))
    bare.world.set_compose("2.24.3-desktop.1")
    heard["compose"] = refused()
    bare.world.set_compose(COMPOSE_RELEASE)
    heard["calls"] = str(bare.world.calls())
    heard["current"] = str(list(bare.world.inside("/opt/fleetc/current").iterdir()))
    return heard


@pytest.fixture(scope="module")
def rolled_out(bare: Fleet) -> Fleet:
    """A host whose state after its first rollout is kept."""
    bare.begin_at("bare")
    bare.world.check_out()
    bare.first = bare.deploy()
    bare.keep("rolled out")
    return bare


@pytest.fixture
def fleet(rolled_out: Fleet) -> Fleet:
    """The host after its first rollout."""
    rolled_out.begin_at("rolled out")
    return rolled_out


SECRET = "the avatar stack needs TURN_PASS from env TURN_PASSWORD, which"
REFUSED = {
    "checkout": f"gpu-1 has no checkout of the avatar stack at {CHECKOUT}: docker-compose.unreal.yml and "
    "docker-compose.unreal.instance.yml are not there. Clone it there, or name its directory as project_dir",
    # Docker has made a directory in its place.
    "game files": f"gpu-1 has no {CHECKOUT}/pixel-streaming/config/{GAME_FILES[0]}, which game_files of the spec names",
    "engine": "gpu-1 has no Docker engine that answers, and the avatar stack runs in its containers: install Docker "
    "Engine with its Compose plugin and start it. docker said: Cannot connect to the Docker daemon",
    "compose": "gpu-1 has Docker Compose 2.24.3, and slot-01 needs 2.24.4 or newer to change what the checkout "
    "publishes",
    "brand": f"{CHECKOUT}/docker-compose.unreal.yml on gpu-1 does not read AVATAR_SERVICE_IMAGE_TAG, so its services "
    "would run latest whatever the spec says. It reads EMBODY_SERVICE_IMAGE_TAG: set brand to embody",
    "": f"{SECRET} is missing or empty",
    "turn-password- two words": f"{SECRET} holds more than letters, digits and",
}


@pytest.mark.parametrize("case", REFUSED)
def test_host_is_refused_with_the_cause_and_without_secrets(refusals: dict[str, str], case: str) -> None:
    assert REFUSED[case] in refusals[case]


def test_refused_and_dry_rollouts_change_nothing(refusals: dict[str, str]) -> None:
    assert refusals["dry"] == "True"
    assert refusals["files"] == "['checkout', 'edge-token']"
    assert refusals["calls"] == refusals["current"] == "[]"


def test_environment_files_hold_settings_and_secrets_for_their_owner_alone(fleet: Fleet) -> None:
    host = {"EDGE_CONFIG_TOKEN=edge-token-1", "OPS_HMAC_SECRET=ops-secret-1", "RUNNER_API_TOKEN=runner-token-1"}
    host |= {"RECORDINGS_API_TOKEN=recordings-9c1e", "EXPERIMENTAL_REMOTE_OPS=1"}
    turn = {f"TURN_PASS={PASSWORD}", "TURN_USER=turn-user-1", "TURN_PORT=3478"}
    for name, wanted in ((".env", host), (".env.turn", turn)):
        file = fleet.world.inside(CHECKOUT) / name
        lines = file.read_text().splitlines()
        assert wanted <= set(lines)
        assert len({line.partition("=")[0] for line in lines}) == len(lines)
        status = file.stat()
        assert (stat.S_IMODE(status.st_mode), status.st_uid) == (0o600, 1234)
    assert not (fleet.world.inside(CHECKOUT) / ".fleetc-new").exists()


def test_files_of_the_release_arrive_and_only_those_of_secrets_hold_any(fleet: Fleet) -> None:
    (release,) = fleet.world.inside("/opt/fleetc/releases").iterdir()
    copied = {str(path.relative_to(release)): path for path in release.rglob("*") if path.is_file()}
    tree = compile_text(fleet.spec).tree
    assert tree is not None
    paths = filter(is_released, tree.as_mapping())
    of_the_host = {path.split("/", 2)[2] for path in paths if path.startswith("hosts/gpu-1/")}
    secret = {"avatar/secrets/host.env", "avatar/secrets/turn.env"}
    assert set(copied) == of_the_host | secret | {".wanted.json"}
    assert {stat.S_IMODE(copied[name].stat().st_mode) for name in secret} == {0o600}
    assert stat.S_IMODE(copied["avatar/secrets/host.env"].parent.stat().st_mode) == 0o700
    written = [path for place in ("/opt/fleetc", "/var/lib") for path in fleet.world.inside(place).rglob("*")]
    holding = [
        path for path in written if path.is_file() and any(word.encode() in path.read_bytes() for word in SECRETS)
    ]
    assert {str(path.relative_to(release)) for path in holding} == secret


def test_first_rollout_starts_the_host_and_each_slot_with_what_the_spec_says(fleet: Fleet) -> None:
    assert [call["project"] for call in fleet.first] == ["vtuber-host", "vtuber-host", *PROJECTS]
    models = {call["project"]: call["model"]["services"] for call in fleet.first}
    health = models["vtuber-host"]["orchestrator-health"]["environment"]
    assert health["EXPERIMENTAL_REMOTE_OPS"] == "1"
    assert health["MONITORED_SERVICES"].startswith("vtuber-turn-server,vtuber-luna-unreal-signaling,")
    mira = models["vtuber-mira"]
    arguments = mira["unreal-signaling"]["environment"]["SIGNALING_EXTRA_ARGS"].split()
    assert arguments == ["--log_level_console=info", "--public_port", "8083", "--matchmaker_streamer_id", "Mira"]
    assert mira["unreal-signaling"]["environment"]["TURN_PASS"] == PASSWORD
    game = {"AVATAR_EXTRA_ARGS": "-ForceRes -ResX=1920 -ResY=1080", "NVIDIA_VISIBLE_DEVICES": "0"}
    assert mira["unreal-game"]["environment"] == game
    published = [(port["published"], port["target"]) for port in mira["unreal-game"]["ports"]]
    assert published == [("7780", 7777), ("9880", 9877)]
    without = [port["published"] for port in models["vtuber-orin"]["unreal-game"]["ports"]]
    assert without == ["9878"], "a slot without command port"
    assert mira["vtuber-script-runner"]["environment"]["RUNNER_API_TOKEN"] == "runner-token-1"
    assert mira["vtuber-script-runner"]["image"] == "runner:v1.3.6"
    assert mira["unreal-game"]["volumes"][0]["source"] == "/var/lib/sessions/mira"
    assert models["vtuber-host"]["turn-server"]["image"].startswith("registry.example.net/embody-turn-server@sha256:3")
    assert mira["unreal-signaling"]["image"].startswith("registry.example.net/embody-signaling@sha256:1")


def test_services_that_may_be_removed_are_those_that_a_stack_may_have(tmp_path: Path) -> None:
    assert loaded(tmp_path)["HOST_SERVICES"] == HOST_SERVICES


def test_shells_of_people_get_the_switches_of_the_command_line(fleet: Fleet) -> None:
    file = fleet.world.inside("/etc/profile.d/fleetc-avatar.sh")
    status = file.stat()
    assert (stat.S_IMODE(status.st_mode), status.st_uid) == (0o644, 0)
    done = subprocess.run(["sh", "-c", f". {file}; env"], env={}, capture_output=True, text=True, check=True)
    found = {line for line in done.stdout.splitlines() if line.startswith("AVATAR_")}
    cluster = "/opt/fleetc/current/avatar/cluster.json"
    switches = {"AVATAR_CLI_NO_AUTO_UPDATE=1", "AVATAR_CLI_AUTO_UPGRADE_WHEN_SLEEPING=0"}
    assert found == {*switches, f"AVATAR_CLUSTER_FILE={cluster}"}
    files = fleet.world.inside("/opt/fleetc/current/avatar").resolve()
    assert len(json.loads((files / "cluster.json").read_text())["instances"]) == 3
    assert found <= set((fleet.world.inside(CHECKOUT) / ".env").read_text().splitlines())


def test_rules_are_loaded_and_will_be_at_boot_and_ports_are_reserved(fleet: Fleet) -> None:
    assert "tcp dport vmap" in fleet.world.run("nft", "list", "table", "inet", "fleetc_avatar")
    units = fleet.world.inside("/etc/systemd/system")
    assert (units / "multi-user.target.wants/fleetc-avatar-firewall.service").resolve().parent == units
    assert reserved(fleet) == "49160-49200"


def test_systemd_accepts_the_unit_that_loads_the_rules(fleet: Fleet) -> None:
    unit = fleet.world.inside("/etc/systemd/system/fleetc-avatar-firewall.service")
    verify = [program("systemd-analyze"), "verify", "--man=no", str(unit)]
    done = subprocess.run(verify, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_slot_that_the_spec_lets_sleep_is_stopped_and_wakes_when_the_spec_says_no_more_of_it(fleet: Fleet) -> None:
    fleet.change("slot = 3, gpu = 0", "slot = 3, gpu = 0, asleep = true")
    *host, up, stop = fleet.deploy()
    assert "mira" not in health(host)["MONITORED_SERVICES"]
    assert (up["project"], up["options"]) == ("vtuber-mira", ["--no-start", "--quiet-pull"])
    assert stop == {"command": "stop", "project": "vtuber-mira"}
    assert fleet.world.states("vtuber-mira") == {"exited"}
    fleet.world.set_states("vtuber-mira", "exited 1")
    assert fleet.deploy() == [], "nobody waits for it, and nothing changes"
    fleet.change(", asleep = true", "")
    assert fleet.deploy()[-1]["options"] == ["--detach", "--quiet-pull"]
    assert fleet.world.states("vtuber-mira") == {"running"}


def test_slot_sleeps_while_it_changes_and_wakes_after_it(fleet: Fleet) -> None:
    fleet.world.drain = 60
    fleet.change("slot = 3, gpu = 0", "slot = 3, gpu = 1")
    asleep, call, awake = fleet.deploy()
    assert (asleep, awake) == tuple({"command": do, "project": "vtuber-mira"} for do in ("sleep", "wake"))
    assert (call["project"], call["options"]) == ("vtuber-mira", ["--no-start", "--quiet-pull"])
    assert fleet.world.states("vtuber-mira") == {"running"}


def test_slot_that_does_not_sleep_changes_while_it_runs(fleet: Fleet) -> None:
    fleet.world.drain = 60
    for old, new, ill in ((0, 1, {"deaf": True}), (1, 0, {"status": 403})):
        fleet.world.set_power(**ill)
        fleet.change(f"slot = 3, gpu = {old}", f"slot = 3, gpu = {new}")
        _, call = fleet.deploy()
        assert (call["project"], call["options"]) == ("vtuber-mira", ["--detach", "--quiet-pull"])
        fleet.world.set_states("vtuber-mira", "running")


def test_other_turn_password_recreates_turn_signaling_and_recorders(fleet: Fleet) -> None:
    fleet.password = "turn-password-other"
    host, awake, *slots = fleet.deploy()
    assert (host["project"], awake["project"]) == ("vtuber-host", "vtuber-host")
    assert host["model"]["services"]["turn-server"]["environment"]["TURN_PASS"] == "turn-password-other"
    assert [call["project"] for call in slots] == PROJECTS
    for call in slots:
        assert call["services"] == ["unreal-signaling", "recorder-control"]
        assert "--no-deps" in call["options"]


def test_switching_remote_operations_off_recreates_the_host_alone(fleet: Fleet) -> None:
    """What the control plane has written into the environment of the checkout stays there."""
    env, kept = fleet.world.inside(CHECKOUT) / ".env", "SIGNALING_EXTRA_ARGS=--use_matchmaker --public_port 8080"
    env.write_text(env.read_text() + f"{kept}\n")
    fleet.change("[avatars.stage.payments]", "remote_ops = false\n[avatars.stage.payments]")
    calls = fleet.deploy()
    assert {call["project"] for call in calls} == {"vtuber-host"}
    (health,) = [call for call in calls if "orchestrator-health" in call["services"]]
    assert health["model"]["services"]["orchestrator-health"]["environment"]["EXPERIMENTAL_REMOTE_OPS"] == "0"
    assert kept in env.read_text().splitlines()


def test_sleeping_host_goes_on_sleeping(fleet: Fleet) -> None:
    power = fleet.world.inside("/var/lib/vtuber/power-state/power_state.json")
    power.parent.mkdir(parents=True)
    power.write_text('{"state": "sleeping"}')
    fleet.change("[avatars.stage.payments]", "remote_ops = false\n[avatars.stage.payments]")
    asleep, awake = fleet.deploy()
    assert asleep["options"][0] == "--no-start"
    assert "turn-server" in asleep["services"]
    assert awake["options"][0] == "--detach"
    assert awake["services"] == ["orchestrator-health", "orchestrator-edge-rotator"]


def test_file_of_callers_is_left_to_the_control_plane_and_counts_nothing_without_one(fleet: Fleet) -> None:
    allowed = fleet.world.inside("/var/lib/vtuber/power-state/power_allowed_ips.txt")
    allowed.parent.mkdir(parents=True)
    allowed.write_text("127.0.0.1/32,198.51.100.66/32\n")
    fleet.change('"203.0.113.0/29"', '"203.0.113.0/28"')
    assert health(fleet.deploy())["POWER_ALLOWED_IPS_FILE"] == "/var/lib/vtuber/power-state/power_allowed_ips.txt"
    assert allowed.read_text() == "127.0.0.1/32,198.51.100.66/32\n"
    fleet.spec = re.sub("(?m)^(token = { host_file|poll_interval|wake_settle|url = .https:).*\n", "", fleet.spec)
    found = health(fleet.deploy())
    assert found["POWER_ALLOWED_IPS_FILE"] == ""
    assert "203.0.113.0/28" in found["POWER_ALLOWED_IPS"].split(",")
    assert not allowed.exists()
    assert "EDGE_POWER_ALLOWED_IPS_FILE=" in (fleet.world.inside(CHECKOUT) / ".env").read_text().splitlines()


def reserve_one_more(fleet: Fleet) -> None:
    """Keep a port free that is not the stack's, as somebody else would."""
    fleet.world.run("sysctl", "-q", "-w", "net.ipv4.ip_local_reserved_ports=40000,49160-49200")


def test_other_relay_range_takes_the_place_of_the_old_one_alone(fleet: Fleet) -> None:
    reserve_one_more(fleet)
    fleet.change("[avatars.stage.turn]", '[avatars.stage.turn]\nrelay_ports = "49300-49340"')
    fleet.deploy()
    assert reserved(fleet) == "40000,49300-49340"


def test_turn_that_left_the_spec_is_stopped_and_its_ports_are_given_back(fleet: Fleet) -> None:
    reserve_one_more(fleet)
    start, end = fleet.spec.index("[avatars.stage.turn]"), fleet.spec.index("[avatars.stage.ops]")
    fleet.spec = re.sub('(?m)^turn = "registry.*\n', "", fleet.spec[:start] + fleet.spec[end:])
    removed, *started = fleet.deploy()
    assert (removed["command"], removed["project"], removed["services"]) == ("rm", "vtuber-host", ["turn-server"])
    assert "turn-server" not in {service for call in started for service in call["services"]}
    assert reserved(fleet) == "40000"
    assert list(fleet.world.inside("/etc/sysctl.d").iterdir()) == []
    done = fleet.rollout()
    assert (done["ok"], done["needed"]) == (True, False)
    assert fleet.world.calls() == []
