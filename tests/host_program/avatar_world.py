"""One host with an avatar stack: its directories, its network, and stand-ins for what this machine lacks.

In: a spec. Out: `World`, whose `deploy` compiles the spec and hands the requests of a rollout to the program, as the
module of Ansible does, in a mount and a network namespace of its own, so that it writes to /etc, /opt and /var/lib of
nobody. nft, sysctl and the model that Compose makes of the files are real; the engine behind `docker` and the service
manager behind `systemctl` and `systemd-run` are stand-ins. Needs root.
"""

from __future__ import annotations

import base64
import io
import itertools
import json
import os
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fleetc.emit.tree import is_released
from fleetc.planner.states import release_in
from tests.host_program.program import PROGRAM
from tests.support import compile_text

PYTHON = os.environ.get("FLEETC_TEST_PYTHON", sys.executable)
"""The Python of the host."""

LOADER = """
import json, sys
sys.dont_write_bytecode, sys.pycache_prefix = False, sys.argv[2]
sys.path.insert(0, sys.argv[1])
from fleetc_host.requests import answer
print(json.dumps(answer(json.load(sys.stdin))))
"""
"""What Ansible's module does on the host."""

_bytecode = tempfile.TemporaryDirectory(prefix="fleetc-test-bytecode-")
"""Where the host's Python keeps what it compiled, for all hosts: beside the program is the checkout."""

CHECKOUT = "/opt/checkout"
BOUND = ("/opt", "/etc/fleetc", "/etc/systemd/system", "/etc/sysctl.d", "/etc/profile.d", "/var/lib")
GAME_FILES = (
    *("ConsoleVariables.lowload.30fps.720p.ini", "Engine.ini", "Game.ini"),
    "GameUserSettings.lowload.30fps.720p.ini",
)
"""Settings files of the game that the spec of the tests names."""

COMPOSE_RELEASE = "2.24.4"
"""What the stand-in for docker says of Compose: the oldest that reads the files of every slot."""

POWER_PORT = "9090"
"""Where the service of the stack listens that puts slots to sleep."""

_RESERVED = "net.ipv4.ip_local_reserved_ports"

_numbers = itertools.count(1)

HOST_COMPOSE = """
services:
  turn-server:
    image: turn
    env_file: [.env.turn]
    ports: ["${TURN_PORT:-3478}:${TURN_PORT:-3478}"]
  orchestrator-health:
    image: health:${AVATAR_SERVICE_IMAGE_TAG:-latest}
    environment:
      - MONITORED_SERVICES=${MONITORED_SERVICES:-single}
      - EXPERIMENTAL_REMOTE_OPS=${EXPERIMENTAL_REMOTE_OPS:-1}
      - POWER_ALLOWED_IPS=${POWER_ALLOWED_IPS:-}
      - POWER_ALLOWED_IPS_FILE=${EDGE_POWER_ALLOWED_IPS_FILE-/var/lib/vtuber/power-state/power_allowed_ips.txt}
  orchestrator-edge-rotator: {image: rotator, env_file: [.env]}
  vtuber-auto-updater: {image: updater}
  orchestrator-registration: {image: registration, env_file: [.env]}
"""

