"""`fleetc deploy --shard`: what it refuses before any host is asked, and how one that broke off is gone on with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fleetc.blueprint.shards import Shard, shards_of
from fleetc.emit.tree import MANIFEST
from fleetc.rollout.hosts.journal import opened
from fleetc.rollout.hosts.rolling import resumed
from fleetc.rollout.plan.document import decode, encode
from tests.support import INVENTORIES, compiled_example, fleetc

SPEC = INVENTORIES / "two-regions"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--shard", "4/3"), "error: --shard 4/3: it is a part and how many there are, such as 3/10"),
        (("--shard", "\x1b[2J"), "error: --shard \\x1b[2J: it is a part"),
        (
            ("--shard", "1/3", "--limit", "eu-ai"),
            "--shard chooses the hosts, so it takes no --limit; a plan has its part",
        ),
        (
            ("--shard", "1/3", "--plan", "plan.json"),
            "--shard chooses the hosts, so it takes no --limit; a plan has its part",
        ),
        (
            ("--shard", "1/3", "--resume"),
            "--resume continues the interrupted rollout, so it takes no --limit, --shard",
        ),
    ],
)
def test_what_is_refused(options: tuple[str, ...], said: str) -> None:
    done = fleetc("deploy", SPEC, *options)
    assert done.returncode == 2
    assert said in done.stderr


def test_part_that_broke_off_is_gone_on_with(tmp_path: Path) -> None:
    """A part has the same hosts in the same tree; the journal has no list of them."""
    tree = compiled_example("two-regions").tree
    assert tree is not None
    begun = {"kind": "deploy", "who": "ci", "manifest": tree.as_mapping()[MANIFEST].sha256, "seal": "-", "stated": {}}
    with opened(tmp_path, "two-regions", "1") as journal:
        journal.write("begin", **begun, hosts=[], shard="2/3")
    with opened(tmp_path, "two-regions", "2") as journal:
        assert resumed(journal, tree) == ((), Shard(2, 3))
        journal.write("begin", **begun, hosts=["eu-ai"], shard="")
    with opened(tmp_path, "two-regions", "3") as journal:
        assert resumed(journal, tree) == (("eu-ai",), None)


def test_plan_of_a_part_is_for_that_part_alone(tmp_path: Path) -> None:
    """Its hosts, its way to roll out, and what it is verified against are those of `deploy --shard`."""
    spec, plan = tmp_path / "fleet.toml", tmp_path / "plan.json"
    spec.write_bytes((SPEC / "fleet.toml").read_bytes())
    assert fleetc("compile", spec).returncode == 0
    blueprint = compiled_example("two-regions").blueprint
    assert blueprint is not None
    for number in (1, 2):
        done = fleetc("plan", spec, "--shard", f"{number}/2", "-o", plan)
        assert done.returncode == 0
        assert f"part {number}/2 of it" in done.stdout
        hosts = {step.host for step in decode(plan.read_bytes()).steps}
        assert hosts == set(shards_of(blueprint, 2)[number - 1])
        assert fleetc("plan", spec, "--verify", plan).returncode == 0
    made = decode(plan.read_bytes())
    for shard in ("1/2", "3/3", "0/0"):
        plan.write_bytes(encode(replace(made, shard=shard)))
        done = fleetc("plan", spec, "--verify", plan)
        assert done.returncode == 1
        assert "error[plan-" in done.stderr
    done = fleetc("plan", spec, "--shard", "9/9", "-o", tmp_path / "none.json")
    assert done.returncode == 0
    assert "9/9 has no hosts, so there is nothing to plan" in done.stderr
    assert not (tmp_path / "none.json").exists()
