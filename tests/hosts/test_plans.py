"""Sealed plans on real hosts: what they say is what happens, and a host that moved is refused.

The farm and the fleet are those of `test_deploy.py`. Each test begins with that fleet rolled out.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleetc.rollout.plan.data import SealedPlan
from fleetc.rollout.plan.document import decode
from tests.farm.farm import Farm
from tests.hosts.test_deploy import CANARY, SECRET, Rollout

pytestmark = pytest.mark.usefixtures("processes")

MARKERS = "/var/lib/fleetc/running"
SECRETS = (CANARY, SECRET, "hunter2")


class Fleet(Rollout):
    """The fleet of the deploy tests, with its plans."""

    @property
    def file(self) -> Path:
        return self.directory / "plan.json"

    def make(self, *options: str, **environment: str) -> SealedPlan:
        """Make and store a plan; no secret may be in it, in its summary or in its messages."""
        done = self.fleetc("plan", str(self.directory), "-o", str(self.file), *options, **environment)
        assert done.returncode == 0, done.stdout + done.stderr
        content = self.file.read_text(encoding="utf-8")
        for secret in SECRETS:
            assert secret not in done.stdout + done.stderr + content
            assert json.dumps(secret)[1:-1] not in content
        return decode(content.encode())

    def carry_out(self, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return self.deploy("--plan", str(self.file), *options, **environment)

    def carried_out(self, *options: str) -> list[str]:
        """Carry the plan out; names of the nodes whose process is another one afterwards."""
        before = self.pids()
        done = self.carry_out(*options)
        assert done.returncode == 0, done.stdout + done.stderr
        after = self.pids()
        return sorted(name for name in after if after[name] != before.get(name))


def steps(plan: SealedPlan) -> dict[str, list[str]]:
    return {step.host: [f"{a.do} {a.node}".strip() for a in step.actions] for step in plan.steps}


def begun(plan: SealedPlan) -> list[str]:
    """The nodes that the plan starts or restarts."""
    return sorted(a.node for step in plan.steps for a in step.actions if a.do in ("start", "restart"))


@pytest.fixture(scope="module")
def provided(farm: Farm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """A fleet on hosts with what their owner provides; they are bare again afterwards."""
    made = Fleet(farm, tmp_path_factory.mktemp("fleet"))
    made.provide()
    yield made
    made.clear()


@pytest.fixture
def fleet(provided: Fleet) -> Fleet:
    """The fleet rolled out, whatever another test left."""
    provided.write(price=1200)
    provided.compile()
    done = provided.deploy()
    assert done.returncode == 0, done.stdout + done.stderr
    return provided


@pytest.mark.slow
def test_first_rollout_from_bare_hosts(provided: Fleet) -> None:
    fleet = provided
    fleet.clear()
    fleet.provide()
    fleet.write(price=1200)
    fleet.compile()
    plan = fleet.make("--observe", FARM_RPC_URL="", FLEETC_VAULT_FILE="")
    assert {(s.known, s.release, s.processes) for s in plan.baseline.hosts} == {("observed", "", ())}
    assert plan.batches == (("one",), ("three",), ("two",)), "never all gateways at once"
    assert steps(plan) == {
        "one": ["copy", "start orch-a"],
        "three": ["copy", "start edge"],
        "two": ["copy", "start orch-b", "start gate"],
    }
    for host in fleet.hosts.values():
        assert host.run("test", "-e", "/opt/fleetc").returncode == 1, "making a plan changed a host"
    done = fleet.carry_out()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 hosts: 3 deployed" in done.stdout
    assert sorted(fleet.pids()) == begun(plan)
    before = fleet.pids()
    done = fleet.carry_out(FARM_RPC_URL="")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "nothing to do: 3 hosts already run what the plan leads to\n"
    assert fleet.pids() == before


def test_what_the_hosts_say_is_what_was_rolled_out(fleet: Fleet) -> None:
    plan = fleet.make("--observe")
    assert {action.do for step in plan.steps for action in step.actions} == {"keep"}
    (one,) = [state for state in plan.baseline.hosts if state.host == "one"]
    assert one.release == plan.steps[0].actions[0].digest
    (orch_a,) = one.processes
    assert (orch_a.node, orch_a.digest, orch_a.runtime) == ("orch-a", plan.steps[0].actions[1].digest, "systemd")
    assert (orch_a.running, orch_a.drift, len(orch_a.rest)) == (True, (), 64)
    assert {"pricePerUnit=1200", "v=3"} <= set(orch_a.live)
    assert {p.runtime for s in plan.baseline.hosts for p in s.processes} == {"systemd", "docker"}
    assert fleet.hosts["one"].run("stat", "-c", "%a", f"{MARKERS}/orch-a").stdout == "600\n"
    secret_part = fleet.hosts["one"].read(f"{MARKERS}/orch-a").decode().split()[1]
    assert len(secret_part) == 64
    assert secret_part not in fleet.file.read_text(encoding="utf-8")


def test_a_price_change_restarts_what_its_plan_says(fleet: Fleet) -> None:
    fleet.write(price=1250)
    fleet.compile()
    plan = fleet.make("--observe")
    assert begun(plan) == ["orch-a"]
    assert fleet.carried_out() == ["orch-a"]
