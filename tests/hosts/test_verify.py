"""`fleetc verify` on real hosts: what was just rolled out is as reviewed, and then exactly what was changed is found.

The node and the chain are stand-ins; systemd, Docker, sshd, Ansible and the command are real. The tests run in their
order on one fleet.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.farm.farm import Farm
from tests.hosts.test_deploy import CANARY, Rollout
from tests.support import ROOT

pytestmark = pytest.mark.usefixtures("processes")

PORT = 8546
_REGISTERED = {"0x" + "2" * 40: "https://one.example.net:8935"}
_CHAIN = "import signal, sys; from tests.chain import SoundChain; "
_CHAIN += f"SoundChain({_REGISTERED}, (sys.argv[1], int(sys.argv[2]))); signal.pause()"
_TELL = "import sys, urllib.request as r; r.urlopen(sys.argv[1], sys.argv[2].encode(), timeout=5)"


class Verified(Rollout):
    """The fleet of the deploy tests, with a chain on which everything is as it should be."""

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, "FARM_RPC_URL": f"http://{self.farm.address}:{PORT}/{CANARY}"}

    def provide(self) -> None:
        super().provide()
        names = "\n".join(f"{host.address} {name}.example.net" for name, host in self.hosts.items())
        for host in self.hosts.values():
            host.run("sh", "-c", f"cp /etc/hosts /etc/hosts.before; echo '{names}' >> /etc/hosts")

    def clear(self) -> None:
        super().clear()
        for host in self.hosts.values():
            host.run("mv", "/etc/hosts.before", "/etc/hosts")
            host.run("rm", "-rf", "/etc/systemd/system/livepeer-orch-b.service.d")

    def verify(self, **environment: str) -> tuple[int, list[tuple[str, str]]]:
        """The exit code, and codes of findings with their places, each once."""
        words = ("--no-public", "--format", "json")
        done = self.fleetc("verify", str(self.directory), *words, **environment)
        assert CANARY not in done.stdout + done.stderr and "Traceback" not in done.stderr, done.stderr
        found = json.loads(done.stdout)["diagnostics"]
        return done.returncode, sorted({(one["code"], one["primary"]["path"]) for one in found})

    def price(self, wei: int) -> None:
        """Set the price of an orchestrator while it runs, as somebody with livepeer_cli does."""
        form = f"pricePerUnit={wei}&pixelsPerUnit=1&broadcasterEthAddr=default"
        told = self.hosts["one"].run("python3", "-c", _TELL, "http://127.0.0.1:7935/setPriceForBroadcaster", form)
        assert told.returncode == 0, told.stderr


@pytest.fixture(scope="module")
def fleet(farm: Farm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Verified]:
    """The fleet deployed once; the hosts are bare again afterwards."""
    chain = subprocess.Popen(
        ["nsenter", f"--net=/run/netns/{farm.namespace}", sys.executable, "-c", _CHAIN, farm.address, str(PORT)],
        cwd=ROOT,
    )
    made = Verified(farm, tmp_path_factory.mktemp("fleet"))
    try:
        made.provide()
        made.compile()
        done = made.deploy()
        assert done.returncode == 0, done.stdout + done.stderr
        yield made
    finally:
        made.clear()
        chain.kill()
        chain.wait()


def test_what_was_just_rolled_out_is_as_reviewed(fleet: Verified) -> None:
    assert fleet.verify() == (0, [])


def test_exactly_what_was_changed_is_found(fleet: Verified) -> None:
    """Who takes a node out of the boot hides nothing else: systemd forgets its unit, and its process goes on."""
    one, two, three = fleet.hosts.values()
    fleet.price(1300)
    assert one.run("systemctl", "disable", "livepeer-orch-a.service").returncode == 0
    two.run("sh", "-c", "echo '# by hand' >> /etc/systemd/system/livepeer-gate.service")
    addition = "/etc/systemd/system/livepeer-orch-b.service.d/by-hand.conf"
    two.run("mkdir", "-p", addition.rpartition("/")[0])
    two.write(addition, b"[Service]\nEnvironment=LP_MAXATTEMPTS=3\n")
    two.run("systemctl", "daemon-reload")
    two.run("systemctl", "restart", "livepeer-orch-b.service")
    three.run("docker", "stop", "livepeer-edge")
    assert fleet.verify() == (
        1,
        [
            ("changed-on-host", "gateways.gate"),
            ("changed-on-host", "orchestrators.orch-a"),
            ("changed-on-host", "orchestrators.orch-b"),
            ("node-not-running", "gateways.edge"),
            ("other-setting", "orchestrators.orch-b"),
            ("set-at-run-time", "orchestrators.orch-a.price"),
        ],
    )


def test_a_rollout_repairs_it_and_a_host_out_of_reach_is_unknown(fleet: Verified) -> None:
    done = fleet.deploy()
    assert done.returncode == 0, done.stdout + done.stderr
    fleet.price(1200)
    assert fleet.verify() == (0, [])
    fleet.hosts["three"].cut_network()
    try:
        assert fleet.verify(FLEETC_CONNECT_TIMEOUT="4") == (4, [("host-unreachable", "hosts.three")])
    finally:
        fleet.hosts["three"].restore_network()
