"""The farm's own test: its hosts are what the deploy tests take them for, and nothing of it outlives it."""

from pathlib import Path

import pytest

from tests.farm.farm import Farm, FarmError, HostSpec
from tests.farm.system import cgroup_hierarchies

pytestmark = [pytest.mark.hosts, pytest.mark.usefixtures("processes")]


def leftovers(farm: Farm) -> list[str]:
    """All on this machine that carries the farm's name: namespaces, mounts, groups, processes, its folder."""
    found = [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if farm.name in line]
    found += [str(path) for path in Path("/run/netns").iterdir() if farm.name in path.name]
    found += [str(path) for root in cgroup_hierarchies() for path in root.glob(f"{farm.name}*")]
    found += [str(path) for path in [farm.directory] if path.exists()]
    for proc in Path("/proc").glob("[0-9]*"):
        try:
            texts = proc.joinpath("cmdline").read_bytes() + proc.joinpath("cgroup").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if farm.name.encode() in texts:
            found.append(str(proc))
    return found


def test_every_host_is_up_under_its_own_systemd(farm: Farm) -> None:
    assert list(farm.hosts) == ["h1", "h2", "h3"]
    for host in farm.hosts.values():
        failed = host.run("systemctl", "list-units", "--failed", "--no-legend").stdout
        assert host.run("systemctl", "is-system-running").stdout == "running\n", failed
        assert host.run("hostname").stdout == f"{host.name}\n"
        assert host.read("/proc/1/comm") == b"systemd\n"
        assert host.run("systemctl", "is-active", "no-such.service").returncode != 0


def test_hosts_have_disks_of_their_own(farm: Farm) -> None:
    farm.hosts["h1"].write("/srv/only here/file", b"\x00\xff", 0o640)
    assert farm.hosts["h1"].read("/srv/only here/file") == b"\x00\xff"
    assert farm.hosts["h1"].run("stat", "-c", "%a %U", "/srv/only here/file").stdout == "640 root\n"
    with pytest.raises(FileNotFoundError, match=r"h2.*No such file"):
        farm.hosts["h2"].read("/srv/only here/file")


def test_ssh_accepts_only_known_host_keys(farm: Farm, tmp_path: Path) -> None:
    host = farm.hosts["h1"]
    command = ["ssh", *host.ssh_options(), f"root@{host.address}", "true"]
    assert farm.controller(command).returncode == 0

    other = farm.hosts["h2"].known_hosts_line().replace(farm.hosts["h2"].address, host.address)
    for known, refusal in (("", "Host key verification failed"), (other, "HOST IDENTIFICATION HAS CHANGED")):
        wrong = tmp_path / "known_hosts"
        wrong.write_text(known)
        done = farm.controller([word.replace(str(farm.known_hosts), str(wrong)) for word in command])
        assert done.returncode == 255
        assert refusal in done.stderr


def test_hosts_reach_each_other_by_name_and_nothing_outside(farm: Farm) -> None:
    connect = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), 5)"
    assert farm.hosts["h1"].run("python3", "-c", connect, "h2", str(farm.ssh_port)).returncode == 0
    outside = farm.hosts["h1"].run("python3", "-c", connect, "192.0.2.1", "80")
    assert "Network is unreachable" in outside.stderr


def test_a_cut_host_is_silent_until_its_network_is_restored(farm: Farm) -> None:
    host = farm.hosts["h1"]
    host.cut_network()
    try:
        assert host.run("true").returncode == 255
        assert farm.hosts["h2"].run("true").returncode == 0
        assert host.read("/etc/hostname") == b"h1\n"
    finally:
        host.restore_network()
    assert host.run("true").returncode == 0


def test_a_host_that_lost_power_comes_back_with_its_disk(farm: Farm) -> None:
    host = farm.hosts["h1"]
    host.write("/run/gone", b"memory")
    host.write("/srv/kept", b"disk")
    host.power_cut()
    try:
        assert host.run("true").returncode == 255
        assert host.read("/srv/kept") == b"disk"
    finally:
        host.power_on()
    assert host.read("/srv/kept") == b"disk"
    with pytest.raises(FileNotFoundError):
        host.read("/run/gone")


def test_images_get_every_name_asked_for_and_the_end_leaves_nothing_behind() -> None:
    names = ["livepeer/go-livepeer:v0.9.1", "example.org/other:1"]
    with Farm(hosts=[HostSpec("edge", docker=True), HostSpec("core")], images=names) as farm:
        listed = farm.hosts["edge"].run("docker", "images", "--format", "{{.Repository}}:{{.Tag}}")
        assert sorted(listed.stdout.split()) == sorted(names)
        farm.hosts["edge"].run("docker", "run", "-d", names[0], "-gateway")
        assert [process.argv[1:] for process in farm.hosts["edge"].processes("livepeer")] == [[b"-gateway"]]
        # What ansible does with its ssh connections: it leaves a process behind in the controller's network.
        lasting = f"python3 -c 'import time; time.sleep(600)' {farm.name} >/dev/null 2>&1 &"
        assert farm.controller(["sh", "-c", lasting]).returncode == 0
        assert leftovers(farm)
    assert leftovers(farm) == []


def test_a_farm_that_fails_after_booting_leaves_nothing_behind() -> None:
    farm = Farm(count=2, docker=("h2",), images=["Not A Reference"])
    with pytest.raises(FarmError, match="invalid reference format"), farm:
        pytest.fail("docker took a name with blanks for an image")
    assert leftovers(farm) == []


@pytest.mark.parametrize("name", ["", "two words", "a/b", "-x", "UPPER"])
def test_a_host_name_that_is_none_is_refused_before_anything_is_made(name: str) -> None:
    with pytest.raises(ValueError, match="host name"):
        Farm(hosts=[HostSpec(name)])
