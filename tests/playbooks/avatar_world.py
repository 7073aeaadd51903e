"""One host for the role of the avatar stack: its directories, its network, and stand-ins for what this machine lacks.

In: a spec. Out: `World`, whose `deploy` runs the whole emitted playbook with real Ansible, in a mount and a network
namespace of its own, so that it writes to /etc, /opt and /var/lib of nobody. nft, sysctl and the model that Compose
makes of the files are real; the engine behind `docker` and the service manager behind `systemctl` are stand-ins, which
write down what they are asked for. Needs root.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.emit import support
from tests.support import compile_text

CHECKOUT = "/opt/checkout"
BOUND = ("/opt", "/etc/fleetc", "/etc/systemd/system", "/etc/sysctl.d", "/etc/profile.d", "/var/lib")
GAME_FILES = (
    *("ConsoleVariables.lowload.30fps.720p.ini", "Engine.ini", "Game.ini"),
    "GameUserSettings.lowload.30fps.720p.ini",
)
"""Settings files of the game that the spec of the tests names."""

COMPOSE_RELEASE = "2.24.4"
"""What the stand-in for docker says of Compose: the oldest that reads the files of every slot."""

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
"""What the role needs of the stack's own files: services, and where their settings come from."""

_DOCKER = '''#!{python}
"""A stand-in for docker. Compose reads its files with the real program; containers are lines of a file."""
import json, pathlib, subprocess, sys
state_file, log_file = pathlib.Path({state!r}), pathlib.Path({log!r})
state = json.loads(state_file.read_text()) if state_file.exists() else {{"projects": {{}}, "networks": []}}
words = sys.argv[1:]
if words[-1] == "label=com.docker.compose.project":
    print(*state["projects"], sep="\\n")
    sys.exit()
def log(**entry):
    with log_file.open("a") as file:
        file.write(json.dumps(entry) + "\\n")
if words == ["version", "--format", "{{{{ .Server.Version }}}}"]:
    if not pathlib.Path({release!r}).exists():
        sys.exit("Cannot connect to the Docker daemon")
    print("29.0.0")
elif words == ["compose", "version", "--short"]:
    print(pathlib.Path({release!r}).read_text())
elif words[:3] == ["container", "ls", "--all"]:
    project = words[-1].removeprefix("label=com.docker.compose.project=")
    shown = words[words.index("--format") + 1]
    for service, status in state["projects"].get(project, {{}}).items():
        print({{'{{{{ .Label "com.docker.compose.service" }}}}': service, "{{{{ .State }}}}": status}}[shown])
elif words[:2] == ["network", "ls"]:
    print("".join(name for name in state["networks"] if f"^{{name}}$" in words[-1]))
elif words[:2] == ["network", "create"]:
    state["networks"].append(words[2])
elif words[0] == "compose":
    command = next(word for word in words if word in ("up", "down", "rm"))
    place = words.index(command)
    flags, rest = words[1:place], words[place + 1:]
    project = flags[flags.index("--project-name") + 1]
    if command == "down":
        state["projects"].pop(project)
        log(command="down", project=project)
    elif command == "rm":
        assert rest[:2] == ["--stop", "--force"], rest
        for service in rest[2:]:
            state["projects"][project].pop(service)
        log(command="rm", project=project, services=rest[2:])
    else:
        done = subprocess.run([{compose!r}, *flags, "config", "--format", "json"], capture_output=True, text=True)
        if done.returncode or "level=warning" in done.stderr:
            sys.exit(done.stderr or "compose refuses")
        model = json.loads(done.stdout)
        services = [word for word in rest if not word.startswith("-")] or sorted(model["services"])
        containers = state["projects"].setdefault(project, {{}})
        for service in services:
            model["services"][service]
            containers[service] = "running" if "--detach" in rest else containers.get(service, "created")
        log(command="up", project=project, flags=flags, options=rest, services=services, model=model)
else:
    sys.exit(f"the stand-in knows no {{words}}")
state_file.write_text(json.dumps(state))
'''