SLOT_COMPOSE = """
services:
  unreal-signaling:
    image: signaling
    container_name: vtuber-${VTUBER_AVATAR_SLUG:?VTUBER_AVATAR_SLUG is required}-unreal-signaling
    env_file: [.env.turn]
    ports: ["${VTUBER_SIGNALING_PUBLIC_PORT:-8080}:80"]
    environment:
      ENABLE_REST_API: ${ENABLE_REST_API:-0}
      SIGNALING_EXTRA_ARGS: "${SIGNALING_EXTRA_ARGS:-} ${VTUBER_SIGNALING_INSTANCE_ARGS:-}"
  unreal-game:
    image: game
    ports: ["${VTUBER_GAME_TCP_PORT:-7777}:7777", "${VTUBER_RUNNER_PORT:-9877}:9877"]
    environment:
      - AVATAR_EXTRA_ARGS=-ForceRes
      - NVIDIA_VISIBLE_DEVICES=${NVIDIA_VISIBLE_DEVICES:-all}
    ulimits: {nofile: {soft: "${HOST_ULIMIT_NOFILE:-1040}", hard: "${HOST_ULIMIT_NOFILE:-1040}"}}
    volumes:
      - ${VTUBER_SESSION_DIR:-/sessions}:/opt/embody/sessions
      - ${VTUBER_CONSOLE_VARIABLES_FILE:-./pixel-streaming/config/Console.ini}:/opt/embody/ConsoleVariables.ini:ro
      - ${VTUBER_ENGINE_INI_FILE:-./pixel-streaming/config/Engine.ini}:/opt/embody/Engine.ini:ro
      - ${VTUBER_GAME_INI_FILE:-./pixel-streaming/config/Game.ini}:/opt/embody/Game.ini:ro
  vtuber-script-runner:
    image: runner:${AVATAR_SERVICE_IMAGE_TAG:-latest}
    network_mode: service:unreal-game
    environment:
      - VTUBER_ALLOWED_ADDRESSES=${VTUBER_ALLOWED_ADDRESSES:-127.0.0.1}
      - RUNNER_API_TOKEN=${RUNNER_API_TOKEN:-}
  vtuber-watchdog: {image: "watchdog:${AVATAR_SERVICE_IMAGE_TAG:-latest}"}
  recorder-control:
    image: recorder:${AVATAR_SERVICE_IMAGE_TAG:-latest}
    env_file: [.env.turn]
    environment:
      - RECORDER_SIGNALING_URL=${RECORDER_SIGNALING_URL:-ws://unreal-signaling:80}
    ports: ["${VTUBER_RECORDER_PORT:-8889}:8889"]
networks:
  default:
    ipam: {config: [{subnet: "${VTUBER_DOCKER_SUBNET:-172.30.0.0/24}"}]}
"""
"""What the program needs of the stack's own files: services, and where their settings come from."""

_SYSTEMCTL = """#!/bin/sh
# A stand-in for systemctl: to start a unit is to run its ExecStart.
echo "$*" >> {log}
case "$*" in
  daemon-reload) ;;
  restart*) $(sed -n 's/^ExecStart=//p' /etc/systemd/system/$2) ;;
  stop*) ;;
  *) echo "the stand-in knows no $*" >&2; exit 1 ;;
esac
"""

_SYSTEMD_RUN = """#!/bin/sh
# A stand-in for systemd-run: a service begins at once, and the time of a timer never comes.
for word; do
  case $word in --on-active*) exit 0 ;; --*) shift ;; *) break ;; esac
done
setsid "$@" </dev/null >/dev/null 2>&1 &
"""

Json = dict[str, Any]


