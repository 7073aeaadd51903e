"""One host behind a real sshd on 127.0.0.1, for what a rollout leaves on the machine that it starts from.

In: a directory. Out: `Loopback`: a fleet of one host with secrets of all three kinds, whose `start` runs the real
`fleetc deploy`. sshd runs in a mount namespace of its own, so that the host's /etc, /opt, /var/lib, /root and /tmp are
not this machine's; docker is a stand-in that starts the stand-in node. Needs root, sshd, unshare and gcc.
"""

from __future__ import annotations

import base64
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.farm_image import compile_standin
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
ssh_port = {port}

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

_DOCKER = r'''#!/usr/bin/env python3
"""A stand-in for docker: a container is a process of the stand-in node, with what its Compose file says."""
import json, os, pathlib, re, signal, subprocess, sys
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
    print("livepeer-gate" if process() else "")
elif words[:2] == ["container", "inspect"]:
    found = process()
    status = {{"Status": "running", "Pid": found["pid"]}}
    print(json.dumps([{{"Name": "/livepeer-gate", "State": status, "Image": "sha256:1", "RestartCount": 0}}]))
elif words[:2] in (["container", "stop"], ["container", "rm"]):
    end()
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
            [{node!r}, *arguments], env=variables, start_new_session=True,
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


class Loopback:
    """The host, and the machine that rolls out to it: its temporary directory, home and memory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.host = directory / "host"
        self.temporary, self.home = directory / "controller-tmp", directory / "controller-home"
        self.memory = Path(tempfile.mkdtemp(prefix="loopback-", dir="/dev/shm"))
        for path in (self.temporary, self.home, directory / "fleet", directory / "bin"):
            path.mkdir()
        for name in (*_PLACES, "etc", "work", "tmp"):
            (self.host / name).mkdir(parents=True)
        self.port, *self._ports = free_ports(4)
        self._node = compile_standin(directory / "bin")
        self._write_fleet()
        self._sshd = self._start_sshd()

    def close(self) -> None:
        """End all that runs on the host, and sshd, with which its mounts go."""
        while self._end_processes():
            time.sleep(0.01)
        self._sshd.terminate()
        self._sshd.wait(timeout=20)
        shutil.rmtree(self.memory)

    def forget(self) -> None:
        """Make the host one that nothing was rolled out to, whatever a killed rollout left going there."""
        while self._end_processes():
            time.sleep(0.01)
        (self.host / "var-lib/container.json").unlink(missing_ok=True)
        inside = ["nsenter", f"--mount=/proc/{self._sshd.pid}/ns/mnt", "rm", "-rf"]
        subprocess.run([*inside, "/etc/fleetc", "/opt/fleetc", "/var/lib/fleetc"], check=True)

    def _end_processes(self) -> int:
        """End all that runs on the host but sshd: sessions, what a module began there, and the node; how many."""
        own, ended = Path(f"/proc/{self._sshd.pid}/ns/mnt").readlink(), 0
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # one that ended meanwhile
                if int(process.name) != self._sshd.pid and (process / "ns/mnt").readlink() == own:
                    os.kill(int(process.name), signal.SIGKILL)
                    ended += 1
        return ended

    def _write_fleet(self) -> None:
        fleet = self.directory / "fleet"
        (fleet / "fleet.toml").write_text(
            SPEC.format(port=self.port, **dict(zip(("cli", "http", "rtmp"), self._ports, strict=True)))
        )
        vault, password = self.directory / "vault.yml", self.directory / "vault-password"
        password.write_text(CANARIES["password"])
        vault.write_text(f"fleet_vault:\n  kafka_password: {CANARIES['vault']}\n")
        self._run("ansible-vault", "encrypt", "--vault-password-file", str(password), str(vault))
        (self.host / "etc/livepeer").mkdir()
        (self.host / "etc/livepeer/password").write_text("hunter2")
        (self.host / "etc/livepeer/queue").write_text(f"amqps://queue.example.net/{CANARIES['host']}\n")
        self._run(sys.executable, "-m", "fleetc", "compile", str(fleet))

    def _start_sshd(self) -> subprocess.Popen[bytes]:
        for name in ("host-key", "key"):
            self._run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.directory / name))
        key = " ".join((self.directory / "host-key.pub").read_text().split()[:2])
        (self.directory / "known-hosts").write_text(f"[127.0.0.1]:{self.port} {key}\n")
        docker = _DOCKER.format(node=str(self._node))
        for name, text in (("docker", docker), ("systemctl", _NO_SYSTEMD), ("systemd-run", _NO_SYSTEMD)):
            (self.directory / "bin" / name).write_text(text)
            (self.directory / "bin" / name).chmod(0o755)
        shutil.copy(self.directory / "key.pub", self.host / "authorized-keys")
        config = self.directory / "sshd-config"
        config.write_text(
            f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {self.directory}/host-key\nPidFile none\n"
            f"AuthorizedKeysFile {self.host}/authorized-keys\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"
            f"Subsystem sftp internal-sftp\n"
            f"SetEnv PATH={self.directory}/bin:/usr/sbin:/usr/bin:/sbin:/bin TMPDIR={self.host}/tmp\n"
        )
        binds = "\n".join(f"mount --bind {name} {path}" for name, path in _PLACES.items())
        script = _ENTER.format(binds=binds, sshd=shutil.which("sshd", path=_path()), config=config)
        log = (self.directory / "sshd.log").open("wb")
        command = ["unshare", "--mount", "sh", "-c", script]
        started = subprocess.Popen(command, cwd=self.host, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return started
            time.sleep(0.05)
        raise AssertionError((self.directory / "sshd.log").read_text())

    def _run(self, *command: str) -> None:
        environment = {**os.environ, "PATH": _path(), "HOME": str(self.home)}
        subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, timeout=120)

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

    def start(self, *before: str, **environment: str) -> subprocess.Popen[bytes]:
        """`fleetc deploy` as a process, behind the words of another command; what it says is in the file `said`."""
        lacks = ("compose-missing", "docker-answers", "kafka-answers", "keystore-holds-account", "queue-answers")
        skip = [word for code in lacks for word in ("--skip", f"{code}=the host of this test has none")]
        with (self.directory / "said").open("wb") as said:
            return subprocess.Popen(
                [*before, sys.executable, "-I", "-m", "fleetc", "deploy", str(self.directory / "fleet"), *skip],
                cwd=self.directory / "fleet", env={**self.environment(), **environment},
                stdin=subprocess.DEVNULL, stdout=said, stderr=said,
            )  # fmt: skip

    def said(self) -> str:
        """What the last rollout said."""
        return (self.directory / "said").read_text()


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
