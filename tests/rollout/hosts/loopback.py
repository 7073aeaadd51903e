"""Hosts behind a real sshd on 127.0.0.1, for what a rollout leaves on the machine that it starts from.

In: a directory, and how many hosts. Out: `Loopback`: a fleet with secrets of all three kinds, whose `start` runs the
real `fleetc deploy`. Each sshd runs in a mount namespace of its own, so that the host's /etc, /opt, /var/lib, /root and
/tmp are not this machine's; docker is a stand-in that starts the stand-in node. Needs root, sshd, unshare and gcc.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.farm_image import compile_standin
from tests.keystores import key_file
from tests.standin import can_build
from tests.support import ROOT

_RUN = secrets.token_hex(4)
CANARIES = {
    "rpc": f"CANARY-rpc-{{{{ 7 * 7 }}}}-{_RUN}",
    "vault": f"CANARY-vault-77d2-{_RUN}",
    "host": f"CANARY-host-19ac-{_RUN}",
    "password": f"CANARY-password-c2f0-{_RUN}",
    "unrelated": f"CANARY-unrelated-8806-{_RUN}",
}
"""By what they are: a secret of each kind, the vault's password, and a variable that the spec does not name.

They are this run's own: every process of the machine is searched for them, and another run may be going on.
"""

PAYER = "0x1111111111111111111111111111111111111111"
SPEC = """
spec = 1

[fleet]
name = "loopback"
network = "arbitrum-one-mainnet"
rpc = {{ env = "LOOPBACK_RPC_URL" }}
node_release = "v0.9.1"

[hosts.one]
address = "127.0.0.1"
public = "one.example.net"
runtime = "docker"
ssh_port = {one}

[wallets.payer]
address = "0x1111111111111111111111111111111111111111"
keystore = "/var/lib/livepeer/keystore"
password = {{ host_file = "/etc/livepeer/password" }}
reward_by = "none"
minimum_balance = "0.05 ETH"
deposit = "0.5 ETH"
reserve = "0.3 ETH"

[gateways.gate]
host = "one"
mode = "video"
wallet = "payer"
cli = "127.0.0.1:{cli}"
http = "127.0.0.1:{http}"
rtmp = "127.0.0.1:{rtmp}"
http_ingest = false
discovery = "registry"
max_price = "1500 wei / pixel"
metadata_queue = {{ uri = {{ host_file = "/etc/livepeer/queue" }}, exchange = "metadata" }}

[rollout]
stable = "1s"
deadline = "20s"

[gateways.gate.kafka]
broker = "queue.example.net:9092"
topic = "events"
user = "gate"
password = {{ vault = "kafka_password" }}
"""

ANOTHER = """
[hosts.{name}]
address = "127.0.0.1"
public = "{name}.example.net"
runtime = "docker"
ssh_port = {port}

