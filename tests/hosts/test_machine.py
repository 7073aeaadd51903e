"""Troubles of the machine itself in a rollout: its disks, Docker, its network, and another runtime.

The tests run in their order on one fleet; each leaves all hosts at the release of the spec.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from tests.farm.farm import Farm, Host
from tests.farm.image import STANDIN_PATH
from tests.hosts.switches import STATE, in_phase, wait
from tests.hosts.test_deploy import lent
from tests.hosts.test_moves import Moving

pytestmark = pytest.mark.usefixtures("processes")

EDGE = b"-dataDir=/var/lib/livepeer/edge"


@pytest.fixture(scope="module")
def fleet(farm: Farm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Moving]:
    """The fleet deployed once; the hosts are bare again afterwards."""
    yield from lent(Moving(farm, tmp_path_factory.mktemp("fleet")), Moving.release)


@contextmanager
def full_disk(host: Host, path: str) -> Iterator[None]:
    """A directory of a host on a small disk of its own, with what it held, and full."""
    aside = "cp -a {0}/. /mnt/kept/ && mount -t tmpfs -o size=2m tmpfs {0} && cp -a /mnt/kept/. {0}/"
    done = host.run("sh", "-c", f"mkdir -p /mnt/kept && {aside.format(path)} && rm -rf /mnt/kept")
    assert done.returncode == 0, done.stderr
    host.run("sh", "-c", f"cat /dev/zero > {path}/filler")
    try:
        yield
    finally:
        host.run("sh", "-c", f"rm -f {path}/filler; mkdir -p /mnt/kept && cp -a {path}/. /mnt/kept/")
        back = f"umount -l {path} && cp -a /mnt/kept/. {path}/ && rm -rf /mnt/kept && systemctl daemon-reload"
        assert host.run("sh", "-c", back).returncode == 0


FULL = ("/etc/fleetc", "/etc/systemd/system", "/opt/fleetc/releases")


def refused(fleet: Moving) -> list[str]:
    """A rollout that a machine refuses, what it says of it, and that nothing changed."""
    before, pids = fleet.runs(), fleet.pids()
    fleet.release()
    done = fleet.deploy()
    assert done.returncode == 1, done.stdout + done.stderr
    assert (fleet.runs(), fleet.pids()) == (before, pids)
    return [line for line in (done.stdout + done.stderr).splitlines() if "one: " in line]


def test_full_disks_are_refused_with_their_places(fleet: Moving) -> None:
    with ExitStack() as disks:
        for path in FULL:
            disks.enter_context(full_disk(fleet.hosts["one"], path))
        said = refused(fleet)
    for path in FULL:
        assert any(f"one: {path} has 0 MB" in line for line in said), said


def test_full_disk_for_records_is_refused_with_its_place(fleet: Moving) -> None:
    with full_disk(fleet.hosts["one"], STATE):
        said = refused(fleet)
    assert any(STATE in line and "No space left on device" in line for line in said), said


def test_directories_that_take_no_writes_are_refused_with_their_places(fleet: Moving) -> None:
    """The rest of their file system does."""
    one, places = fleet.hosts["one"], ("/etc/systemd/system", "/opt/fleetc/current")
    for path in places:
        assert one.run("sh", "-c", f"mount --bind {path} {path} && mount -o remount,bind,ro {path}").returncode == 0
    try:
        said = refused(fleet)
    finally:
        one.run("umount", *places)
    for path in places:
        assert any(f"one: {path} takes no writes" in line for line in said), said


SLOW_SYNC = b'#!/bin/sh\nsleep 4\nexec /usr/bin/sync "$@"\n'


@pytest.mark.parametrize("loss", ["network", pytest.param("power", marks=pytest.mark.slow)])
def test_host_that_is_lost_while_its_release_comes(fleet: Moving, loss: str) -> None:
    """Its disk is slow, so that there is time to lose it before the release is complete there."""
    before, one = fleet.runs(), fleet.hosts["one"]
    one.write("/usr/local/bin/sync", SLOW_SYNC, 0o755)
    fleet.release()
    rollout = fleet.begin()
    wait(lambda: one.run("test", "-e", "/opt/fleetc/releases/.new/.wanted.json").returncode == 0, 60, "nothing comes")
    one.cut_network() if loss == "network" else one.power_cut()
    try:
        said = rollout.communicate(timeout=120)[0]
    finally:
        one.restore_network() if loss == "network" else one.power_on()
        one.run("rm", "/usr/local/bin/sync")
    assert rollout.returncode == 1, said
    assert "one: could not be reached" in said
    assert fleet.runs() == before
    fleet.heals()


def test_docker_that_is_down_is_refused(fleet: Moving) -> None:
    three = fleet.hosts["three"]
    fleet.change(('host = "three"\nmode = "video"', 'host = "three"\nmode = "video"\nmax_sessions = 7'))
    three.run("systemctl", "stop", "docker.socket", "docker.service")
    try:
        done = fleet.deploy()
    finally:
        three.run("systemctl", "start", "docker.service")
        three.wait_ready()
    assert done.returncode == 1, done.stdout + done.stderr
    assert "error[docker-answers]: three: Docker does not answer" in done.stderr
    wait(lambda: fleet.homes("edge") == ["three"], 60, "Docker does not start its container again")
    fleet.change()


def test_host_that_is_cut_off_after_its_switch_goes_back_by_itself(fleet: Moving) -> None:
    """It waits its 20 seconds for a confirmation."""
    before, one = fleet.runs(), fleet.hosts["one"]
    fleet.release("slow=2")
    rollout = fleet.begin()
    in_phase(one, "switching", "watching")
    one.cut_network()
    try:
        in_phase(one, "healthy")
        begun = time.monotonic()
        said = rollout.communicate(timeout=120)[0]
        in_phase(one, "reverted", seconds=60)
        assert 15 < time.monotonic() - begun < 50
    finally:
        one.restore_network()
    assert rollout.returncode == 5, said
    assert "without a confirmation it goes back by itself" in said and "UNKNOWN" in said
    assert fleet.runs() == before
    fleet.heals()


@pytest.mark.parametrize("runtime", ["systemd", "docker"])
def test_other_runtime_is_a_move(fleet: Moving, runtime: str) -> None:
    """From containers to units, and back: the node stops as the one before it starts as the other."""
    three = fleet.hosts["three"]
    if runtime == "systemd":
        three.write(STANDIN_PATH, fleet.hosts["one"].read(STANDIN_PATH), 0o755)
    fleet.change(*([('runtime = "docker"', 'runtime = "systemd"')] if runtime == "systemd" else []))
    with fleet.sampled(EDGE) as counts:
        fleet.deployed()
    assert max(counts) == 1 and min(counts) == 0
    assert fleet.homes("edge") == ["three"]
    unit = three.run("systemctl", "is-active", "livepeer-edge.service").stdout.strip()
    container = three.run("docker", "ps", "--all", "--quiet", "--filter", "name=livepeer-edge").stdout.strip()
    assert (unit == "active", container == "") == (runtime == "systemd", runtime == "systemd")
    assert "3 hosts: 3 unchanged" in fleet.deployed()
