"""Prices that are changed on real hosts while nodes run: no process restarts, and a later restart changes nothing.

The node is a stand-in; systemd, sshd, Ansible and the command are real. The tests run in their order on one fleet.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.farm.farm import Farm
from tests.hosts.test_deploy import Rollout

pytestmark = pytest.mark.usefixtures("processes")

_ASK = "import sys, urllib.request as r; sys.stdout.write(r.urlopen(sys.argv[1], timeout=5).read().decode())"

_DISCOVER = """
import ssl, sys, urllib.request
trusting = ssl.create_default_context()
trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
with urllib.request.urlopen("https://127.0.0.1:8935/discovery", timeout=5, context=trusting) as answer:
    sys.stdout.write(answer.read().decode())
"""
RUNNER = """
[runners.{name}]
url = "http://127.0.0.1:8990/{name}"
app = "example/{name}"
price = "{price} USD / hour"
health = "/health"
"""


class Priced(Rollout):
    """The fleet of the deploy tests with three prices, on which changes are made while nodes run."""

    def price(self, orch_a: int, orch_b: int, gate: int, live: str = "try") -> None:
        """Compile the fleet with these prices in wei."""
        self.write(orch_a)
        path = self.directory / "fleet.toml"
        text = path.read_text(encoding="utf-8")
        for node, key, old, new in (("orch-b", "price", 1200, orch_b), ("gate", "max_price", 1500, gate)):
            head, name, rest = text.partition(f".{node}]")
            text = head + name + rest.replace(f'\n{key} = "{old} wei', f'\n{key} = "{new} wei', 1)
        path.write_text(text.replace('live = "never"', f'live = "{live}"'), encoding="utf-8")
        self.compile()

    def rent(self, price: str, *more: str) -> None:
        """Let orch-b offer the live runner echo for this price, and others beside it."""
        names = ["echo", *more]
        listed = "runners = [" + ", ".join(f'"{name}"' for name in names) + "]"
        path = self.directory / "fleet.toml"
        text = path.read_text(encoding="utf-8").partition("\n[rates]")[0]
        head, name, rest = text.partition(".orch-b]\n")
        lines = [line for line in rest.splitlines(keepends=True) if not line.startswith("runners = ")]
        tables = [RUNNER.format(name=one, price=price if one == "echo" else "0.05") for one in names]
        path.write_text(f'{head}{name}{listed}\n{"".join(lines)}\n[rates]\nUSD = "0.0004 ETH"\n{"".join(tables)}')
        self.compile()

    def offered(self) -> dict[str, str]:
        """What clients of orch-b find: the price of each app, at 2,000 USD for an ether."""
        done = self.hosts["two"].run("python3", "-c", _DISCOVER)
        listed = [(one["app"], one["price_info"]) for one in json.loads(done.stdout)[0]["runners"]]
        return {app: f"{price['price']} {price['currency']} / {price['unit']}" for app, price in listed}

    def says(self) -> tuple[str, str, str]:
        """What the three nodes themselves say."""
        asked = [self._ask(host, "7935", "/status")["BroadcasterPrices"]["default"] for host in ("one", "two")]
        return asked[0], asked[1], self._ask("two", "5935", "/getBroadcastConfig")["MaxPrice"]

    def _ask(self, host: str, port: str, path: str) -> Any:
        done = self.hosts[host].run("python3", "-c", _ASK, f"http://127.0.0.1:{port}{path}")
        return json.loads(done.stdout)

    def is_unchanged(self) -> None:
        again = self.deploy()
        assert "3 hosts: 3 unchanged" in again.stdout, again.stdout + again.stderr


@pytest.fixture(scope="module")
def fleet(farm: Farm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Priced]:
    """The fleet deployed once; the hosts are bare again afterwards."""
    made = Priced(farm, tmp_path_factory.mktemp("fleet"))
    made.provide()
    made.price(1200, 1200, 1500)
    done = made.deploy()
    assert done.returncode == 0, done.stdout + done.stderr
    yield made
    made.clear()


def test_prices_change_without_a_restart(fleet: Priced) -> None:
    pids = fleet.pids()
    fleet.price(1250, 1260, 1600)
    told = fleet.deploy("--check")
    assert "one: would change orch-a live: it takes pricePerUnit=1250 while it runs" in told.stdout
    assert (fleet.pids(), fleet.says()) == (pids, ("1200", "1200", "1500"))
    done = fleet.deploy()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "one: live, no session dropped: orch-a" in done.stdout
    assert "two: live, no session dropped: orch-b, gate" in done.stdout
    assert fleet.pids() == pids
    assert fleet.says() == ("1250", "1260", "1600")
    fleet.is_unchanged()
    assert fleet.pids() == pids


def test_a_forced_restart_afterwards_changes_nothing(fleet: Priced) -> None:
    pids = fleet.pids()
    fleet.hosts["one"].run("systemctl", "restart", "livepeer-orch-a.service")
    fleet.hosts["two"].run("systemctl", "kill", "--signal=KILL", "livepeer-gate.service")
    fleet.hosts["two"].run("systemctl", "restart", "livepeer-orch-b.service", "livepeer-gate.service")
    after = fleet.pids()
    assert {name for name in pids if pids[name] != after[name]} == {"orch-a", "orch-b", "gate"}
    assert fleet.says() == ("1250", "1260", "1600")
    fleet.is_unchanged()
    assert fleet.pids() == after


def test_power_cut_after_a_change_brings_the_same_prices(fleet: Priced) -> None:
    fleet.price(1270, 1260, 1600)
    assert fleet.deploy().returncode == 0
    fleet.hosts["one"].power_cut()
    fleet.hosts["one"].power_on()
    fleet.is_unchanged()
    assert fleet.says() == ("1270", "1260", "1600")


def test_a_node_that_refuses_is_restarted_or_the_release_taken_back(fleet: Priced) -> None:
    pids = fleet.pids()
    fleet.hosts["one"].write("/var/lib/livepeer/orch-a/standin-ill", b"refuse")
    try:
        fleet.price(1280, 1260, 1600, "only")
        halted = fleet.deploy()
        assert halted.returncode == 4, halted.stdout
        assert "one: orch-a: it answers 500 to /setPriceForBroadcaster" in halted.stdout
        assert (fleet.pids(), fleet.says()) == (pids, ("1270", "1260", "1600"))
        fleet.price(1280, 1260, 1600)
        done = fleet.deploy()
        assert done.returncode == 0, done.stdout + done.stderr
    finally:
        fleet.hosts["one"].run("rm", "/var/lib/livepeer/orch-a/standin-ill")
    after = fleet.pids()
    assert {name for name in pids if pids[name] != after[name]} == {"orch-a"}
    assert fleet.says() == ("1280", "1260", "1600")


def test_a_live_runner_changes_its_price_and_another_one_comes_without_a_restart(fleet: Priced) -> None:
    """The runners are a stand-in: Python's own web server, which the stand-in node asks for their health."""
    two = fleet.hosts["two"]
    for name in ("echo", "flux"):
        two.write(f"/srv/runners/{name}/health", b"well")
    words = ("python3", "-m", "http.server", "8990", "--bind", "127.0.0.1", "--directory", "/srv/runners")
    two.run("systemd-run", "--unit=standin-runners", *words)
    try:
        fleet.rent("0.001")
        begun = fleet.deploy()
        assert begun.returncode == 0, begun.stdout + begun.stderr
        assert fleet.offered() == {"example/echo": "138888888 wei / seconds"}
        pids = fleet.pids()
        fleet.rent("0.002", "flux")
        told = fleet.deploy("--check")
        assert "two: would change orch-b live: it takes liveRunnerConfig echo label persistent=0.002 usd" in told.stdout
        assert (fleet.pids(), fleet.offered()) == (pids, {"example/echo": "138888888 wei / seconds"})
        done = fleet.deploy()
        assert done.returncode == 0, done.stdout + done.stderr
        assert "two: live, no session dropped: orch-b" in done.stdout
        assert fleet.pids() == pids
        assert fleet.offered() == {
            "example/echo": "277777777 wei / seconds",
            "example/flux": "6944444444 wei / seconds",
        }
        two.run("systemctl", "restart", "livepeer-orch-b.service")
        assert fleet.offered() == {
            "example/echo": "277777777 wei / seconds",
            "example/flux": "6944444444 wei / seconds",
        }
        fleet.is_unchanged()
    finally:
        two.run("systemctl", "stop", "standin-runners")