[orchestrators.orch-{name}]
host = "{name}"
mode = "video"
wallet = "payer"
price = "1200 wei / pixel"
service = "{name}.example.net:{service}"
cli = "127.0.0.1:{cli}"
"""
"""A host of its own with an orchestrator, which the gateway does not use."""

NAMES = ("one", "two", "three")

_DOCKER = r'''#!/usr/bin/env python3
"""A stand-in for docker: a container is a process of the stand-in node, with what its Compose file says."""
import json, os, pathlib, re, signal, subprocess, sys
NAME = "livepeer-{node_name}"
state = pathlib.Path("/var/lib/container.json")
words = sys.argv[1:]
def process():
    found = json.loads(state.read_text()) if state.exists() else None
    return found if found and os.path.exists("/proc/%d" % found["pid"]) else None
def end():
    found = process()
    if found:
        os.kill(found["pid"], signal.SIGKILL)
    state.unlink(missing_ok=True)
if words[:2] == ["container", "ls"]:
    print(NAME if process() else "")
elif words[:2] == ["container", "inspect"]:
    found = process()
    status = {{"Status": "running", "Pid": found["pid"]}}
    print(json.dumps([{{"Name": "/" + NAME, "State": status, "Image": "sha256:1", "RestartCount": 0}}]))
elif words[:2] in (["container", "stop"], ["container", "rm"]):
    end()
elif words[0] == "version":
    print("27.5.1")
elif words[:2] == ["compose", "version"]:
    print("2.40.0")
elif words[:2] == ["image", "inspect"]:
    print("sha256:1")
elif words[:2] in (["image", "tag"], ["container", "logs"]):
    pass
elif words[0] == "compose" and "up" in words:
    end()
    compose = pathlib.Path(words[words.index("--file") + 1]).read_text()
    arguments = [json.loads(text) for text in re.findall(r'^      - ("-.*")$', compose, re.M)]
    variables = {{}}
    for path in re.findall(r'^      - path: "(.*)"$', compose, re.M):
        for name, value in re.findall(r'^(\w+)="(.*)"$', pathlib.Path(path).read_text(), re.M):
            variables[name] = re.sub(r"\\(.)", r"\1", value)
    with open(os.devnull, "r+b") as nothing:
        started = subprocess.Popen(
            [{program!r}, *arguments], env=variables, start_new_session=True,
            stdin=nothing, stdout=nothing, stderr=nothing,
        )
    state.write_text(json.dumps({{"pid": started.pid}}))
else:
    sys.exit(f"the stand-in knows no {{words}}")
'''

_NO_SYSTEMD = "#!/bin/sh\necho 'this host has no systemd' >&2\nexit 1\n"

_PLACES = {"opt": "/opt", "var-lib": "/var/lib", "root": "/root"}
"""Directories of the host, which hide this machine's; its /etc is laid over this one's, and its /run is new."""

_ENTER = """set -e
mount --make-rprivate /
mount -t overlay overlay -o lowerdir=/etc,upperdir=etc,workdir=work /etc
{binds}
mount -t tmpfs tmpfs /run
mkdir /run/sshd
exec {sshd} -D -e -f {config}
"""


def _python_below(name: str, path: str) -> str:
    """What keeps the Python of the tests in sight of a host whose directory `name` hides it below `path`."""
    base = Path(sys.base_prefix)
    if not base.is_relative_to(path):
        return ""
    inner = shlex.quote(str(name / base.relative_to(path)))
    return f"mkdir -p {inner}; mount --bind {shlex.quote(str(base))} {inner}\n"


def needed() -> str:
    """What keeps this machine from being such a host; empty where nothing does."""
    if os.geteuid() != 0:
        return "not root: the host's directories are mounts"
    missing = [
        name for name in ("sshd", "ssh", "ssh-keygen", "unshare", "nsenter") if shutil.which(name, path=_path()) is None
    ]
    missing += [] if can_build() else ["what the stand-in node is built with"]
    return f"not installed: {', '.join(missing)}" if missing else ""


def _path() -> str:
    return f"{Path(sys.executable).parent}:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def spellings() -> dict[str, list[bytes]]:
    """By canary, how its value may stand in a file: as it is, and in base64 at each offset."""
    found: dict[str, list[bytes]] = {}
    for name, value in CANARIES.items():
        forms = [value.encode()]
        for offset in range(3):
            coded = base64.b64encode(b"\0" * offset + value.encode())
            forms.append(coded[4 if offset else 0 : len(coded) // 4 * 4 - 4])
        found[name] = forms
    return found


class LoopbackHost:
    """One host: what is below `root` is its own, and `port` that of its sshd."""

    def __init__(self, directory: Path, port: int, node_name: str, program: Path) -> None:
        self.root, self.port = directory / "root", port
        self._bin, self._directory = directory / "bin", directory
        self._bin.mkdir(parents=True)
        for name in (*_PLACES, "etc", "work", "tmp"):
            (self.root / name).mkdir(parents=True)
        docker = _DOCKER.format(program=str(program), node_name=node_name)
        for name, text in (("docker", docker), ("systemctl", _NO_SYSTEMD), ("systemd-run", _NO_SYSTEMD)):
            (self._bin / name).write_text(text)
            (self._bin / name).chmod(0o755)
        (self.root / "etc/livepeer").mkdir()
        (self.root / "etc/livepeer/password").write_text("hunter2")
        keys = self.root / "var-lib/livepeer/keystore"
        keys.mkdir(parents=True)
        (keys / "UTC--payer").write_bytes(key_file(PAYER, b"hunter2"))
        (self.root / "etc/livepeer/queue").write_text(f"amqps://queue.example.net/{CANARIES['host']}\n")

    def start(self, host_key: Path, authorized: Path) -> None:
        """Start sshd, once it has a key of its own and knows that of the controller."""
        shutil.copy(authorized, self.root / "authorized-keys")
        config = self._directory / "sshd-config"
        config.write_text(
            f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {host_key}\nPidFile none\n"
            f"AuthorizedKeysFile {self.root}/authorized-keys\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"
            f"Subsystem sftp internal-sftp\n"
            f"SetEnv PATH={self._bin}:/usr/sbin:/usr/bin:/sbin:/bin TMPDIR={self.root}/tmp\n"
        )
        binds = "\n".join(f"{_python_below(name, path)}mount --rbind {name} {path}" for name, path in _PLACES.items())
        script = _ENTER.format(binds=binds, sshd=shutil.which("sshd", path=_path()), config=config)
        log = (self._directory / "sshd.log").open("wb")
        command = ["unshare", "--mount", "sh", "-c", script]
        self.sshd = subprocess.Popen(command, cwd=self.root, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise AssertionError((self._directory / "sshd.log").read_text())

    def close(self) -> None:
        """End all that runs on the host, and sshd, with which its mounts go."""
        self._end_processes()
        self.sshd.terminate()
        self.sshd.wait(timeout=20)

    def inside(self, *command: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run a command with the directories of the host, and with its docker."""
        environment = {"PATH": f"{self._bin}:{_path()}", "HOME": "/root", "TMPDIR": str(self.root / "tmp")}
        return subprocess.run(
            ["nsenter", f"--mount=/proc/{self.sshd.pid}/ns/mnt", "--", *command],
            env={**environment, **options.pop("env", {})}, capture_output=True, text=True, check=False, **options,
        )  # fmt: skip

    def forget(self) -> None:
        """Make it a host that nothing was rolled out to, whatever a killed rollout left going there."""
        self._end_processes()
        (self.root / "var-lib/container.json").unlink(missing_ok=True)
        assert self.inside("rm", "-rf", "/etc/fleetc", "/opt/fleetc", "/var/lib/fleetc").returncode == 0

    def _end_processes(self) -> None:
        """End all that runs on the host but sshd: sessions, what a module began there, and the node."""
        while sum(self._end(int(process.name)) for process in Path("/proc").glob("[0-9]*")):
            time.sleep(0.01)

    def _end(self, pid: int) -> bool:
        with suppress(OSError):  # one that ended meanwhile
            own = [Path(f"/proc/{number}/ns/mnt").readlink() for number in (self.sshd.pid, pid)]
            if pid != self.sshd.pid and own[0] == own[1]:
                os.kill(pid, signal.SIGKILL)
                return True
        return False

    def node(self) -> int:
        """The process of its node; 0 without one."""
        with suppress(OSError, ValueError, KeyError):
            pid = json.loads((self.root / "var-lib/container.json").read_text())["pid"]
            return int(pid) if Path(f"/proc/{pid}/exe").exists() else 0
        return 0


