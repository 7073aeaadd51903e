"""`fleetc deploy --check` on real hosts: all that they lack, at its lines of the spec, before anything changes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.chain import ARBITRUM, anvil
from tests.farm.farm import Farm
from tests.hosts.test_deploy import SKIPPED, Rollout

pytestmark = pytest.mark.usefixtures("processes")


@pytest.fixture(scope="module")
def fleet(farm: Farm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rollout]:
    """A fleet that was never rolled out, on hosts with all that their owner provides."""
    made = Rollout(farm, tmp_path_factory.mktemp("fleet"))
    made.provide()
    made.compile()
    yield made
    made.clear()


def test_hosts_with_all_that_they_need(fleet: Rollout) -> None:
    done = fleet.fleetc("deploy", "--check", str(fleet.directory), *SKIPPED)
    assert done.returncode == 0 and "error" not in done.stderr, done.stderr
    assert done.stdout.endswith("3 hosts checked, nothing was changed\n")
    spec = fleet.directory / "fleet.toml"
    text = spec.read_text(encoding="utf-8")
    spec.write_text(text.replace(fleet.farm.images[0], "127.0.0.1:9/nobody/has"), encoding="utf-8")
    fleet.compile()
    found = fleet.fleetc("deploy", "--check", str(fleet.directory), *SKIPPED)
    spec.write_text(text, encoding="utf-8")
    fleet.compile()
    assert "error[images-present]: three: 127.0.0.1:9/nobody/has:v0.9.1 is not here, and Docker cannot" in found.stderr
    assert found.returncode == 1 and found.stderr.count("error[") == 1, "a host without Docker needs no image"


def test_hosts_ask_the_chain(fleet: Rollout) -> None:
    """The chain is right but for its contracts, and the accounts there have nothing."""
    farm, port = fleet.farm, 8545
    process = subprocess.Popen(["nsenter", f"--net=/run/netns/{farm.namespace}", *anvil(farm.address, port, ARBITRUM)])
    try:
        where = {"FARM_RPC_URL": f"http://{farm.address}:{port}"}
        ready = f"import socket; socket.create_connection(('{farm.address}', {port}), 5)"
        while farm.controller([sys.executable, "-c", ready], timeout=20).returncode:
            assert process.poll() is None, "anvil does not start"
        found = fleet.fleetc("deploy", "--check", str(fleet.directory), *SKIPPED, **where)
        skip = ("--skip", "rpc-of-this-chain=a chain of the test", "--skip", "wallet-empty=a chain of the test")
        warned = fleet.fleetc("deploy", "--check", str(fleet.directory), *SKIPPED, *skip, **where)
    finally:
        process.kill()
        process.wait()
    assert found.returncode == 1 and "has no TicketBroker on chain 42161" in found.stderr, found.stderr
    assert where["FARM_RPC_URL"] not in found.stdout + found.stderr
    assert warned.returncode == 0, warned.stderr
    assert "warning[wallet-balance-low]: " in warned.stderr and "error" not in warned.stderr


def test_everything_that_is_missing_is_named_at_once_and_stops_a_rollout(fleet: Rollout) -> None:
    one, two, three = fleet.hosts.values()
    one.run("sh", "-c", "rm /var/lib/livepeer/keystore/*")
    one.write("/etc/livepeer/password", b"wrong", 0o600)
    two.write("/etc/livepeer/password", b"wrong", 0o600)
    two.run("systemd-run", "--unit=stranger", "python3", "-m", "http.server", "9935")
    three.cut_network()
    try:
        done = fleet.fleetc("deploy", "--check", str(fleet.directory), *SKIPPED, FLEETC_CONNECT_TIMEOUT="4")
    finally:
        three.restore_network()
    assert done.returncode == 1
    said = done.stderr
    assert "error[keystore-holds-account]: one: /var/lib/livepeer/keystore has no key file of 0x2222" in said
    assert "error[password-opens-key]: two: the password from /etc/livepeer/password does not open" in said
    assert "error[ports-free]: two: " in said and "9935" in said
    assert done.stdout.count("three") == 1 and "could not be reached" in done.stdout
    assert "note: three: try it from here: ssh" in said and said.count("three") == 1
    assert "fleet.toml:" in said
    deployed = fleet.deploy()
    assert deployed.returncode == 1, deployed.stdout
    assert "error[keystore-holds-account]: one" in deployed.stderr
    assert "3 hosts: 3 not begun" in deployed.stdout
    for host in (one, two):
        assert host.run("ls", "/opt/fleetc/current").returncode != 0
    two.run("systemctl", "stop", "stranger")
    fleet.provide()
