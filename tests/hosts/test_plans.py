"""Sealed plans on real hosts: what they say is what happens.

The farm and the fleet are those of `test_deploy.py`. The tests run in their order on one fleet.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleetc.rollout.plan.data import SealedPlan
from fleetc.rollout.plan.document import decode
from tests.farm.farm import Farm
from tests.hosts.test_deploy import CANARY, SECRET, Rollout, lent

pytestmark = pytest.mark.usefixtures("processes")

MARKERS = "/var/lib/fleetc/running"
SECRETS = (CANARY, SECRET, "hunter2")


class Fleet(Rollout):
    """The fleet of the deploy tests, with its plans."""

    @property
    def file(self) -> Path:
        return self.directory / "plan.json"

    def make(self) -> SealedPlan:
        """Make and store a plan; no secret may be in it, in its summary or in its messages."""
        done = self.fleetc("plan", str(self.directory), "-o", str(self.file), "--observe")
        assert done.returncode == 0, done.stdout + done.stderr
        content = self.file.read_text(encoding="utf-8")
        for secret in SECRETS:
            assert secret not in done.stdout + done.stderr + content
            assert json.dumps(secret)[1:-1] not in content
        return decode(content.encode())


@pytest.fixture(scope="module")
def fleet(farm: Farm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """The fleet deployed once."""
    yield from lent(Fleet(farm, tmp_path_factory.mktemp("fleet")))


def test_what_the_hosts_say_is_what_was_rolled_out(fleet: Fleet) -> None:
    plan = fleet.make()
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
    steps = [(action.do, action.node) for step in fleet.make().steps for action in step.actions]
    assert [node for do, node in steps if do in ("start", "restart")] == ["orch-a"]
    before = fleet.pids()
    done = fleet.deploy("--plan", str(fleet.file))
    assert done.returncode == 0, done.stdout + done.stderr
    after = fleet.pids()
    assert [name for name in after if after[name] != before[name]] == ["orch-a"]