_SYSTEMCTL = """#!/bin/sh
# A stand-in for systemctl: a unit is its ExecStart, and what is enabled or active is a file.
echo "$*" >> {log}
for word; do unit=$word; done
file=/etc/systemd/system/$unit
case "$*" in
  *daemon-reload*) ;;
  *show*) [ -e $file ] && echo LoadState=loaded || echo LoadState=not-found
          [ -e {state}/active ] && echo ActiveState=active || echo ActiveState=inactive ;;
  *is-enabled*) [ -e {state}/enabled ] && echo enabled || {{ echo disabled; exit 1; }} ;;
  *is-active*) [ -e {state}/active ] && echo active || {{ echo inactive; exit 3; }} ;;
  *enable*) touch {state}/enabled ;;
  *disable*) rm -f {state}/enabled ;;
  *restart*|*start*) $(sed -n 's/^ExecStart=//p' $file) && touch {state}/active ;;
  *stop*) rm -f {state}/active ;;
  *) echo "the stand-in knows no $*" >&2; exit 1 ;;
esac
"""


class World:
    """One host. `calls` are those that the stand-in for docker was asked for since the last look."""

    def __init__(self, directory: Path, compose: str) -> None:
        self.directory = directory
        self.namespace = f"fleetc-role-{os.getpid()}-{next(_numbers)}"
        self.state = directory / "docker.json"
        self._log = directory / "docker.log"
        self.programs = directory / "bin"
        self.programs.mkdir()
        for path in BOUND:
            self.inside(path).mkdir(parents=True)
        self._release = directory / "compose.release"
        self.set_compose(COMPOSE_RELEASE)
        files = {"state": str(self.state), "log": str(self._log), "release": str(self._release)}
        docker = _DOCKER.format(python=sys.executable, compose=compose, **files)
        systemctl = _SYSTEMCTL.format(log=directory / "systemctl.log", state=directory)
        for name, text in (("docker", docker), ("systemctl", systemctl)):
            (self.programs / name).write_text(text)
            (self.programs / name).chmod(0o755)
        subprocess.run(["ip", "netns", "add", self.namespace], check=True)

    def close(self) -> None:
        """Remove the network namespace; the directories are the test's."""
        subprocess.run(["ip", "netns", "delete", self.namespace], check=True)

    def inside(self, path: str) -> Path:
        """Where a path of the host lies on this machine."""
        return self.directory / "root" / path.lstrip("/")

    def set_compose(self, release: str | None) -> None:
        """Have docker come with another release of Compose, or, with None, have its engine not answer."""
        self._release.unlink(missing_ok=True)
        if release is not None:
            self._release.write_text(release)

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

    def deploy(
        self, spec: str, *options: str, playbook: str = "site.yml", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Compile a spec and run one of its playbooks for the host gpu-1."""
        compiled = compile_text(spec)
        assert compiled.tree is not None, compiled.checked.diagnostics
        tree = self.directory / "tree"
        shutil.rmtree(tree, ignore_errors=True)
        project = support.written(compiled.tree, tree) / "ansible"
        binds = "".join(f"mkdir -p {path} && mount --bind {self.inside(path)} {path} && " for path in BOUND)
        script = f'{binds}cd {project} && exec ansible-playbook "$@"'
        command = ["ip", "netns", "exec", self.namespace, "unshare", "--mount", "sh", "-c", script, "sh"]
        command += [playbook, "--limit", "gpu-1", "-e", "ansible_connection=local"]
        command += ["-e", f"ansible_python_interpreter={sys.executable}", "-e", "fleet_services_settle_seconds=0"]
        path = f"{self.programs}:{Path(sys.executable).parent}:/usr/sbin:/usr/bin:/sbin:/bin"
        bare = {"PATH": path, "HOME": str(self.directory), "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}
        return subprocess.run(
            [*command, *options],
            env={**bare, **environment},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def calls(self) -> list[dict[str, Any]]:
        """What docker was asked for since the last look."""
        found = [json.loads(line) for line in self._log.read_text().splitlines()] if self._log.exists() else []
        self._log.unlink(missing_ok=True)
        return found

    def set_states(self, project: str, status: str) -> None:
        """Put all containers of a project into a state, as somebody else would who stops them."""
        state = json.loads(self.state.read_text())
        state["projects"][project] = dict.fromkeys(state["projects"][project], status)
        self.state.write_text(json.dumps(state))

    def run(self, *command: str) -> str:
        """Standard output of a command in the host's network."""
        done = subprocess.run(
            ["ip", "netns", "exec", self.namespace, *command], capture_output=True, text=True, timeout=60, check=False
        )
        return done.stdout
