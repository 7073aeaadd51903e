"""A host behind a real sshd on 127.0.0.1, for what a rollout leaves on the machine that it starts from.

In: a directory. Out: `Loopback`: a fleet with secrets of all four kinds, whose `start` runs the
real `fleetc deploy`. The host is one of `tests/farm/sshd_host.py`.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.farm.image import compile_standin
from tests.farm.sshd_host import PROGRAMS, SshdHost, free_ports, needed, write_keys
from tests.keystores import key_file
from tests.support import ROOT

_RUN = secrets.token_hex(4)
CANARIES = {
    "rpc": f"CANARY-rpc-{{{{ 7 * 7 }}}}-{_RUN}",
    "vault": f"CANARY-vault-77d2-{_RUN}",
    "host": f"CANARY-host-19ac-{_RUN}",
    "command": f"CANARY-command-{{{{ 5 * 5 }}}}-{_RUN}",
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

[gateways.gate.secret_environment]
PULL_KEY = {{ command = "pull-key" }}
"""


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
        self.temporary, self.home = directory / "controller-tmp", directory / "controller-home"
        self.memory = Path(tempfile.mkdtemp(prefix="loopback-", dir="/dev/shm"))
        for path in (self.temporary, self.home, directory / "fleet", directory / "bin"):
            path.mkdir()
        program = compile_standin(directory / "bin")
        self._ports = dict(zip(("cli", "http", "rtmp", "one"), free_ports(4), strict=True))
        self.one = SshdHost(directory / "host-one", self._ports["one"])
        self.host = self.one.files
        self._fill()
        self.write_fleet()
        self._write_secrets()
        write_keys(directory, [self.one])
        self.one.start(program, directory / "host-key", directory / "key.pub")

    def _fill(self) -> None:
        """Put there what people provide: the wallet of the gateway, and secrets."""
        livepeer, keys = self.host / "etc/livepeer", self.host / "var-lib/livepeer/keystore"
        livepeer.mkdir()
        (livepeer / "password").write_text("hunter2")
        (livepeer / "queue").write_text(f"amqps://queue.example.net/{CANARIES['host']}\n")
        keys.mkdir(parents=True)
        (keys / "UTC--payer").write_bytes(key_file(PAYER, b"hunter2"))
        for path in (livepeer / "password", keys / "UTC--payer"):
            path.chmod(0o600)

    def close(self) -> None:
        """End all of it."""
        self.one.close()
        shutil.rmtree(self.memory)

    def forget(self) -> None:
        """Make the host such that nothing was rolled out to it."""
        self.one.forget()

    def write_fleet(self, **changes: str) -> None:
        """Write the spec and compile it; `changes` replace text, such as a price."""
        text = SPEC.format(**self._ports)
        for old, new in changes.items():
            text = text.replace(old, new)
        self.write_text(text)

    def write_text(self, text: str) -> None:
        """Write this spec and compile it."""
        (self.directory / "fleet/fleet.toml").write_text(text)
        self._run(sys.executable, "-m", "fleetc", "compile", str(self.directory / "fleet"))

    def vault_text(self) -> str:
        """What the vault file has."""
        return f"fleet_vault:\n  kafka_password: {CANARIES['vault']}\n"

    def _write_secrets(self) -> None:
        vault, password = self.directory / "vault.yml", self.directory / "vault-password"
        password.write_text(CANARIES["password"])
        vault.write_text(self.vault_text())
        self._run("ansible-vault", "encrypt", "--vault-password-file", str(password), str(vault))
        keeper = self.directory / "keeper"  # it stands in for a password manager
        keeper.write_text('#!/bin/sh\n[ "$1" = show ] && exec cat "$0-of-$2"\n')
        keeper.chmod(0o700)
        keeper.with_name("keeper-of-pull-key").write_text(CANARIES["command"] + "\n")

    def _run(self, *command: str) -> None:
        environment = {**os.environ, "PATH": PROGRAMS, "HOME": str(self.home)}
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def environment(self) -> dict[str, str]:
        """What the operator's shell has."""
        return {
            "PATH": PROGRAMS,
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "XDG_RUNTIME_DIR": str(self.memory),
            "LC_ALL": "C.UTF-8",
            "FLEETC_SSH_KEY": str(self.directory / "key"),
            "FLEETC_SSH_KNOWN_HOSTS": str(self.directory / "known-hosts"),
            "FLEETC_VAULT_FILE": str(self.directory / "vault.yml"),
            "FLEETC_VAULT_PASSWORD_FILE": str(self.directory / "vault-password"),
            "FLEETC_SECRET_COMMANDS": json.dumps({"pull-key": [f"{self.directory}/keeper", "show", "pull-key"]}),
            "LOOPBACK_RPC_URL": f"https://rpc.example.net/{CANARIES['rpc']}",
            "CLOUD_TOKEN": CANARIES["unrelated"],
        }

    def start(self, *before: str, **environment: str) -> subprocess.Popen[bytes]:
        """`fleetc deploy` as a process, behind the words of another command; what it says is in the file `said`."""
        with (self.directory / "said").open("wb") as said:
            return subprocess.Popen(
                [*before, sys.executable, "-I", "-m", "fleetc", "deploy", str(self.directory / "fleet"), *SKIPPED],
                cwd=self.directory / "fleet", env={**self.environment(), **environment},
                stdin=subprocess.DEVNULL, stdout=said, stderr=said,
            )  # fmt: skip

    def said(self) -> str:
        """What the last rollout said."""
        return (self.directory / "said").read_text()


_LACKING = ("kafka-answers", "queue-answers", "rpc-answers", "service-address-leads-here")
SKIPPED = tuple(word for code in _LACKING for word in ("--skip", f"{code}=there is none here"))
"""What the preflight finds that these hosts have not."""


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
