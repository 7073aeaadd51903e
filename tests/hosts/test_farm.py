"""The farm's own test: its hosts are what the deploy tests take them for, and nothing of it outlives it."""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.farm.farm import STANDIN_IMAGE, Farm, FarmError, Host, HostSpec
from tests.farm.image import compile_standin
from tests.farm.system import cgroup_hierarchies

pytestmark = [pytest.mark.hosts, pytest.mark.usefixtures("processes")]

# Each word holds something that a unit file, a shell, Compose or a log would gladly read as its own.
NASTY = [
    *("two words", "it's", 'a "quoted" word', "100%", "%n", "$HOME", "${HOME}", "$$", "back\\slash", "\\x41"),
    *(
        "line\nbreak",
        "tab\t",
        "; true",
        ";",
        "",
        " lead",
        "é😀",
        "a=b=c",
        "#no comment",
        "*",
        "-",
        "--",
        "{{ x }}",
    ),
]


def quoted(text: str) -> str:
    """Any text as one quoted word of a unit file: every byte that is not a plain letter or digit is escaped.

    systemd resolves % (everywhere) and $ (in ExecStart) in what the escapes stand for: double them before.
    """
    return '"' + "".join(chr(b) if b < 128 and chr(b).isalnum() else f"\\x{b:02x}" for b in text.encode()) + '"'


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


def wait_until(condition: Callable[[], bool]) -> None:
    """Try fifty times, a tenth of a second apart."""
    for _ in range(50):
        if condition():
            return
        time.sleep(0.1)
    pytest.fail("it did not happen in time")


def status_page(host: Host, port: int) -> dict[str, object]:
    """What the node's status page says on a host, asked from the host itself."""
    script = f"import urllib.request as u; print(u.urlopen('http://127.0.0.1:{port}/status').read().decode())"
    done = host.run("python3", "-c", script)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert isinstance(answer, dict)
    return answer


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


def test_words_arrive_over_ssh_as_they_are(farm: Farm) -> None:
    done = farm.hosts["h1"].run("python3", "-c", "import json, sys; print(json.dumps(sys.argv[1:]))", *NASTY)
    assert json.loads(done.stdout) == NASTY


def test_ansible_reaches_every_host(farm: Farm, tmp_path: Path) -> None:
    inventory = tmp_path / "hosts.json"
    common = {
        "ansible_user": farm.ssh_user,
        "ansible_port": farm.ssh_port,
        "ansible_ssh_private_key_file": str(farm.ssh_private_key),
        "ansible_ssh_common_args": f"-o UserKnownHostsFile={farm.known_hosts} -o StrictHostKeyChecking=yes",
        "ansible_python_interpreter": "/usr/bin/python3",
    }
    hosts = {host.name: {"ansible_host": host.address} for host in farm.hosts.values()}
    inventory.write_text(json.dumps({"all": {"hosts": hosts, "vars": common}}))
    ansible = Path(sys.executable).with_name("ansible")
    environment = {**os.environ, "ANSIBLE_HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}
    argv = [str(ansible), "-i", str(inventory), "all", "-m", "ansible.builtin.ping", "-o"]
    done = farm.controller(argv, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count('"ping": "pong"') == 3


def test_real_systemd_passes_nasty_arguments_and_they_read_back_exactly(farm: Farm) -> None:
    host = farm.hosts["h2"]
    argv = ["/usr/local/bin/livepeer", "-gateway", "-cliAddr=127.0.0.1:5935", *NASTY]
    words = [quoted(word.replace("%", "%%").replace("$", "$$")) for word in argv]
    variable = quoted("NASTY=" + " ".join(NASTY).replace("%", "%%"))
    unit = f"[Service]\nType=exec\nExecStart={' '.join(words)}\nEnvironment={variable}\n"
    host.write("/etc/systemd/system/nasty.service", unit.encode())
    host.run("systemctl", "daemon-reload")
    started = host.run("systemctl", "start", "nasty.service")
    assert started.returncode == 0, started.stderr + host.run("journalctl", "-u", "nasty").stdout

    (process,) = host.processes("livepeer")
    assert process.argv == [word.encode() for word in argv]
    assert process.environ[b"NASTY"] == " ".join(NASTY).encode()
    main_pid = host.run("systemctl", "show", "--value", "--property=MainPID", "nasty.service").stdout
    assert process.pid == int(main_pid)
    wait_until(lambda: "listens" in host.run("journalctl", "-u", "nasty", "-o", "cat").stdout)
    assert status_page(host, 5935)["Version"] == "0.9.1-standin"

    host.run("systemctl", "stop", "nasty.service")
    assert host.processes("livepeer") == []
    result = host.run("systemctl", "show", "--value", "--property=Result", "nasty.service").stdout
    assert result == "success\n"


def test_compose_runs_the_stand_in_image_and_its_arguments_read_back_exactly(farm: Farm) -> None:
    host = farm.hosts["h3"]
    command = ["-orchestrator", "-transcoder", "-cliAddr=0.0.0.0:7935", "words", *NASTY]  # flags end at a bare word
    service = {
        "image": STANDIN_IMAGE,
        "command": [word.replace("$", "$$") for word in command],
        "environment": {"NASTY": "it's $$HOME"},
        "ports": ["127.0.0.1:7935:7935"],
        "healthcheck": {
            "test": ["CMD", "wget", "-q", "-O", "-", "http://127.0.0.1:7935/status"],
            "interval": "1s",
        },
    }
    # JSON is YAML, but for its escapes of characters beyond 16 bits.
    compose = json.dumps({"services": {"node": service}}, ensure_ascii=False)
    host.write("/srv/node/compose.yaml", compose.encode())
    up = host.run("docker", "compose", "--project-directory", "/srv/node", "up", "-d", "--wait")
    try:
        assert up.returncode == 0, up.stderr
        (process,) = host.processes("livepeer")
        assert process.argv == [word.encode() for word in ["/usr/local/bin/livepeer", *command]]
        assert process.environ[b"NASTY"] == b"it's $HOME"
        assert status_page(host, 7935)["Version"] == "0.9.1-standin"
    finally:
        host.run("docker", "compose", "--project-directory", "/srv/node", "down")
    assert host.processes("livepeer") == []


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


def test_a_docker_host_reboots_with_its_engine_and_images(farm: Farm) -> None:
    host = farm.hosts["h3"]
    host.write("/run/before", b"")
    host.reboot()
    with pytest.raises(FileNotFoundError):
        host.read("/run/before")
    assert STANDIN_IMAGE in host.run("docker", "images", "--format", "{{.Repository}}:{{.Tag}}").stdout


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


def test_the_stand_in_ends_as_the_node_does_when_a_port_is_taken(farm: Farm, tmp_path: Path) -> None:
    standin = compile_standin(tmp_path)
    taken = str(farm.ssh_port)
    host = farm.hosts["h1"]
    host.write("/srv/standin", standin.read_bytes(), 0o755)
    gateway = host.run("/srv/standin", "-gateway", f"-rtmpAddr=0.0.0.0:{taken}")
    assert gateway.returncode == 0
    assert "-rtmpAddr: listen tcp" in gateway.stderr
    assert "Address already in use" in gateway.stderr
    orchestrator = host.run("/srv/standin", "-orchestrator", "-transcoder", f"-httpAddr=https://0.0.0.0:{taken}")
    assert orchestrator.returncode == 2
