"""What breaks in a rollout, on real hosts: afterwards every host is wholly of one release, and the next run heals it.

The tests run in their order on one fleet; each leaves all hosts at the release of the spec. Times are short. The node
is a stand-in that can be ill; sshd, systemd, Docker, Ansible and the command are real.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.farm.farm import Farm
from tests.hosts.switches import STATE, in_phase, journal_of, state_of, switch_of
from tests.hosts.test_deploy import CANARY, LACKING, Rollout, lent, process_of

pytestmark = pytest.mark.usefixtures("processes")

UNIT = "livepeer-orch-a.service"


class Faulty(Rollout):
    """The fleet of the deploy tests, whose first orchestrator gets another price, and illnesses, in each release."""

    price = 1200

    def release(self, ill: str = "") -> int:
        """Compile another release of the canary host; its price."""
        self.price += 1
        self.write(self.price, f'environment = {{ STANDIN_ILL = "{ill}" }}' if ill else "")
        self.compile()
        return self.price

    def runs(self) -> int:
        """The price of the release that the canary runs, wholly: arguments, unit, files, links and records agree."""
        host = self.hosts["one"]
        service = self.service("orch-a")
        prices = {int(re.search(rb"-pricePerUnit=(\d+)", b" ".join(process_of(host, service).argv))[1])}  # type: ignore[index]
        for path in (f"/etc/systemd/system/{UNIT}", "/opt/fleetc/current/orch-a/launch.flags"):
            prices.add(int(re.search(rb"-pricePerUnit=(\d+)", host.read(path))[1]))  # type: ignore[index]
        assert len(prices) == 1, prices
        link = host.run("readlink", "/opt/fleetc/current/orch-a").stdout.strip().split("/")[2]
        assert state_of(host)["release"] == link
        lines = [
            f"{name} 0644 {hashlib.sha256(host.read(f'/opt/fleetc/current/orch-a/{name}')).hexdigest()}\n"
            for name in ("launch.flags", UNIT, "node.env")
        ]
        marker = host.read(f"{STATE}/running/orch-a").decode().split()
        assert marker[0] == hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()
        secrets = f"secrets.env {hashlib.sha256(host.read('/etc/fleetc/orch-a/secrets.env')).hexdigest()}\n"
        assert marker[1] == hashlib.sha256(secrets.encode()).hexdigest()
        return prices.pop()

    def heals(self) -> None:
        """A rollout without illness brings every host to its release."""
        price = self.release()
        done = self.deploy()
        assert done.returncode == 0, done.stdout + done.stderr
        assert self.runs() == price


@pytest.fixture(scope="module")
def fleet(farm: Farm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faulty]:
    """The fleet deployed once; the hosts are bare again afterwards."""
    yield from lent(Faulty(farm, tmp_path_factory.mktemp("fleet")), Faulty.release)


def test_ill_host_takes_the_others_of_its_batch_back(fleet: Faulty) -> None:
    """Its batch has a host with a container too."""
    before, pids = fleet.runs(), fleet.pids()
    fleet.release("unwell")
    spec = fleet.directory / "fleet.toml"
    text = spec.read_text(encoding="utf-8").replace("canary = 1\n", "canary = 0\n")
    spec.write_text(text.replace("5000000 wei", "4000000 wei"), encoding="utf-8")
    fleet.compile()
    done = fleet.deploy()
    assert done.returncode == 4, done.stdout + done.stderr
    assert {line["what"] for line in journal_of(fleet.hosts["three"])} >= {"reverted"}
    assert fleet.runs() == before and fleet.pids()["orch-b"] == pids["orch-b"]
    fleet.heals()


def stock(fleet: Faulty, *options: str) -> subprocess.CompletedProcess[str]:
    """The playbook as it lies in the tree, run by ansible-playbook alone."""
    ssh = f"-o UserKnownHostsFile={fleet.farm.known_hosts} -o GlobalKnownHostsFile=/dev/null"
    given = {"ANSIBLE_SSH_EXTRA_ARGS": ssh, "ANSIBLE_PRIVATE_KEY_FILE": str(fleet.farm.ssh_private_key)}
    given |= {"ANSIBLE_TIMEOUT": "4", "ANSIBLE_NOCOLOR": "1", "FARM_RPC_URL": f"https://rpc.example.net/{CANARY}"}
    ansible = Path(sys.executable).with_name("ansible-playbook")
    skip = json.dumps({"fleet_host_skip": list(LACKING)})
    command = [str(ansible), "-e", f"@{fleet.directory / 'vault.yml'}", "-e", skip, "site.yml", *options]
    done = fleet.farm.controller(
        command, env={**os.environ, **given}, cwd=fleet.directory / "rendered/ansible", timeout=300
    )
    assert CANARY not in done.stdout + done.stderr
    return done


@pytest.mark.slow
def test_ansible_alone_keeps_the_same_promises(fleet: Faulty) -> None:
    before, pids = fleet.runs(), fleet.pids()
    price = fleet.release()
    fleet.hosts["one"].cut_network()
    try:
        cut = stock(fleet)
    finally:
        fleet.hosts["one"].restore_network()
    assert cut.returncode != 0
    assert (fleet.runs(), fleet.pids()) == (before, pids)
    done = stock(fleet)
    assert done.returncode == 0, done.stdout + done.stderr
    assert fleet.runs() == price
    fleet.release("unwell")
    ill = stock(fleet)
    assert ill.returncode != 0
    assert fleet.runs() == price
    fleet.heals()


@pytest.mark.parametrize(
    ("phase", "how"),
    [
        ("switching", "cut"),
        pytest.param("healthy", "cut", marks=pytest.mark.slow),
        pytest.param("healthy", "reboot", marks=pytest.mark.slow),
    ],
)
def test_host_that_is_switched_off_goes_back_when_it_boots(fleet: Faulty, phase: str, how: str) -> None:
    before, one = fleet.runs(), fleet.hosts["one"]
    fleet.release("slow=2" if phase == "switching" else "")
    rollout = fleet.begin()
    in_phase(one, *(["switching", "watching"] if phase == "switching" else ["healthy"]))
    rollout.send_signal(signal.SIGKILL) if phase == "healthy" else None
    one.power_cut() if how == "cut" else one.begin_reboot()
    try:
        rollout.communicate(timeout=120)
    finally:
        one.power_on() if how == "cut" else one.wait_ready()
    if switch_of(one):
        in_phase(one, "reverted", seconds=60)
        assert fleet.runs() == before
    fleet.heals()


@pytest.mark.slow
def test_host_whose_disk_takes_no_writes_for_a_while_goes_back_within_a_minute(fleet: Faulty) -> None:
    before, one = fleet.runs(), fleet.hosts["one"]
    fleet.release("slow=3")
    rollout = fleet.begin()
    in_phase(one, "watching")
    one.run("sh", "-c", "mount --bind /opt /opt && mount -o remount,bind,ro /opt")
    one.run("pkill", "-KILL", "-f", "fleetc_host.pyz carry-out")
    time.sleep(8)
    one.run("umount", "--lazy", "/opt")
    in_phase(one, "reverted", seconds=60)
    assert fleet.runs() == before
    said = rollout.communicate(timeout=120)[0]
    assert rollout.returncode == 4, said
    assert "going back: " in said and "Read-only file system" in said
    fleet.heals()


def test_host_in_quarantine_is_left_alone_until_somebody_clears_it(fleet: Faulty) -> None:
    """The old release is ill too: nobody knows what would be well."""
    one, pids = fleet.hosts["one"], fleet.pids(without="orch-a")
    fleet.release()
    one.write("/var/lib/livepeer/orch-a/standin-ill", b"exit=1")
    try:
        done = fleet.deploy()
        assert done.returncode == 5, done.stdout
        assert "QUARANTINED" in done.stdout and "it could not go back to" in done.stdout
        refused = fleet.deploy()
        assert refused.returncode == 1
        assert "deploy with --clear one" in refused.stdout
        assert fleet.pids(without="orch-a") == pids
    finally:
        one.run("rm", "/var/lib/livepeer/orch-a/standin-ill")
    assert fleet.deploy("--clear", "one").returncode == 0
    assert fleet.runs() == fleet.price


DRIFT = {
    "the unit": "sed -i 's/pricePerUnit=[0-9]*/pricePerUnit=1/' /etc/systemd/system/livepeer-{node}.service",
    "an addition to the unit": "mkdir -p /etc/systemd/system/livepeer-{node}.service.d && "
    "printf '[Service]\\nEnvironment=LP_ETHURL=x\\n' > /etc/systemd/system/livepeer-{node}.service.d/own.conf",
    "a file": "echo LP_V=6 >> /opt/fleetc/current/{node}/node.env",
    "secrets": "echo 'LP_ETHURL=\"https://else.example.net\"' > /etc/fleetc/{node}/secrets.env",
}


@pytest.mark.parametrize(
    "what",
    [
        ("the unit", "secrets"),
        pytest.param(("an addition to the unit", "a file"), marks=pytest.mark.slow),
        pytest.param(("secrets", "the process"), marks=pytest.mark.slow),
    ],
)
def test_what_was_changed_by_hand_is_named_and_mended(fleet: Faulty, what: tuple[str, str]) -> None:
    """Two nodes on two hosts. Their processes are started anew by hand too, with what was changed; or only stopped."""
    price, nodes = fleet.price, {"one": "orch-a", "two": "orch-b"}
    for (name, node), how in zip(nodes.items(), what, strict=True):
        script = f"systemctl stop livepeer-{node}.service"
        if how != "the process":
            changed = DRIFT[how].format(node=node)
            script = f"{changed}; systemctl daemon-reload && systemctl restart livepeer-{node}.service"
        assert fleet.hosts[name].run("sh", "-c", script).returncode == 0
    told = fleet.deploy("--check")
    for name, node in nodes.items():
        assert re.search(f"^{name}: would (re)?start {node}: ", told.stdout, re.M), told.stdout
    done = fleet.deploy()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 hosts: 2 deployed, 1 unchanged" in done.stdout
    assert fleet.runs() == price
    for name, node in nodes.items():
        process = process_of(fleet.hosts[name], fleet.service(node))
        assert process.environ[b"LP_ETHURL"] == f"https://rpc.example.net/{CANARY}".encode()
        assert b"LP_V" not in process.environ
    assert "3 hosts: 3 unchanged" in fleet.deploy().stdout


def test_removed_releases_and_disabled_units_come_back_without_a_restart(fleet: Faulty) -> None:
    """`systemctl disable` removes both links of a unit, for it lies elsewhere; its process goes on."""
    pids, two = fleet.pids(), fleet.hosts["two"]
    fleet.hosts["one"].run("sh", "-c", "rm -r /opt/fleetc/releases/*")
    assert two.run("systemctl", "disable", "livepeer-orch-b.service").returncode == 0
    told = fleet.deploy("--check").stdout
    assert "two: would ensure orch-b: its unit is disabled: " in told, told
    done = fleet.deploy()
    assert done.returncode == 0, done.stdout + done.stderr
    assert fleet.pids() == pids
    assert fleet.runs() == fleet.price
    assert two.run("systemctl", "is-enabled", "livepeer-orch-b.service").stdout.strip() == "enabled"


def test_no_journal_record_or_log_holds_a_secret(fleet: Faulty) -> None:
    """After all that: rollouts, Ansible and the program on the host were killed."""
    words = f"{CANARY}|s3cret|hunter2"
    for host in fleet.hosts.values():
        found = host.run("grep", "-rlaE", words, STATE, "/etc/systemd/system", "/var/log", "/run/log", "/tmp", "/root")
        assert found.stdout == ""
        logged = host.run("sh", "-c", f"journalctl --all --no-pager -o export | tee /dev/stderr | grep -caE '{words}'")
        assert logged.stdout.strip() == "0"
        assert len(logged.stderr) > 1000, "the host has no journal"
        assert {"staged", "switching", "confirmed"} <= {line["what"] for line in journal_of(host)}
    kept = b"".join(path.read_bytes() for path in fleet.journal.rglob("*.json*"))
    assert kept and not re.search(words.encode(), kept)
