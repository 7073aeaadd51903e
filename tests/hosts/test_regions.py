"""The example fleet two-regions on six hosts: a rolling deploy, one that fails, a move and a rollback.

The tests run in their order on one fleet. What the example has and this farm lacks is removed in an overlay: three
orchestrators, and the addresses. After each rollout every host runs exactly one release, in all its parts.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.farm import STANDIN_IMAGE, Farm, HostSpec
from tests.hosts.test_deploy import CANARY, Rollout
from tests.keystores import key_file
from tests.support import ROOT

pytestmark = pytest.mark.usefixtures("processes")

HOSTS = {"eu-edge-1": "h1", "us-edge": "h2", "eu-edge-2": "h3", "eu-gpu-1": "h4", "eu-ai": "h5", "us-gpu-1": "h6"}
CONTAINERS = ("h1", "h2")
GATEWAYS = ("eu-live", "us-live", "eu-images")
ORCHESTRATORS = ("eu-video-1", "eu-images-1", "us-video-1")
WALLETS = {"payer": "1", "earner": "2", "ai-earner": "3"}
SKIPPED = [
    word
    for code in ("gpus-visible", "toolkit-missing", "docker-answers", "rpc-answers", "service-address-leads-here")
    for word in ("--skip", f"{code}=the farm has no GPU, no chain, no names, and no Docker beside nodes under systemd")
]

OVERLAY = """
remove = [
  "hosts.eu-gpu-2", "hosts.us-gpu-2", "hosts.us-ai", "orchestrators.eu-video-2", "orchestrators.us-video-2",
  "orchestrators.us-images-1", "orchestrators.eu-images-1.instances", "models.pix2pix",
  "gateways.eu-images.max_model_prices.pix2pix",
]

[fleet]
image = "{image}"

[gateways.eu-live]
orchestrators = ["eu-video-1", "us-video-1"]

[gateways.us-live]
orchestrators = ["eu-video-1", "us-video-1"]

[gateways.eu-images]
http = "0.0.0.0:9935"
host = "{home}"

[rollout]
batch = 3
stable = "1s"
deadline = "12s"
confirm = "20s"
"""


class Sample(NamedTuple):
    """By node, the release and the host of each of its processes, at one moment."""

    nodes: dict[str, list[tuple[str, str]]]

    def running(self, *names: str) -> int:
        return sum(bool(self.nodes.get(name)) for name in names)


class Regions(Rollout):
    """The fleet, whose releases are told apart by a variable of every node."""

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
                host.write(f"/var/lib/livepeer/keystore/UTC--{account}", key_file(account, name.encode()))
                host.write(f"/etc/livepeer/{name}-password", name.encode())
        images = self.hosts["eu-ai"]
        images.write("/etc/livepeer/orchestrator-secret", CANARY.encode(), 0o600)
        images.run("mkdir", "-p", "/var/lib/livepeer/eu-images-1/models")
        images.run("useradd", "--system", "--no-create-home", "livepeer")
        for path in ("/etc/livepeer/orchestrator-secret", "/var/lib/livepeer/eu-images-1"):
            images.run("chown", "-R", "livepeer", path)

    def release(self, ill: str = "", home: str = "eu-edge-2") -> str:
        """Compile another release of every node; the gateway us-live is ill in it, eu-images is on the host `home`."""
        self.number += 1
        text = OVERLAY.format(image=STANDIN_IMAGE, home=home)
        for name, host in self.hosts.items():
            runtime = "docker" if HOSTS[name] in CONTAINERS else "systemd"
            text += (
                f'[hosts.{name}]\naddress = "{host.address}"\nssh_port = {self.farm.ssh_port}\nruntime = "{runtime}"\n'
            )
        for table, nodes in (("gateways", GATEWAYS), ("orchestrators", ORCHESTRATORS)):
            for node in nodes:
                text += f'[{table}.{node}.environment]\nRELEASE = "{self.number}"\n'
                text += f'STANDIN_ILL = "{ill}"\n' if ill and node == "us-live" else ""
        (self.directory / "farm.toml").write_text(text, encoding="utf-8")
        self.compile()
        shutil.copytree(self.directory / "rendered", self.directory / "releases" / str(self.number))
        return str(self.number)

    def roll_out(self, *options: str, code: int = 0) -> str:
        done = self.fleetc("deploy", str(self.directory), *SKIPPED, *options)
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
        link = json.loads(host.read("/var/lib/fleetc/state.json"))["release"]
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
        return {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()}

    def number_of(self, link: str, name: str) -> str:
        """Which of the compiled releases has the digest of a link."""
        for place in sorted((self.directory / "releases").iterdir()):
            facts = json.loads((place / f"ansible/host_vars/{name}.json").read_text())
            if facts["fleet_host_digest"] == link.partition(".")[0]:
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


def test_rolling_deploy(fleet: Regions) -> None:
    batches = json.loads((fleet.directory / "rendered/ansible/rollout.json").read_text())["fleet_batches"]
    assert [len(batch) for batch in batches] == [1, 3, 2]
    number = fleet.release()
    with fleet.sampled() as samples:
        said = fleet.roll_out()
    assert "6 hosts: 6 deployed" in said
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


def test_release_that_fails_in_the_last_batch_goes_back(fleet: Regions) -> None:
    before, number = fleet.number, fleet.release("unwell")
    said = fleet.roll_out(code=4)
    assert "us-edge: us-live answers 503 to /healthz" in said
    batches = json.loads((fleet.directory / "rendered/ansible/rollout.json").read_text())["fleet_batches"]
    expected = {host: str(before) if batch == batches[-1] else number for batch in batches for host in batch}
    assert fleet.whole() == expected


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
