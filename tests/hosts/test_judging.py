"""What somebody did to nodes of an unchanged fleet: every command says it in the same words, and deploy undoes it.

The node is a stand-in; systemd, Docker, sshd, Ansible and the command are real. The tests run in their order on one
fleet.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.farm.farm import Farm
from tests.hosts.test_deploy import Rollout, lent

pytestmark = pytest.mark.usefixtures("processes")

_ASK = "import sys, urllib.request as r; sys.stdout.write(r.urlopen(sys.argv[1], timeout=5).read().decode())"
_TELL = "import sys, urllib.request as r; r.urlopen(sys.argv[1], sys.argv[2].encode(), timeout=5)"
CHEAP = "it says that pricePerUnit is 1 instead of 1200"
CAP = "it says that maxPricePerUnit is 9 instead of 1500"
MOVED = "its link to a release is gone"


class Touched(Rollout):
    """The fleet of the deploy tests, whose settings change while nodes run, and somebody with a shell on its hosts."""

    def write(self, price: int, orch_a: str = "") -> None:
        super().write(price, orch_a)
        path = self.directory / "fleet.toml"
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace('live = "never"', 'live = "try"'), encoding="utf-8")

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

    def post(self, host: str, port: str, path: str, form: str) -> None:
        told = self.hosts[host].run("python3", "-c", _TELL, f"http://127.0.0.1:{port}{path}", form)
        assert told.returncode == 0, told.stderr

    def touch(self) -> None:
        """A price of 1 wei for the work of orch-a, and a cap of the gateway in a container."""
        self.post("one", "7935", "/setPriceForBroadcaster", "pricePerUnit=1&pixelsPerUnit=1&broadcasterEthAddr=default")
        self.post("three", "5935", "/setBroadcastConfig", "maxPricePerUnit=9&pixelsPerUnit=1")

    def verified(self) -> dict[str, str]:
        """Messages of what verify found about settings and health, by code and place."""
        done = self.fleetc("verify", str(self.directory), "--no-public", "--format", "json")
        found = json.loads(done.stdout)["diagnostics"]
        ours = ("set-at-run-time", "changed-on-host", "node-unhealthy", "not-answered", "node-not-running")
        return {f"{one['code']} {one['primary']['path']}": one["message"] for one in found if one["code"] in ours}

    def undone(self) -> dict[str, list[str]]:
        """What the last rollout undid by its journal, by host."""
        (path,) = self.journal.glob("*.jsonl")
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        return {
            line["host"]: line["undone"] for line in lines if (line["what"], line["run"]) == ("host", lines[-1]["run"])
        }


@pytest.fixture(scope="module")
def fleet(farm: Farm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Touched]:
    yield from lent(Touched(farm, tmp_path_factory.mktemp("fleet")))


def test_settings_that_somebody_gave_are_undone_without_a_restart(fleet: Touched) -> None:
    fleet.is_unchanged()
    pids = fleet.pids()
    fleet.touch()
    checked = fleet.deploy("--check").stdout
    assert f"one: would change orch-a live: {CHEAP}" in checked
    assert f"three: would change edge live: {CAP}" in checked
    made = fleet.fleetc("plan", str(fleet.directory), "--observe", "-o", str(fleet.directory.with_name("plan.json")))
    plan = made.stdout + made.stderr
    assert f"live orch-a, no session drops: {CHEAP}" in plan and f"live edge, no session drops: {CAP}" in plan
    found = fleet.verified()
    assert CHEAP in found["set-at-run-time orchestrators.orch-a.price"]
    assert CAP in found["set-at-run-time gateways.edge.max_price"]
    done = fleet.deploy()
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"one: undone: orch-a: {CHEAP}" in done.stdout and f"three: undone: edge: {CAP}" in done.stdout
    assert "3 hosts: 2 deployed, 1 unchanged" in done.stdout or "3 hosts: 1 unchanged, 2 deployed" in done.stdout
    assert fleet.undone() == {"one": [f"orch-a: {CHEAP}"], "three": [f"edge: {CAP}"]}
    assert fleet.pids() == pids and fleet.says() == ("1200", "1200", "1500")
    assert fleet.verified() == {}
    fleet.is_unchanged()


def test_link_that_is_gone_and_a_node_that_is_not_well_are_said_by_all(fleet: Touched) -> None:
    one, two = fleet.hosts["one"], fleet.hosts["two"]
    one.run("rm", "/opt/fleetc/current/orch-a")
    ill = "/var/lib/livepeer/gate/standin-ill"
    two.write(ill, b"unwell")
    try:
        assert f"one: would restart orch-a: {MOVED}" in fleet.deploy("--check").stdout
        done = fleet.deploy()
        assert f"one: undone: orch-a: {MOVED}" in done.stdout, done.stdout
        assert done.returncode == 1 and "two: gate is not well: it answers 503 to /healthz" in done.stdout
        assert "node-unhealthy gateways.gate" in fleet.verified()
        two.write(ill, b"hang")
        done = fleet.deploy()
        assert (
            done.returncode == 5 and "two: whether gate is as reviewed is unknown: it answers nothing to" in done.stdout
        )
    finally:
        two.run("rm", ill)
    fleet.is_unchanged()
