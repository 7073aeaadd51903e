"""`fleetc verify` from end to end, against hosts behind a real sshd: as reviewed, and then exactly what was changed.

Nodes are stand-ins, and so is the chain. The tests run in their order on one fleet.
"""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.chain import SoundChain
from tests.farm.sshd_host import SshdHost, needed
from tests.rollout.hosts.loopback import CANARIES, PAYER, Loopback
from tests.standin import set_on_node
from tests.support import killed_on_error

pytestmark = [pytest.mark.outer, pytest.mark.usefixtures("processes")]


class Verified(Loopback):
    """A gateway on a host, an orchestrator on another, and a chain on which everything is as it should be."""

    def __init__(self, directory: Path) -> None:
        self.registered: dict[str, str] = {}
        self.chain = SoundChain(self.registered)
        super().__init__(directory, 2)
        self.register(f"https://two.example.net:{self._others['two'][0]}")
        self.change("http_ingest = false", "http_ingest = false\nmonitor = true")

    @staticmethod
    def _fill(host: SshdHost) -> None:
        Loopback._fill(host)
        (host.files / "etc/hosts").write_text("127.0.0.1 localhost one.example.net two.example.net\n")

    def close(self) -> None:
        super().close()
        self.chain.close()

    def register(self, address: str) -> None:
        """Have the chain have this service address of the orchestrator."""
        self.registered[PAYER] = address

    def environment(self) -> dict[str, str]:
        address = f"{self.chain.url}/{CANARIES['rpc']}"
        return {**super().environment(), "LOOPBACK_RPC_URL": urllib.parse.quote(address, safe=":/")}

    def deploy(self) -> None:
        with killed_on_error(self.start()) as rollout:
            assert rollout.wait(120) == 0, self.said()

    def verify(self, *options: str) -> subprocess.CompletedProcess[str]:
        """The command, which never shows a secret."""
        words = [sys.executable, "-I", "-m", "fleetc", "verify", str(self.directory / "fleet"), "--no-public", *options]
        done = subprocess.run(
            words, cwd=self.directory, env=self.environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True,
            check=False, timeout=120,
        )  # fmt: skip
        assert not any(secret in done.stdout + done.stderr for secret in CANARIES.values())
        assert "Traceback" not in done.stdout + done.stderr
        return done

    def found(self, *options: str) -> tuple[int, list[tuple[str, str]]]:
        """The exit code, and codes of findings with their places."""
        done = self.verify("--format", "json", *options)
        found = json.loads(done.stdout)["diagnostics"]
        return done.returncode, sorted((one["code"], one["primary"]["path"]) for one in found)

    @contextmanager
    def ill(self, words: str) -> Iterator[None]:
        """What the gateway suffers from, for a block."""
        (data,) = (self.host / "var-lib/livepeer").glob("gate*")
        (data / "standin-ill").write_text(words)
        try:
            yield
        finally:
            (data / "standin-ill").write_text("")

    def tell(self, path: str, **form: str) -> None:
        """Set something on the gateway while it runs, as somebody with livepeer_cli does."""
        set_on_node(f"http://127.0.0.1:{self._ports['cli']}{path}", form)


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Verified]:
    if missing := needed():
        pytest.skip(missing)
    made = Verified(tmp_path_factory.mktemp("verified"))
    try:
        made.deploy()
        yield made
    finally:
        made.close()


def test_what_was_just_rolled_out_is_as_reviewed(fleet: Verified) -> None:
    done = fleet.verify()
    assert done.returncode == 0, done.stdout + done.stderr
    gate = "gate: release: 0.9.1-standin, pays at most: 1500 wei a pixel, deposit: 10 ETH, reserve: 10 ETH"
    assert done.stdout == (
        "orch-two: release: 0.9.1-standin, asks: 1200 wei a pixel\n"
        f"{gate}, knows the capabilities of: 0\n2 hosts with 2 nodes asked: all of it is as reviewed\n"
    )


def test_the_form_of_the_documentation_is_understood(fleet: Verified) -> None:
    with fleet.ill("documented"):
        assert fleet.found() == (0, [])


def test_what_somebody_set_while_it_runs_is_found(fleet: Verified) -> None:
    found = [("set-at-run-time", "gateways.gate"), ("set-at-run-time", "gateways.gate.max_price")]
    try:
        fleet.tell("/setBroadcastConfig", maxPricePerUnit="1400", pixelsPerUnit="1")
        fleet.tell("/setMaxSessions", maxSessions="11")
        assert fleet.found() == (1, found)
    finally:
        fleet.tell("/setBroadcastConfig", maxPricePerUnit="3000", pixelsPerUnit="2")
        fleet.tell("/setMaxSessions", maxSessions="10")
    assert fleet.found() == (0, [])


def test_the_chain_is_believed_about_a_service_address_whatever_the_node_says(fleet: Verified) -> None:
    right, path = fleet.registered[PAYER], "orchestrators.orch-two.service"
    try:
        for address in ("https://elsewhere.example.net:8935", ""):
            fleet.register(address)
            assert fleet.found() == (1, [("other-service-address", path)]), address
    finally:
        fleet.register(right)


def test_what_a_node_says_of_itself_is_found(fleet: Verified) -> None:
    found = [
        ("deposit-low", "wallets.payer"),
        ("gateway-finds-nobody", "gateways.gate"),
        ("node-unhealthy", "gateways.gate"),
        ("other-account", "gateways.gate.wallet"),
        ("other-chain", "fleet.network"),
        ("payments-failing", "gateways.gate"),
    ]
    with fleet.ill(f"account=0x{'9' * 40},pool=none,version=0.8.0,chain=5,deposit=0,unpaid=3"):
        assert fleet.found() == (1, found)


def test_a_node_that_hangs_is_unknown(fleet: Verified) -> None:
    with fleet.ill("hang"):
        code, found = fleet.found()
    assert code == 4 and set(found) == {("not-answered", "gateways.gate")}


def test_files_that_were_changed_and_a_node_that_ended_are_found(fleet: Verified) -> None:
    (unit,) = (fleet.host / "opt/fleetc/releases").glob("*/gate/*.y*ml")
    text = unit.read_bytes()
    try:
        unit.write_bytes(text + b"# by hand\n")
        assert fleet.found() == (1, [("changed-on-host", "gateways.gate")])
    finally:
        unit.write_bytes(text)
    pid = fleet.hosts["two"].node()
    assert pid
    subprocess.run(["kill", "-9", str(pid)], check=True)
    assert fleet.found() == (1, [("node-not-running", "orchestrators.orch-two")])


def test_a_host_out_of_reach_is_unknown(fleet: Verified) -> None:
    fleet.hosts.pop("two").close()
    done = fleet.verify()
    assert done.returncode == 4
    assert done.stdout.startswith("gate: release: 0.9.1-standin, pays at most: 1500 wei a pixel, ")
    assert done.stdout.endswith(", knows the capabilities of: 0\n2 hosts with 2 nodes asked: 1 unknown\n")
    assert "warning[host-unreachable]: two: could not be reached: " in done.stderr
