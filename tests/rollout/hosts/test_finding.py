"""`fleetc adopt --from` and `fleetc deploy --check` against a real sshd: a node becomes a spec, and then a plan.

The node is a stand-in that the test starts; the host has its own directories and this machine's processes.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.farm_image import compile_standin
from tests.sshd_host import PROGRAMS, SshdHost, free_ports, needed, write_keys
from tests.support import ROOT

pytestmark = [pytest.mark.outer, pytest.mark.usefixtures("processes")]

SECRET = "hunter2-swordfish"
ACCOUNT = "0x2222222222222222222222222222222222222222"


class World(NamedTuple):
    """A host on which a node runs, and how people reach it."""

    directory: Path
    host: SshdHost
    node: subprocess.Popen[bytes]

    def fleetc(self, *words: str, environment: Mapping[str, str] = {}) -> subprocess.CompletedProcess[str]:
        """Run fleetc as a person who may log in there."""
        environment = {
            "PATH": PROGRAMS, "HOME": str(self.directory / "home"), "LC_ALL": "C.UTF-8",
            "PYTHONPATH": f"{ROOT}/compiler",
            "FLEETC_SSH_KEY": str(self.directory / "key"),
            "FLEETC_SSH_KNOWN_HOSTS": str(self.directory / "known-hosts"), **environment,
        }  # fmt: skip
        return subprocess.run(
            [sys.executable, "-m", "fleetc", *words], cwd=self.directory, env=environment, check=False,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
        )  # fmt: skip

    def adopt(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Adopt what runs on the host."""
        here = f"gpu-1=127.0.0.1:{self.host.port}"
        only = str(self.node.pid)  # other processes of this machine are not of the test
        return self.fleetc("adopt", "--from", here, "--only", only, *words)


@pytest.fixture(scope="module")
def world(disk: Path) -> Iterator[World]:
    if missing := needed():
        pytest.skip(missing)
    (disk / "home").mkdir()
    (disk / "bin").mkdir()
    program = compile_standin(disk / "bin")
    port, cli, http = free_ports(3)
    host = SshdHost(disk / "host", port)
    write_keys(disk, [host])
    host.start(program, disk / "host-key", disk / "key.pub")
    (disk / "password").write_text(f"{SECRET}-of-the-wallet\n")
    words = [
        "-orchestrator", "-transcoder", "-network=arbitrum-one-mainnet", f"-ethUrl=https://rpc.example.net/v2/{SECRET}",
        "-ethAcctAddr", ACCOUNT, f"-ethPassword={disk}/password", "-serviceAddr=orch.example.net:8935",
        "-pricePerUnit", "900", "-maxSessions=12", "-reward=false",
        f"-cliAddr=127.0.0.1:{cli}", f"-httpAddr=127.0.0.1:{http}",
        f"-dataDir={disk}/data", f"-ethKeystorePath={disk}/keys",
    ]  # fmt: skip
    node = subprocess.Popen(
        [program, *words], cwd=disk, env={"LP_KAFKAPASSWORD": SECRET, "HOME": "/root"},
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    yield World(disk, host, node)
    node.kill()
    node.wait()
    host.close()


def test_running_node_becomes_a_spec_and_then_a_plan(world: World) -> None:
    done = world.adopt("--yes", "-o", "fleet.toml", "--set", "fleet.node_release=v0.9.1")
    assert done.returncode == 0, done.stderr
    assert "reads on gpu-1, and changes nothing there" in done.stderr
    assert "error" not in done.stderr
    spec = (world.directory / "fleet.toml").read_text()
    assert SECRET not in spec + done.stdout + done.stderr
    for line in (
        f'address = "{ACCOUNT}"', f'password = {{ host_file = "{world.directory}/password" }}',
        'rpc = { env = "GPU_1_RPC_URL" }', "max_sessions = 12", f"ssh_port = {world.host.port}",
        f'data_dir = "{world.directory}/data"',
    ):  # fmt: skip
        assert line in spec
    for place in ("opt/fleetc", "var-lib/fleetc", "etc/fleetc"):
        assert not (world.host.files / place).exists()
    assert world.node.poll() is None

    environment = {"GPU_1_RPC_URL": "https://rpc.example.net"}
    assert world.fleetc("compile", "fleet.toml").returncode == 0
    plan = world.fleetc("deploy", "fleet.toml", "--check", environment=environment).stdout
    assert f"takes the place of process {world.node.pid} (orchestrator-gpu-1), by the same data directory" in plan
    assert re.search(r"settings: [0-9]+ compared, 0 differ", plan), plan
    assert "the first rollout restarts it once: " in plan
    assert "until then its ports are taken" in plan
    assert SECRET not in plan

    (world.directory / "fleet.toml").write_text(spec.replace("max_sessions = 12", "max_sessions = 30"))
    assert world.fleetc("compile", "fleet.toml").returncode == 0
    plan = world.fleetc("deploy", "fleet.toml", "--check", environment=environment).stdout
    assert "-maxSessions: 12 -> 30" in plan


def test_nothing_is_read_without_a_yes(world: World) -> None:
    done = world.adopt("-o", "other.toml")
    assert done.returncode == 2
    assert "add --yes" in done.stderr
    assert not (world.directory / "other.toml").exists()
    assert "could not be reached" not in done.stderr


def test_host_that_cannot_be_reached_is_named(world: World) -> None:
    done = world.fleetc("adopt", "--from", "gpu-1=nobody@127.0.0.1:1", "--yes")
    assert done.returncode == 3
    assert "error[adopt-host-unread]: host gpu-1" in done.stderr
