"""Secrets that commands print, on real hosts: handed over in files where systemd starts the node, else as variables.

The password manager is a stand-in: a script that counts how often it is asked. The tests run in their order.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.farm.farm import Farm
from tests.hosts.test_deploy import ACCOUNTS, Rollout, process_of

pytestmark = pytest.mark.usefixtures("processes")

SPEC = """
spec = 1

[fleet]
name = "farm"
network = "arbitrum-one-mainnet"
rpc = {{ env = "FARM_RPC_URL" }}
node_release = "v0.9.1"
image = "{image}"

[hosts.one]
address = "{h1}"
public = "one.example.net"
runtime = "systemd"
ssh_port = {port}

[hosts.three]
address = "{h3}"
public = "three.example.net"
runtime = "docker"
ssh_port = {port}

[wallets.earner]
address = "{account}"
keystore = "/var/lib/livepeer/keystore"
password = {{ command = "earner-password" }}
reward_by = "orch-a"
minimum_balance = "0.05 ETH"

[orchestrators.orch-a]
host = "one"
mode = "video"
wallet = "earner"
price = "{price} wei / pixel"
secret = {{ command = "orch-secret" }}
secret_environment = {{ PULL_KEY = {{ command = "pull-key" }} }}

[transcoders.worker]
host = "three"
orchestrator = "orch-a"
secret = {{ command = "orch-secret" }}

[rollout]
stable = "1s"
deadline = "12s"
confirm = "20s"
live = "never"
"""
KEPT = {"earner-password": "hunter2", "orch-secret": 'one "two" $HOME \\ é', "pull-key": "kept-9b41"}
PASSWORD, SECRET = "LP_ETHPASSWORD", "LP_ORCHSECRET"


class Keeping(Rollout):
    """A fleet whose secrets all come from a password manager."""

    @property
    def keeper(self) -> Path:
        return self.directory.with_name(f"{self.directory.name}-keeper")

    def write(self, price: int, orch_a: str = "") -> None:
        hosts = {name: self.farm.hosts[name].address for name in ("h1", "h3")}
        text = SPEC.format(
            image=self.farm.images[0], price=price, port=self.farm.ssh_port, account=ACCOUNTS[1], **hosts
        )
        (self.directory / "fleet.toml").write_text(text, encoding="utf-8")

    def keep(self, name: str, secret: str) -> None:
        """Put a secret into the password manager."""
        self.keeper.mkdir(exist_ok=True)
        (self.keeper / name).write_text(secret + "\n", encoding="utf-8")
        program = self.keeper / "program"
        program.write_text(f'#!/bin/sh\necho "$1" >> {self.keeper}/asked\nexec cat {self.keeper}/"$1"\n')
        program.chmod(0o700)

    def asked(self) -> list[str]:
        """What the password manager was asked since the last look, in order."""
        file = self.keeper / "asked"
        found = file.read_text().split() if file.exists() else []
        file.unlink(missing_ok=True)
        return found

    @property
    def environment(self) -> dict[str, str]:
        commands = {name: [str(self.keeper / "program"), name] for name in KEPT}
        return {**super().environment, "FLEETC_SECRET_COMMANDS": json.dumps(commands)}

    def variable(self, node: str, name: str) -> str:
        service = self.service(node)
        (host,) = [host for _, one, host in self.services() if one.name == node]
        return process_of(host, service).environ.get(name.encode(), b"").decode()

    def credential(self, name: str) -> str:
        """What orch-a reads for a variable, as its own user."""
        path = self.variable("orch-a", name)
        assert path == f"/run/credentials/livepeer-orch-a.service/{name}"
        done = self.hosts["one"].run("runuser", "-u", "livepeer", "--", "cat", path)
        assert done.returncode == 0, done.stderr
        return str(done.stdout)


@pytest.fixture(scope="module")
def fleet(farm: Farm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keeping]:
    made = Keeping(farm, tmp_path_factory.mktemp("fleet"))
    made.provide()
    made.compile()
    for name, secret in KEPT.items():
        made.keep(name, secret)
    yield made
    made.clear()


def test_secrets_arrive_and_each_command_runs_once(fleet: Keeping) -> None:
    done = fleet.deploy()
    assert done.returncode == 0, done.stdout + done.stderr
    assert not [secret for secret in KEPT.values() if secret in done.stdout + done.stderr]
    assert fleet.asked() == sorted(KEPT)
    assert fleet.credential(PASSWORD) == KEPT["earner-password"]
    assert fleet.credential(SECRET) == KEPT["orch-secret"]
    assert fleet.variable("worker", SECRET) == KEPT["orch-secret"], "a container has no files from systemd"
    assert fleet.variable("orch-a", "PULL_KEY") == KEPT["pull-key"]


def test_files_are_for_the_user_of_the_node_and_the_environment_has_no_secret(fleet: Keeping) -> None:
    host = fleet.hosts["one"]
    environ = process_of(host, fleet.service("orch-a")).environ
    assert not [name for name, value in environ.items() if KEPT["orch-secret"].encode() in value]
    assert not [name for name, value in environ.items() if KEPT["earner-password"].encode() in value]
    path = fleet.variable("orch-a", SECRET)
    assert host.run("runuser", "-u", "nobody", "--", "cat", path).returncode != 0
    for name in ("secrets.env", PASSWORD, SECRET):
        assert host.run("stat", "-Lc", "%a %U", f"/etc/fleetc/orch-a/{name}").stdout.strip() == "600 root"
    assert host.run("stat", "-Lc", "%a %U", "/etc/fleetc/orch-a").stdout.strip() == "700 root"


def test_systemd_finds_nothing_wrong_with_the_unit(fleet: Keeping) -> None:
    done = fleet.hosts["one"].run("systemd-analyze", "verify", "/etc/systemd/system/livepeer-orch-a.service")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_node_that_ends_is_given_its_files_again(fleet: Keeping) -> None:
    before = fleet.pids()["orch-a"]
    fleet.hosts["one"].run("kill", "-9", str(before))
    end = time.monotonic() + 20
    while time.monotonic() < end and before in [one.pid for one in fleet.hosts["one"].processes("livepeer")]:
        time.sleep(0.2)
    time.sleep(6)  # RestartSec
    assert fleet.pids()["orch-a"] != before
    assert fleet.credential(SECRET) == KEPT["orch-secret"]


def test_new_secret_restarts_its_nodes_and_a_rollback_brings_the_old_one(fleet: Keeping) -> None:
    before = fleet.pids()
    fleet.keep("orch-secret", "only the secret is another")
    done = fleet.deploy()
    assert done.returncode == 0 and "2 hosts: 2 deployed" in done.stdout, done.stdout + done.stderr
    between = fleet.pids()
    assert all(between[node] != pid for node, pid in before.items())
    fleet.keep("orch-secret", "another one")
    fleet.write(price=1300)
    fleet.compile()
    done = fleet.deploy()
    assert done.returncode == 0, done.stdout + done.stderr
    assert fleet.credential(SECRET) == "another one" == fleet.variable("worker", SECRET)
    assert all(fleet.pids()[node] != pid for node, pid in between.items())
    fleet.asked()
    back = fleet.fleetc("rollback", str(fleet.directory))
    assert back.returncode == 0, back.stdout + back.stderr
    assert fleet.credential(SECRET) == "only the secret is another"
    assert fleet.asked() == [], "hosts keep the secrets of their releases"
