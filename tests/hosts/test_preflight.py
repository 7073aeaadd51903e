"""`fleetc preflight` on real hosts: all that they lack, at its lines of the spec, before anything changes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.farm import Farm
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
    done = fleet.fleetc("preflight", str(fleet.directory), *SKIPPED)
    assert (done.returncode, done.stdout) == (0, "3 hosts asked: nothing keeps the release from running\n"), done.stderr


def test_everything_that_is_missing_is_named_at_once_and_stops_a_rollout(fleet: Rollout) -> None:
    one, two, three = fleet.hosts.values()
    one.run("sh", "-c", "rm /var/lib/livepeer/keystore/*")
    one.write("/etc/livepeer/password", b"wrong")
    two.write("/etc/livepeer/password", b"wrong")
    two.run("systemd-run", "--unit=stranger", "python3", "-m", "http.server", "9935")
    three.cut_network()
    try:
        done = fleet.fleetc("preflight", str(fleet.directory), *SKIPPED, FLEETC_CONNECT_TIMEOUT="4")
    finally:
        three.restore_network()
    assert done.returncode == 1
    said = done.stderr
    assert "error[keystore-holds-account]: one: /var/lib/livepeer/keystore has no key file of 0x2222" in said
    assert "error[password-opens-key]: two: the password from /etc/livepeer/password does not open" in said
    assert "error[ports-free]: two: " in said and "9935" in said
    assert "error[host-unreachable]: three: could not be reached" in said
    assert "fleet.toml:" in said
    deployed = fleet.deploy()
    assert deployed.returncode == 1, deployed.stdout
    assert "error[keystore-holds-account]: one" in deployed.stderr
    assert "3 hosts: 3 not begun" in deployed.stdout
    for host in (one, two):
        assert host.run("ls", "/opt/fleetc/current").returncode != 0
    two.run("systemctl", "stop", "stranger")
    fleet.provide()
