"""Nodes that change their host, hosts that leave the fleet, and the way back, on real hosts: nothing ever runs twice.

The tests run in their order on one fleet; each leaves all hosts at the spec of the beginning. The node is a stand-in.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.farm.farm import Farm
from tests.hosts.switches import in_phase
from tests.hosts.test_deploy import lent, process_of
from tests.hosts.test_faults import Faulty

pytestmark = pytest.mark.usefixtures("processes")

OUT = ("[hosts.two]\n", '[hosts.two]\nout = { until = 2099-01-31, reason = "new power supply" }\n')
GATE_MOVES = ('[gateways.gate]\nhost = "two"', '[gateways.gate]\nhost = "one"')
REWARD_MOVES = ('reward_by = "orch-a"', 'reward_by = "orch-b"')


class Moving(Faulty):
    """The fleet of the deploy tests, with changes of its spec."""

    changes: tuple[tuple[str, str], ...] = ()

    def write(self, price: int, orch_a: str = "") -> None:
        super().write(price, orch_a)
        spec = self.directory / "fleet.toml"
        text = spec.read_text(encoding="utf-8")
        for old, new in self.changes:
            assert old in text, old
            text = text.replace(old, new)
        spec.write_text(text, encoding="utf-8")

    def change(self, *changes: tuple[str, str]) -> None:
        """Compile the spec of the beginning with these changes."""
        self.changes = changes
        self.release()

    def homes(self, node: str) -> list[str]:
        """The hosts on which a node runs."""
        mark = f"-dataDir=/var/lib/livepeer/{node}".encode()
        return [
            name for name, host in self.hosts.items() for process in host.processes("livepeer") if mark in process.argv
        ]

    def deployed(self, *options: str) -> str:
        done = self.deploy(*options)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @contextmanager
    def sampled(self, *words: bytes) -> Iterator[list[int]]:
        """How many processes of these hosts had all these words in their command line, again and again."""
        found: list[int] = []
        end, hosts = threading.Event(), list(self.hosts.values())

        def sample() -> None:
            while not end.wait(0.02):
                found.append(sum(set(words) <= set(one.argv) for host in hosts for one in host.processes("livepeer")))

        sampler = threading.Thread(target=sample)
        sampler.start()
        try:
            yield found
        finally:
            end.set()
            sampler.join()


GATE = b"-dataDir=/var/lib/livepeer/gate"


@pytest.fixture(scope="module")
def fleet(farm: Farm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Moving]:
    """The fleet deployed once; the hosts are bare again afterwards."""
    yield from lent(Moving(farm, tmp_path_factory.mktemp("fleet")), Moving.release)


def test_node_that_moves_never_runs_twice(fleet: Moving) -> None:
    fleet.change(GATE_MOVES)
    with fleet.sampled(GATE) as counts:
        said = fleet.deployed()
    assert fleet.homes("gate") == ["one"]
    assert max(counts) == 1 and min(counts) == 0 and len(counts) > 50
    assert "gate moves from two to one" in said


def test_move_whose_new_host_fails_comes_back(fleet: Moving) -> None:
    """Back to the host of the beginning, whose release is ill there."""
    assert fleet.homes("gate") == ["one"]
    fleet.hosts["two"].run("mkdir", "-p", "/var/lib/livepeer/gate")
    fleet.hosts["two"].write("/var/lib/livepeer/gate/standin-ill", b"exit=1")
    fleet.change()
    try:
        with fleet.sampled(GATE) as counts:
            done = fleet.deploy()
    finally:
        fleet.hosts["two"].run("rm", "/var/lib/livepeer/gate/standin-ill")
    assert done.returncode == 4, done.stdout + done.stderr
    assert max(counts) == 1
    assert fleet.homes("gate") == ["one"], done.stdout
    assert "gate came back from its new host" in done.stdout
    fleet.deployed()
    assert fleet.homes("gate") == ["two"]


def test_reward_is_called_by_one_process(fleet: Moving) -> None:
    fleet.change(REWARD_MOVES)
    with fleet.sampled(b"-reward=true") as counts:
        fleet.deployed()
    assert max(counts) == 1 and min(counts) == 0
    assert b"-reward=true" in [word for p in fleet.hosts["two"].processes("livepeer") for word in p.argv]


def without_three(fleet: Moving) -> None:
    """Compile the spec without the host three and its gateway."""
    fleet.changes = ()
    fleet.release()
    spec = fleet.directory / "fleet.toml"
    tables = spec.read_text(encoding="utf-8").split("\n[")
    kept = [table for table in tables if not table.startswith(("hosts.three]", "gateways.edge"))]
    spec.write_text("\n[".join(kept), encoding="utf-8")
    fleet.compile()


def test_host_that_left_the_spec_is_an_orphan_until_it_is_retired(fleet: Moving) -> None:
    without_three(fleet)
    three = fleet.hosts["three"]
    three.cut_network()
    try:
        cut = fleet.deploy(FLEETC_CONNECT_TIMEOUT="4")
    finally:
        three.restore_network()
    assert cut.returncode == 1, cut.stdout + cut.stderr
    assert "ORPHAN" in cut.stdout and "three: left the spec and could not be reached" in cut.stdout
    assert fleet.homes("edge") == ["three"]
    assert fleet.homes("orch-a") == ["one"]
    said = fleet.deployed()
    assert "retired" in said
    assert fleet.homes("edge") == []


def test_host_out_of_service_stops_stays_away_and_comes_back(fleet: Moving) -> None:
    one, two = fleet.hosts["one"], fleet.hosts["two"]
    orch = process_of(one, fleet.service("orch-a"))
    fleet.changes = (OUT,)
    fleet.write(fleet.price)  # the same price: nothing else changes
    fleet.compile()
    shown = fleet.deployed("--check")
    assert "two: would retire gate: it is out of service until 2099-01-31: new power supply" in shown
    fleet.deployed()
    assert fleet.homes("gate") == fleet.homes("orch-b") == []
    assert process_of(one, fleet.service("orch-a")) == orch, "nothing else restarts"
    assert two.run("test", "-d", "/var/lib/livepeer/gate").returncode == 0
    assert two.run("test", "-e", "/etc/systemd/system/livepeer-gate.service").returncode == 1
    done = fleet.fleetc("verify", str(fleet.directory), "--no-public", "--limit", "two")
    assert (done.returncode, "without two (out of service)" in done.stdout) == (0, True), done.stdout + done.stderr
    two.cut_network()
    try:
        price = fleet.release()
        done = fleet.deploy(FLEETC_CONNECT_TIMEOUT="4")
        looked = fleet.fleetc("verify", str(fleet.directory), "--no-public", "--limit", "two")
    finally:
        two.restore_network()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "two: out of service until 2099-01-31: new power supply; could not be reached" in done.stdout
    assert fleet.runs() == price and looked.returncode == 0, looked.stdout + looked.stderr
    fleet.change()
    fleet.deployed()
    assert fleet.homes("gate") == fleet.homes("orch-b") == ["two"]


def test_of_two_rollouts_one_wins(fleet: Moving) -> None:
    """The second one first shares the journal with the first, then it is another controller."""
    price = fleet.release("slow=6")
    first = fleet.begin()
    in_phase(fleet.hosts["one"], "switching", "watching")
    same = fleet.deploy()
    other = fleet.deploy(FLEETC_JOURNAL=str(fleet.journal.with_name("elsewhere")))
    said = first.communicate(timeout=120)[0]
    assert first.returncode == 0, said
    assert same.returncode == 1 and "another rollout of the fleet farm is on its way: that of " in same.stderr
    assert other.returncode == 1 and "has claimed this host" in other.stdout, other.stdout + other.stderr
    assert fleet.runs() == price
