"""The example fleet two-regions on six hosts: a rolling deploy, one that fails, a move and a rollback.

The tests run in their order on one fleet. An overlay removes what the example has and this farm lacks, and gives one
host more orchestrators. After each rollout every host runs exactly one release, in all its parts.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from fleetc.emit.release import host_digest
from tests.farm.farm import STANDIN_IMAGE, Farm, Host, HostSpec
from tests.hosts.switches import in_phase, journal_of, state_of, switch_of, wait
from tests.hosts.test_deploy import CANARY, Rollout
from tests.keystores import key_file
from tests.support import ROOT

pytestmark = pytest.mark.usefixtures("processes")

HOSTS = {"eu-edge-1": "h1", "us-edge": "h2", "eu-edge-2": "h3", "eu-gpu-1": "h4", "eu-ai": "h5", "us-gpu-1": "h6"}
CONTAINERS = ("h1", "h2")
GATEWAYS = ("eu-live", "us-live", "eu-images")
MORE = ("eu-video-2", "eu-video-3", "eu-video-4")
ORCHESTRATORS = ("eu-video-1", *MORE, "eu-images-1", "us-video-1")
WALLETS = {"payer": "1", "earner": "2", "ai-earner": "3"}
SKIPPED = tuple(
    word
    for code in ("gpus-visible", "toolkit-missing", "docker-answers", "rpc-answers", "service-address-leads-here")
    for word in ("--skip", f"{code}=the farm has no GPU, no chain, no names, and no Docker beside nodes under systemd")
)

OVERLAY = """
remove = [
  "hosts.eu-gpu-2", "hosts.us-gpu-2", "hosts.us-ai", "orchestrators.eu-video-2", "orchestrators.us-video-2",
  "orchestrators.us-images-1", "orchestrators.eu-images-1.instances", "models.pix2pix",
  "gateways.eu-images.max_model_prices.pix2pix",
]

[fleet]
image = "{image}"

[gateways.eu-live]
orchestrators = ["eu-video-1", "eu-video-2", "eu-video-3", "eu-video-4", "us-video-1"]

[gateways.us-live]
orchestrators = ["eu-video-1", "us-video-1"]

[gateways.eu-images]
http = "0.0.0.0:9935"
host = "{home}"

[orchestrators.eu-video-1]
max_sessions = 2

