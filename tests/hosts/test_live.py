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