class Loopback:
    """The hosts, and the machine that rolls out to them: its temporary directory, home and memory."""

    def __init__(self, directory: Path, count: int = 1) -> None:
        self.directory = directory
        self.temporary, self.home = directory / "controller-tmp", directory / "controller-home"
        self.memory = Path(tempfile.mkdtemp(prefix="loopback-", dir="/dev/shm"))
        for path in (self.temporary, self.home, directory / "fleet", directory / "bin"):
            path.mkdir()
        program = compile_standin(directory / "bin")
        ports = iter(free_ports(3 + 3 * count))
        self._ports = {name: next(ports) for name in ("cli", "http", "rtmp")}
        self.hosts: dict[str, LoopbackHost] = {}
        for name in NAMES[:count]:
            node = "gate" if name == "one" else f"orch-{name}"
            self.hosts[name] = LoopbackHost(directory / f"host-{name}", next(ports), node, program)
        self.host = self.hosts["one"].root
        self._others = {name: (next(ports), next(ports)) for name in NAMES[1:count]}
        self.write_fleet()
        self._write_secrets()
        for key in ("host-key", "key"):
            self._run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(directory / key))
        known = " ".join((directory / "host-key.pub").read_text().split()[:2])
        lines = [f"[127.0.0.1]:{host.port} {known}\n" for host in self.hosts.values()]
        (directory / "known-hosts").write_text("".join(lines))
        for host in self.hosts.values():
            host.start(directory / "host-key", directory / "key.pub")

    def close(self) -> None:
        """End all of it."""
        for host in self.hosts.values():
            host.close()
        shutil.rmtree(self.memory)

    def forget(self) -> None:
        """Make the hosts such that nothing was rolled out to them."""
        for host in self.hosts.values():
            host.forget()

    def write_fleet(self, **changes: str) -> None:
        """Write the spec and compile it; `changes` replace text, such as a price."""
        text = SPEC.format(one=self.hosts["one"].port, **self._ports)
        for name, (service, cli) in self._others.items():
            text += ANOTHER.format(name=name, port=self.hosts[name].port, service=service, cli=cli)
        for old, new in changes.items():
            text = text.replace(old, new)
        self.write_text(text)

    def write_text(self, text: str) -> None:
        """Write this spec and compile it."""
        (self.directory / "fleet/fleet.toml").write_text(text)
        self._run(sys.executable, "-m", "fleetc", "compile", str(self.directory / "fleet"))

    def _write_secrets(self) -> None:
        vault, password = self.directory / "vault.yml", self.directory / "vault-password"
        password.write_text(CANARIES["password"])
        vault.write_text(f"fleet_vault:\n  kafka_password: {CANARIES['vault']}\n")
        self._run("ansible-vault", "encrypt", "--vault-password-file", str(password), str(vault))

    def _run(self, *command: str) -> None:
        environment = {**os.environ, "PATH": _path(), "HOME": str(self.home)}
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def environment(self) -> dict[str, str]:
        """What the operator's shell has."""
        return {
            "PATH": _path(),
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "XDG_RUNTIME_DIR": str(self.memory),
            "LC_ALL": "C.UTF-8",
            "FLEETC_SSH_KEY": str(self.directory / "key"),
            "FLEETC_SSH_KNOWN_HOSTS": str(self.directory / "known-hosts"),
            "FLEETC_VAULT_FILE": str(self.directory / "vault.yml"),
            "FLEETC_VAULT_PASSWORD_FILE": str(self.directory / "vault-password"),
            "LOOPBACK_RPC_URL": f"https://rpc.example.net/{CANARIES['rpc']}",
            "CLOUD_TOKEN": CANARIES["unrelated"],
        }

    def change(self, old: str, new: str) -> None:
        """Compile another release."""
        spec = self.directory / "fleet/fleet.toml"
        text = spec.read_text()
        assert old in text
        spec.write_text(text.replace(old, new))
        self._run(sys.executable, "-m", "fleetc", "compile", str(spec.parent))

    def start(
        self, *before: str, program: Sequence[str] = ("-m", "fleetc"), options: Sequence[str] = (), **environment: str
    ) -> subprocess.Popen[bytes]:
        """`fleetc deploy` as a process, behind the words of another command; what it says is in the file `said`."""
        with (self.directory / "said").open("wb") as said:
            return subprocess.Popen(
                [*before, sys.executable, "-I", *program, "deploy", str(self.directory / "fleet"), *SKIPPED, *options],
                cwd=self.directory / "fleet", env={**self.environment(), **environment},
                stdin=subprocess.DEVNULL, stdout=said, stderr=said,
            )  # fmt: skip

    def said(self) -> str:
        """What the last rollout said."""
        return (self.directory / "said").read_text()


SKIPPED = tuple(
    word for code in ("kafka-answers", "queue-answers") for word in ("--skip", f"{code}=there is none here")
)
"""What the preflight finds that these hosts have not."""


def free_ports(count: int) -> list[int]:
    """Ports of 127.0.0.1 that nobody has."""
    probes = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


def texts_below(place: Path) -> Iterator[tuple[Path, bytes]]:
    """Every regular file below a directory, with its bytes; what vanishes meanwhile is no file."""
    for folder, _, names in os.walk(place):
        for name in names:
            path = Path(folder, name)
            if path.is_file() and not path.is_symlink():
                try:
                    yield path, path.read_bytes()
                except FileNotFoundError:
                    continue


@pytest.fixture(scope="module")
def loopback(disk: Path) -> Iterator[Loopback]:
    """The host, not rolled out to yet."""
    if missing := needed():
        pytest.skip(missing)
    made = Loopback(disk)
    yield made
    made.close()