class World:
    """One host. `calls` are those that the stand-in for docker was asked for since the last look."""

    def __init__(self, directory: Path, compose: str) -> None:
        self.directory = directory
        self.namespace = f"fleetc-stack-{os.getpid()}-{next(_numbers)}"
        self.state = directory / "docker.json"
        self.said: list[str] = []
        self.drain = 0
        self._log = directory / "docker.log"
        programs = directory / "bin"
        programs.mkdir()
        for path in BOUND:
            self.inside(path).mkdir(parents=True)
        self.set_compose(COMPOSE_RELEASE)
        standin = str(Path(__file__).with_name("stack_docker.py"))
        docker = shlex.join([sys.executable, "-IS", standin, str(directory), compose])
        texts = {"docker": f'#!/bin/sh\nexec {docker} "$@"\n', "systemd-run": _SYSTEMD_RUN}
        texts["systemctl"] = _SYSTEMCTL.format(log=directory / "systemctl.log")
        for name, text in texts.items():
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)
        self._environment = {"PATH": f"{programs}:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(directory)}
        subprocess.run(["ip", "netns", "add", self.namespace], check=True)
        self.run("ip", "link", "set", "lo", "up")
        power = [sys.executable, str(Path(__file__).with_name("stack_power.py")), str(directory)]
        inside = ["ip", "netns", "exec", self.namespace]
        self._power = subprocess.Popen([*inside, *power, str(self.inside(CHECKOUT)), POWER_PORT])

    def close(self) -> None:
        """End the stand-in for the service and remove the network namespace; the directories are the test's."""
        self._power.terminate()
        self._power.wait(timeout=20)
        subprocess.run(["ip", "netns", "delete", self.namespace], check=True)

    def save(self, name: str) -> None:
        """Keep the host as it is, for tests that begin there."""
        kept = self.directory.with_name(f"{self.directory.name}-{name}")
        subprocess.run(["cp", "--archive", self.directory, kept], check=True)
        (kept / "network.nft").write_text("flush ruleset\n" + self.run("nft", "list", "ruleset"))
        (kept / "reserved").write_text(self.run("sysctl", _RESERVED).replace(" ", ""))

    def restore(self, name: str) -> None:
        """Put the host back into a state that was kept."""
        kept = self.directory.with_name(f"{self.directory.name}-{name}")
        shutil.rmtree(self.directory)
        subprocess.run(["cp", "--archive", kept, self.directory], check=True)
        self.run("nft", "-f", str(kept / "network.nft"))
        self.run("sysctl", "--quiet", "--load", str(kept / "reserved"))
        self.said.clear()
        self.drain = 0

    def inside(self, path: str) -> Path:
        """Where a path of the host lies on this machine."""
        return self.directory / "root" / path.lstrip("/")

    def set_compose(self, release: str | None) -> None:
        """Have docker come with another release of Compose, or, with None, have its engine not answer."""
        file = self.directory / "compose.release"
        file.unlink(missing_ok=True)
        if release is not None:
            file.write_text(release)

    def check_out(self, brand: str = "AVATAR", game_files: Iterable[str] = GAME_FILES) -> None:
        """Put the stack's own files there, as a person would; they belong to a user other than root."""
        checkout = self.inside(CHECKOUT)
        config = checkout / "pixel-streaming/config"
        config.mkdir(parents=True, exist_ok=True)
        for name in game_files:
            (config / name).touch()
        for name, text in (
            ("docker-compose.unreal.yml", HOST_COMPOSE),
            ("docker-compose.unreal.instance.yml", SLOT_COMPOSE),
        ):
            (checkout / name).write_text(text.replace("AVATAR_SERVICE", f"{brand}_SERVICE"))
            os.chown(checkout / name, 1234, 1234)

    def deploy(self, spec: str, values: Mapping[str, object], check: bool = False) -> Json:
        """Compile a spec and roll it out to the host gpu-1: the first answer that says no, else that to the switch.

        The answer says in `steps` what was foretold. Where nothing is to be done, nothing is asked after that.
        """
        wanted, archive = release(spec)
        wanted["seconds"]["drain"] = self.drain
        plan = {"created": "2026-01-01T00:00:00Z", "seal": "-"}
        request = {"format": 1, "wanted": wanted, "values": values, "plan": plan, "owner": {"id": "1"}, "check": check}
        begun = self.ask({**request, "do": "begin"})
        if not begun.get("needed") or check:
            return begun
        staged = self.ask({**request, "do": "stage", "archive": archive})
        if not staged["ok"]:
            return staged
        activate = {**request, "do": "activate", "release": staged["release"], "id": staged["switch"]}
        active = self.ask(activate)
        while active["ok"] and active["switch"]["phase"] not in ("healthy", "reverted", "quarantined"):
            active = self.ask(activate)
        if active["ok"] and active["switch"]["phase"] == "healthy":
            assert self.ask({**request, "do": "confirm", "id": active["switch"]["id"]})["ok"]
        return {**active, "steps": begun["steps"]}

    def observe(self) -> Json:
        """What the host says of itself."""
        return self.ask({"format": 1, "do": "observe"})

    def ask(self, request: Json) -> Json:
        """Hand a request to the program, and return its answer."""
        binds = "".join(f"mkdir -p {path} && mount --bind {self.inside(path)} {path} && " for path in BOUND)
        script = f'{binds}exec "$@"'
        command = ["ip", "netns", "exec", self.namespace, "unshare", "--mount", "sh", "-c", script, "sh"]
        done = subprocess.run(
            [*command, PYTHON, "-c", LOADER, str(PROGRAM.parent), _bytecode.name],
            input=json.dumps(request),
            env={**self._environment, "LC_ALL": "C.UTF-8"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        self.said.append(done.stdout + done.stderr)
        answer: Json = json.loads(done.stdout)
        return answer

    def calls(self) -> list[Json]:
        """What docker was asked for since the last look."""
        found = [json.loads(line) for line in self._log.read_text().splitlines()] if self._log.exists() else []
        self._log.unlink(missing_ok=True)
        return found

    def set_states(self, project: str, status: str) -> None:
        """Put all containers of a project into a state, as somebody else would who stops them."""
        state = json.loads(self.state.read_text())
        state["projects"][project] = dict.fromkeys(state["projects"][project], status)
        self.state.write_text(json.dumps(state))

    def make_again(self, project: str, service: str, **other: object) -> None:
        """Have a container be from something else, as somebody would who makes it again."""
        state = json.loads(self.state.read_text())
        state["made"][project][service] |= other
        self.state.write_text(json.dumps(state))

    def states(self, project: str) -> set[str]:
        """The states of the containers of a project."""
        return set(json.loads(self.state.read_text())["projects"][project].values())

    def set_power(self, **ill: object) -> None:
        """Say how the service is ill that puts slots to sleep; nothing for a sound one."""
        (self.directory / "power.json").write_text(json.dumps(ill))

    def fail(self, project: str, status: str = "created") -> None:
        """Have the next start of a project leave its containers in a state; with created, it fails."""
        self.state.write_text(json.dumps(json.loads(self.state.read_text()) | {"fails": {project: status}}))

    def run(self, *command: str) -> str:
        """Standard output of a command in the host's network."""
        done = subprocess.run(
            ["ip", "netns", "exec", self.namespace, *command], capture_output=True, text=True, timeout=60, check=False
        )
        return done.stdout


def release(spec: str) -> tuple[Json, str]:
    """What a spec wants of the host gpu-1, as the playbook says it, and the files of its release."""
    compiled = compile_text(spec)
    assert compiled.tree is not None, compiled.checked.diagnostics
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for artifact in compiled.tree.artifacts:
            if artifact.path.startswith("hosts/gpu-1/") and is_released(artifact.path):
                member = tarfile.TarInfo(artifact.path.removeprefix("hosts/gpu-1/"))
                member.size = len(artifact.content)
                tar.addfile(member, io.BytesIO(artifact.content))
    (said,) = [a.content for a in compiled.tree.artifacts if a.path == "ansible/host_vars/gpu-1.json"]
    variables = {name.removeprefix("fleet_host_"): plain(value) for name, value in json.loads(said).items()}
    stack = {name.removeprefix("stack_"): value for name, value in variables.items() if name.startswith("stack_")}
    wanted = {name: variables[name] for name in ("fleet", "owner", "runtime", "services")}
    wanted |= {
        "digest": release_in(compiled.tree, "gpu-1"),
        "host": "gpu-1",
        "keep": 2,
        "seconds": {"stable": 0, "deadline": 1, "confirm": 60},
    }
    return wanted | {"stack": stack or None}, base64.b64encode(packed.getvalue()).decode()


def plain(value: Any) -> Any:
    """A value of an inventory as Ansible hands it on."""
    if isinstance(value, dict):
        unsafe = value.get("__ansible_unsafe")
        return {name: plain(part) for name, part in value.items()} if unsafe is None else unsafe
    return [plain(part) for part in value] if isinstance(value, list) else value
