"""The commands of the guide's pages about rollouts, run on real hosts as they stand there, with its own fleet.

An overlay gives the fleet the addresses of the farm and short times; the node and the driver of its GPU are stand-ins.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.test_pages import FLEET, GUIDE, blocks
from tests.farm.farm import STANDIN_IMAGE, Farm
from tests.hosts.test_deploy import ACCOUNTS, CANARY, Rollout
from tests.keystores import key_file

pytestmark = pytest.mark.usefixtures("processes")

OVERLAY = """
[fleet]
image = "{image}"

[hosts.edge-1]
address = "{edge}"
ssh_port = {port}

[hosts.gpu-1]
address = "{gpu}"
ssh_port = {port}

[rollout]
stable = "1s"
deadline = "12s"
confirm = "20s"
"""


class Copied(Rollout):
    """The fleet of the guide."""

    def __init__(self, farm: Farm, directory: Path) -> None:
        self.farm, self.directory = farm, directory
        self.hosts = {"edge-1": farm.hosts["h3"], "gpu-1": farm.hosts["h1"]}
        (directory / "fleet.toml").write_text(FLEET, encoding="utf-8")
        edge, gpu = (host.address for host in self.hosts.values())
        overlay = OVERLAY.format(image=STANDIN_IMAGE, edge=edge, gpu=gpu, port=farm.ssh_port)
        (directory / "farm.toml").write_text(overlay, encoding="utf-8")

    def provide(self) -> None:
        """What FLEET.md lists."""
        for host in self.hosts.values():
            for account, who in zip(ACCOUNTS, ("payer", "earner"), strict=True):
                host.write(f"/var/lib/livepeer/keystore/UTC--{account}", key_file(account, who.encode()), 0o600)
                host.write(f"/etc/livepeer/{who}-password", who.encode(), 0o600)
            host.run("useradd", "--system", "--no-create-home", "livepeer")
            host.run("chown", "-R", "livepeer", "/etc/livepeer", "/var/lib/livepeer")
        self.hosts["gpu-1"].write("/usr/local/bin/nvidia-smi", b"#!/bin/sh\necho 0, GPU-1, RTX 4090\n", 0o755)

    def clear(self) -> None:
        super().clear()
        self.hosts["gpu-1"].run("rm", "/usr/local/bin/nvidia-smi")

    @property
    def environment(self) -> dict[str, str]:
        """The shell of whoever reads the guide: the command is on its PATH, the secret is set."""
        programs = f"{self.directory.with_name('bin')}{os.pathsep}{os.environ['PATH']}"
        kept = {name: value for name, value in super().environment.items() if name.startswith("FLEETC_SSH")}
        home = self.directory.with_name("home")  # the journal must not be part of the checkout
        home.mkdir(exist_ok=True)
        own = {"PATH": programs, "HOME": str(home), "FLEETC_OVERLAY": "farm.toml"}
        return {**kept, **own, "ARBITRUM_RPC_URL": f"https://rpc.example.net/{CANARY}"}

    def write_command(self) -> None:
        """Put fleetc on the PATH, as somebody has it whose fleet has a chain and names: this farm has neither."""
        command = self.directory.with_name("bin") / "fleetc"
        command.parent.mkdir()
        skip = " ".join(f"--skip {code}=none-here" for code in ("rpc-answers", "service-address-leads-here"))
        fleetc = Path(sys.executable).with_name("fleetc")
        asking = f'case "$1" in deploy) exec {fleetc} "$@" {skip} ;; esac'
        command.write_text(f'#!/bin/sh\n{asking}\nexec {fleetc} "$@"\n')
        command.chmod(0o755)

    def paste(self, script: str) -> str:
        """Run commands as they stand; what they said."""
        command = ["bash", "-euo", "pipefail", "-c", script]
        done = self.farm.controller(command, env=self.environment, cwd=self.directory, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
        assert CANARY not in done.stdout + done.stderr
        return done.stdout

    def price(self) -> str:
        """What the node itself says that it asks."""
        script = "import sys, urllib.request as r; sys.stdout.write(r.urlopen(sys.argv[1], timeout=5).read().decode())"
        done = self.hosts["gpu-1"].run("python3", "-c", script, "http://127.0.0.1:7935/status")
        return str(json.loads(done.stdout)["BroadcasterPrices"]["default"])


@pytest.fixture
def fleet(farm: Farm, tmp_path: Path) -> Iterator[Copied]:
    (tmp_path / "fleet").mkdir()
    made = Copied(farm, tmp_path / "fleet")
    made.provide()
    made.write_command()
    yield made
    made.clear()


def test_commands_of_the_guide(fleet: Copied) -> None:
    subprocess.run(["git", "init", "--quiet", str(fleet.directory)], check=True)
    ((_, first),) = blocks(GUIDE["fleet"], "sh")
    (rollout,) = [script for words, script in blocks(GUIDE["rollout"], "sh") if words == "rollout"]
    fleet.paste(first)
    assert fleet.price() == "1200"
    *forward, back = rollout.splitlines()
    said = fleet.paste("\n".join(forward))
    assert said.count("2 hosts checked, nothing was changed") == 2
    assert "2 hosts: 2 unchanged" in said, "the first rollout was that of the page about a fleet"
    assert "gpu-1: would change orch-a live: it takes pricePerUnit=1250 while it runs" in said
    assert fleet.price() == "1250"
    assert back.startswith("fleetc rollback")
    fleet.paste(back)
    assert fleet.price() == "1200", "the rollback"