[rollout]
batch = 3
stable = "{stable}"
deadline = "{deadline}"
confirm = "20s"
"""

ANOTHER = """
[orchestrators.eu-video-{number}]
host = "eu-gpu-1"
mode = "video"
wallet = "earner"
price = "1200 wei / pixel"
service = "eu-gpu-1.example.net:893{number}"
cli = "127.0.0.1:793{number}"
max_sessions = 2
gpus = [0]
monitor = true
"""


class Sample(NamedTuple):
    """By node, the release and the host of each of its processes, at one moment."""

    nodes: dict[str, list[tuple[str, str]]]

    def running(self, *names: str) -> int:
        return sum(bool(self.nodes.get(name)) for name in names)


class Regions(Rollout):
    """The fleet, whose releases are told apart by a variable of every node."""

    skipped = SKIPPED
    number = 0

    def __init__(self, farm: Farm, directory: Path) -> None:
        self.farm, self.directory = farm, directory
        self.hosts = {name: farm.hosts[host] for name, host in HOSTS.items()}
        shutil.copy(ROOT / "inventories/two-regions/fleet.toml", directory)

    @property
    def environment(self) -> dict[str, str]:
        own = {
            "FLEETC_OVERLAY": str(self.directory / "farm.toml"),
            "ARBITRUM_RPC_URL": f"https://rpc.example.net/{CANARY}",
        }
        return {**super().environment, **own}

    def provide(self) -> None:
        (self.directory / "vault.yml").write_text("fleet_vault: {}\n", encoding="utf-8")
        for host in self.hosts.values():
            for name, digit in WALLETS.items():
                account = f"0x{digit * 40}"
                host.write(f"/var/lib/livepeer/keystore/UTC--{account}", key_file(account, name.encode()), 0o600)
                host.write(f"/etc/livepeer/{name}-password", name.encode(), 0o600)
        images = self.hosts["eu-ai"]
        images.write("/etc/livepeer/orchestrator-secret", CANARY.encode(), 0o600)
        images.run("mkdir", "-p", "/var/lib/livepeer/eu-images-1/models")
        for host in self.hosts.values():
            host.run("useradd", "--system", "--no-create-home", "livepeer")
            host.run("chown", "-R", "livepeer", "/etc/livepeer", "/var/lib/livepeer")

    def release(
        self,
        ill: Mapping[str, str] = {},
        home: str = "eu-edge-2",
        stable: str = "1s",
        deadline: str = "12s",
        drain: str = "",
    ) -> str:
        """Compile another release of every node, in which some are ill; the gateway eu-images is on the host `home`."""
        self.number += 1
        text = OVERLAY.format(image=STANDIN_IMAGE, home=home, stable=stable, deadline=deadline)
        text += f'drain = "{drain}"\n' if drain else ""
        text += "".join(ANOTHER.format(number=node[-1]) for node in MORE)
        for name, host in self.hosts.items():
            runtime = "docker" if HOSTS[name] in CONTAINERS else "systemd"
            text += (
                f'[hosts.{name}]\naddress = "{host.address}"\nssh_port = {self.farm.ssh_port}\nruntime = "{runtime}"\n'
            )
        for table, nodes in (("gateways", GATEWAYS), ("orchestrators", ORCHESTRATORS)):
            for node in nodes:
                text += f'[{table}.{node}.environment]\nRELEASE = "{self.number}"\n'
                text += f'STANDIN_ILL = "{ill[node]}"\n' if node in ill else ""
        (self.directory / "farm.toml").write_text(text, encoding="utf-8")
        self.compile()
        shutil.copytree(self.directory / "rendered", self.directory / "releases" / str(self.number))
        return str(self.number)

    def roll_out(self, *options: str, code: int = 0) -> str:
        done = self.deploy(*options)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def sample(self) -> Sample:
        found: dict[str, list[tuple[str, str]]] = {}
        for name, host in self.hosts.items():
            for process in host.processes("livepeer"):
                for word in process.argv:  # none while it is being started
                    if word.startswith(b"-dataDir="):
                        release = process.environ.get(b"RELEASE", b"").decode()
                        found.setdefault(word.rpartition(b"/")[2].decode(), []).append((release, name))
        return Sample(found)

    @contextmanager
    def sampled(self) -> Iterator[list[Sample]]:
        """What runs, again and again."""
        found: list[Sample] = []
        end = threading.Event()

        def again() -> None:
            while not end.wait(0.1):
                found.append(self.sample())

        sampler = threading.Thread(target=again)
        sampler.start()
        try:
            yield found
        finally:
            end.set()
            sampler.join()

    def whole(self) -> dict[str, str]:
        """By host, the one release that it runs: files, unit, links, arguments, environment, secrets and records."""
        return {host: self._whole(host) for host in self.hosts}

    def _whole(self, name: str) -> str:
        host = self.hosts[name]
        link = state_of(host)["release"]
        runs = {
            node: release for node, places in self.sample().nodes.items() for release, where in places if where == name
        }
        if not runs:
            assert not self._files(name, self.number_of(link, name)), "nodes of its release do not run"
            return self.number_of(link, name)
        (release,) = set(runs.values())
        assert self.number_of(link, name) == release
        files = self._files(name, release)
        assert {path.split("/")[0] for path in files} == set(runs)
        links = host.run("readlink", *(f"/opt/fleetc/current/{node}" for node in runs)).stdout.split()
        assert {target.split("/")[2] for target in links} == {link}
        places = {f"/opt/fleetc/current/{path}": content for path, content in files.items()}
        places |= {
            f"/etc/systemd/system/{path.rpartition('/')[2]}": content
            for path, content in files.items()
            if path.endswith(".service")
        }
        found = host.run("sha256sum", "--", *places).stdout.splitlines()
        assert [line.split()[0] for line in found] == [hashlib.sha256(one).hexdigest() for one in places.values()]
        for process in host.processes("livepeer"):
            node = next(node for node in runs if f"-dataDir=/var/lib/livepeer/{node}".encode() in process.argv)
            assert b"".join(word + b"\n" for word in process.argv[1:]) == files[f"{node}/launch.flags"]
            assert process.environ[b"LP_ETHURL"].endswith(CANARY.encode())
            assert CANARY.encode() in host.read(f"/etc/fleetc/{node}/secrets.env")
        return release

    def _files(self, name: str, release: str) -> dict[str, bytes]:
        place = self.directory / "releases" / release / "hosts" / name
        return {str(path.relative_to(place)): path.read_bytes() for path in place.glob("*/**/*") if path.is_file()}

    def number_of(self, link: str, name: str) -> str:
        """Which of the compiled releases has the digest of a link."""
        for place in sorted((self.directory / "releases").iterdir()):
            facts = json.loads((place / f"ansible/host_vars/{name}.json").read_text())
            nodes = {one["name"]["__ansible_unsafe"]: one["digest"] for one in facts["fleet_host_services"]}
            if host_digest(nodes) == link.partition(".")[0]:
                return place.name
        raise AssertionError(f"{name} is linked to {link}, which was never compiled")


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Regions]:
    """The fleet deployed once, on a farm of its own."""
    specs = [HostSpec(name, docker=name in CONTAINERS) for name in HOSTS.values()]
    with Farm(hosts=specs) as farm:
        made = Regions(farm, tmp_path_factory.mktemp("regions"))
        made.provide()
        made.release()
        made.roll_out()
        yield made


def drained(host: Host) -> dict[str, int]:
    """How many sessions were left of each orchestrator when a host stopped waiting for them, as its journal says."""
    return {line["node"]: line["sessions"] for line in journal_of(host) if line["what"] == "drained"}


def test_rolling_deploy_lets_orchestrators_finish_their_sessions(fleet: Regions) -> None:
    batches = json.loads((fleet.directory / "rendered/ansible/rollout.json").read_text())["fleet_batches"]
    assert [len(batch) for batch in batches] == [1, 3, 2]
    number = fleet.release(drain="15s")
    ends, stays = fleet.hosts["eu-gpu-1"], fleet.hosts["eu-ai"]
    ends.write("/var/lib/livepeer/eu-video-1/standin-sessions", b"2")
    stays.write("/var/lib/livepeer/eu-images-1/standin-sessions", b"1")
    with fleet.sampled() as samples:
        rollout = fleet.begin()
        wait(lambda: switch_of(ends).get("step", [""])[0] == "drain", 180, "nothing is drained")
        end = time.monotonic() + 2
        while time.monotonic() < end:
            assert not _changed(fleet.sample(), number) & {"eu-gpu-1"}, "it restarted with its sessions"
        ends.write("/var/lib/livepeer/eu-video-1/standin-sessions", b"0")
        said = rollout.communicate(timeout=120)[0]
    assert rollout.returncode == 0, said
    assert "6 hosts: 6 deployed" in said
    assert drained(ends) == {"eu-video-1": 0, **dict.fromkeys(MORE, 0)}
    assert drained(stays) == {"eu-images-1": 1}, "its sessions do not end, so it restarts when the time is over"
    assert set(fleet.whole().values()) == {number}
    begun = [next(at for at, one in enumerate(samples) if _changed(one, number) & set(batch)) for batch in batches]
    assert begun == sorted(begun)
    for before, at in zip(batches, begun[1:], strict=False):
        assert set(before) <= _changed(samples[at], number), "a batch began before the one before was done"
    assert min(one.running(*GATEWAYS) for one in samples) >= 1, "all gateways were down at once"
    assert max(len(places) for one in samples for places in one.nodes.values()) == 1
    assert len(samples) > 50


def _changed(sample: Sample, number: str) -> set[str]:
    return {host for places in sample.nodes.values() for release, host in places if release == number}


ILL = {
    "eu-video-1": ("price=1", "eu-video-1: it says that pricePerUnit is 1 instead of 1200"),
    "eu-video-2": ("version=0.8.0", "eu-video-2: it runs release 0.8.0 instead of 0.9.1"),
    "eu-video-3": ("hang", "eu-video-3: it answers nothing to /healthz"),
    "eu-video-4": ("exit=1", "eu-video-4 does not run"),
    "eu-live": ("exit=0", "eu-edge-1: eu-live "),
    "eu-images": ("die=2", "eu-edge-2: eu-images does not run"),
}
"""Nodes of the second batch, with what their host says of them. What dies has outlived the first looks."""


def test_ill_nodes_take_their_batch_back_and_no_later_batch_begins(fleet: Regions) -> None:
    before = fleet.whole()
    number = fleet.release({node: ill for node, (ill, _) in ILL.items()}, stable="4s", deadline="18s")
    with fleet.sampled() as samples:
        said = fleet.roll_out(code=4)
    for _, words in ILL.values():
        assert words in said, said
    assert sum((number, "eu-edge-2") in one.nodes.get("eu-images", ()) for one in samples) > 5, "it died at once"
    assert not any(_changed(one, number) & {"us-gpu-1", "us-edge"} for one in samples)
    assert fleet.whole() == {**before, "eu-ai": number}


def held(host: Host, program: str, condition: str) -> None:
    """A program of a host hangs for as long as the condition holds."""
    script = f'#!/bin/sh\n{condition} && exec sleep 600\nexec /usr/bin/{program} "$@"\n'
    host.write(f"/usr/local/bin/{program}", script.encode(), 0o755)


def test_host_that_reboots_while_its_release_comes(fleet: Regions) -> None:
    """Its disk is slow: the release is not complete there."""
    before, canary = fleet.whole(), fleet.hosts["eu-ai"]
    fleet.release()
    held(canary, "sync", "[ -e /run/held ]")
    canary.write("/run/held", b"")  # gone with the boot
    rollout = fleet.begin()
    wait(
        lambda: canary.run("test", "-e", "/opt/fleetc/releases/.new/.wanted.json").returncode == 0, 180, "nothing comes"
    )
    canary.reboot()
    said = rollout.communicate(timeout=120)[0]
    assert rollout.returncode == 1, said
    assert "eu-ai: could not be reached" in said
    assert fleet.whole() == before


@pytest.mark.slow
def test_hosts_that_reboot_in_each_phase_of_a_switch_go_back(fleet: Regions) -> None:
    """One batch: a host between stop and start, one that waits for health, one for its confirmation. The first one
    reboots once more while it goes back."""
    before, number = fleet.whole(), fleet.release({"eu-images": "slow=60"}, deadline="60s")
    phases = {"eu-gpu-1": "switching", "eu-edge-2": "watching", "eu-edge-1": "healthy"}
    switching, *_ = hosts = [fleet.hosts[name] for name in phases]
    held(switching, "systemctl", '[ "$1" = start ] && [ -e /etc/held ]')
    switching.write("/etc/held", b"")
    rollout = fleet.begin()
    for host, phase in zip(hosts, phases.values(), strict=True):
        in_phase(host, phase)
    starts(switching)
    assert {name: switch_of(fleet.hosts[name])["phase"] for name in phases} == phases
    with ThreadPoolExecutor() as pool:
        list(pool.map(Host.begin_reboot, hosts))
    in_phase(switching, "reverting")
    starts(switching)
    switching.run("rm", "/etc/held")
    switching.begin_reboot()
    said = rollout.communicate(timeout=120)[0]
    assert rollout.returncode == 5, said
    for host, (name, phase) in zip(hosts, phases.items(), strict=True):
        host.wait_ready()
        in_phase(host, "reverted")
        assert switch_of(host)["reasons"] == ["the host was switched off in the middle"], phase
        told = "\n".join(line for line in said.splitlines() if line.startswith(f"{name}: "))
        assert "without a confirmation it goes back by itself" in told, (phase, said)
    assert fleet.whole() == {**before, "eu-ai": number}


def starts(host: Host) -> None:
    """Wait until a switch is about to start a node, for which it has stopped all it had to."""
    wait(lambda: journal_of(host)[-1].get("do") == "start", 180, f"{host.name} starts nothing")


@pytest.mark.slow
def test_next_rollout_heals_and_moves_a_node_that_comes_back_with_a_rollback(fleet: Regions) -> None:
    before, number = fleet.whole(), fleet.release(home="us-gpu-1")
    with fleet.sampled() as samples:
        said = fleet.roll_out()
        moved = fleet.whole()
        back = fleet.fleetc("rollback", str(fleet.directory))
    assert "eu-images moves from eu-edge-2 to us-gpu-1" in said
    assert set(moved.values()) == {number}
    assert {(number, "us-gpu-1")} in [set(one.nodes.get("eu-images", ())) for one in samples]
    assert back.returncode == 0, back.stdout + back.stderr
    assert fleet.whole() == before
    assert fleet.sample().nodes["eu-images"] == [(before["eu-edge-2"], "eu-edge-2")]
    for one in samples:
        assert all(len(places) == 1 for places in one.nodes.values()), one
        assert one.running(*GATEWAYS) >= 1
