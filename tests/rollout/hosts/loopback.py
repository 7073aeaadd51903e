"""One host behind a real sshd on 127.0.0.1, for what a rollout leaves on the machine that it starts from.

In: a directory. Out: `Loopback`: a fleet of one host with secrets of all three kinds, whose `start` runs the real
`fleetc deploy`. sshd runs in a mount namespace of its own, so that the host's /etc, /opt, /var/lib, /root and /tmp are
not this machine's; docker is a stand-in that starts the stand-in node: `tests/sshd_host.py`.
"""

from __future__ import annotations

import base64
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.farm_image import compile_standin
from tests.sshd_host import PROGRAMS, SshdHost, free_ports, needed
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
        self.port, *self._ports = free_ports(4)
        self._host = SshdHost(directory / "host", self.port)
        self.host = self._host.files
        self._write_fleet()
        self._make_keys()
        self._host.start(compile_standin(directory / "bin"), directory / "host-key", directory / "key.pub")

    def close(self) -> None:
        """End the host, and what its machine kept in memory."""
        self._host.close()
        shutil.rmtree(self.memory)

    def forget(self) -> None:
        """Make the host one that nothing was rolled out to, whatever a killed rollout left going there."""
        self._host.forget()

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

    def _make_keys(self) -> None:
        for name in ("host-key", "key"):
            self._run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.directory / name))
        key = " ".join((self.directory / "host-key.pub").read_text().split()[:2])
        (self.directory / "known-hosts").write_text(f"[127.0.0.1]:{self.port} {key}\n")

    def _run(self, *command: str) -> None:
        environment = {**os.environ, "PATH": PROGRAMS, "HOME": str(self.home)}
        subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, timeout=120)

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
            "LOOPBACK_RPC_URL": f"https://rpc.example.net/{CANARIES['rpc']}",
            "CLOUD_TOKEN": CANARIES["unrelated"],
        }

    def start(self, *before: str, **environment: str) -> subprocess.Popen[bytes]:
        """`fleetc deploy` as a process, behind the words of another command; what it says is in the file `said`."""
        lacks = ("kafka-answers", "keystore-holds-account", "queue-answers")
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
