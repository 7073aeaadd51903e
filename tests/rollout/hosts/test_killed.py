"""Rollouts of a fleet of many hosts, which a host or a person changes meanwhile; `tests/explore` kills them.

The rollout is real, and so is the journal. The hosts are a stand-in.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from fleetc.pipeline import Compiled
from fleetc.rollout.hosts import deploy as deploying
from fleetc.rollout.hosts import rolling
from fleetc.rollout.hosts.deploy import Outcome, deploy_tree
from fleetc.rollout.hosts.journal import opened, to_read
from fleetc.rollout.hosts.kept import releases_before
from fleetc.rollout.hosts.owner import this_run
from fleetc.rollout.plan.data import NewestPlan
from fleetc.settings import Settings
from tests.rollout.hosts.standin_hosts import Hosts
from tests.support import compile_text, example_text

SPEC = example_text("two-regions")
NEXT = SPEC.replace("max_sessions = 200", "max_sessions = 210").replace("max_sessions = 8", "max_sessions = 7")
MOVED = NEXT.replace('host = "eu-gpu-2"', 'host = "us-gpu-2"', 1).replace(
    '[orchestrators.us-video-2]\nhost = "us-gpu-2"', '[orchestrators.us-video-2]\nhost = "eu-gpu-2"'
)


class World:
    """The hosts, the journal and rollouts of one fleet."""

    def __init__(self, directory: Path) -> None:
        self.hosts, self.directory = Hosts(directory / "hosts.json"), directory
        self.settings = Settings()

    def roll_out(
        self,
        compiled: Compiled,
        resume: bool = False,
        goal: rolling.Goal | None = None,
        stated: rolling.Stated = rolling.NOTHING_STATED,
        heard: rolling.Watch = lambda _: None,
        limit: tuple[str, ...] = (),
        check: bool = False,
    ) -> Outcome:
        assert compiled.tree is not None and compiled.blueprint is not None
        this_run.cache_clear()
        with opened(self.directory, "two-regions", this_run()["id"]) as journal:
            limit, _ = rolling.resumed(journal, compiled.tree) if resume else (limit, None)
            return deploy_tree(
                compiled.tree, compiled.blueprint, self.settings, limit, check, heard, journal, goal, stated
            )

    def is_at(self, compiled: Compiled) -> None:
        """Every host has the release of a tree, nothing claims it, and the journal says so."""
        assert compiled.blueprint is not None
        history = to_read(self.directory, "two-regions").history
        for host in compiled.blueprint.hosts:
            one = self.hosts.read()[host.name]
            assert set(one["nodes"]) == {service.name for service in host.services}
            assert (one["claim"], history.hosts[host.name].release) == (None, one["release"])
        assert history.broken_off is None and history.runs[-1].exit_code == 0


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """A fleet that runs SPEC."""
    made = World(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # copies of the tree, in memory
    monkeypatch.setenv("ARBITRUM_RPC_URL", "https://rpc.example.net")
    monkeypatch.setattr(rolling, "run_playbook", made.hosts.run)
    monkeypatch.setattr(deploying, "run_playbook", made.hosts.run)
    assert made.roll_out(compile_text(SPEC)).exit_code == 0
    return made


@pytest.mark.parametrize("what", ["drift", "nodes", "release"])
def test_plan_halts_at_a_host_that_is_changed_after_its_first_batch(world: World, what: str) -> None:
    changes = {"drift": {"us-video-2": ["its unit was changed"]}, "nodes": {}, "release": "f" * 64}
    before = world.hosts.releases()

    def after(playbook: str, hosts: object) -> None:
        if playbook == "site.yml":
            world.hosts.change("us-gpu-2", **{what: changes[what]})

    world.hosts.after = after
    goal = rolling.Goal(sealed=NewestPlan("2026-03-01T12:00:00Z", "a" * 64))
    outcome = world.roll_out(compile_text(NEXT), goal=goal)
    results = {host.host: (host.result, host.reason) for host in outcome.hosts}
    assert outcome.exit_code == 1
    changed = {host for host, (result, _) in results.items() if result == "new"}
    assert changed == {"eu-gpu-1", "eu-gpu-2", "us-gpu-1"}
    assert "it was changed after this plan began: " in results["us-gpu-2"][1]
    assert results["us-edge"] == ("old", "not begun, because of us-gpu-2")
    now = world.hosts.releases()
    assert {host: now[host] for host in ("eu-edge-1", "eu-edge-2", "us-edge")} == {
        host: before[host] for host in ("eu-edge-1", "eu-edge-2", "us-edge")
    }
    world.hosts.after = lambda playbook, hosts: None
    assert world.roll_out(compile_text(NEXT)).exit_code == 0
    world.is_at(compile_text(NEXT))


def test_move_is_no_change_by_hand(world: World) -> None:
    goal = rolling.Goal(sealed=NewestPlan("2026-03-01T12:00:00Z", "a" * 64))
    assert world.roll_out(compile_text(MOVED), goal=goal).exit_code == 0
    world.is_at(compile_text(MOVED))


@pytest.mark.parametrize(("host", "node", "left"), [("eu-gpu-1", "eu-video-1", 4), ("us-edge", "us-live", 0)])
def test_host_that_falls_after_its_batch_is_not_deployed_and_ends_the_rollout(
    world: World, monkeypatch: pytest.MonkeyPatch, host: str, node: str, left: int
) -> None:
    """Earlier batches are judged again before the next one, and all of them at the end."""
    monkeypatch.setattr(deploying, "_LOOK_SECONDS", 0)

    def after(playbook: str, hosts: Sequence[str]) -> None:
        if playbook == "site.yml" and host in hosts:
            world.hosts.change(host, drift={node: ["its process has other arguments"]})

    world.hosts.after = after
    outcome = world.roll_out(compile_text(NEXT))
    results = {one.host: one for one in outcome.hosts}
    words = f"it was well when it switched, and then: {node}: its process has other arguments"
    assert (results[host].result, results[host].reason) == ("unwell", words)
    assert outcome.exit_code == 1
    assert len([one for one in outcome.hosts if one.reason == f"not begun, because of {host}"]) == left
    world.hosts.after = lambda playbook, hosts: None
    history = to_read(world.directory, "two-regions").history
    assert history.runs[-1].changes[host].result == "unwell"
    assert releases_before(history, [*results], "")[host] == results[host].before
    assert world.roll_out(compile_text(NEXT)).exit_code == 0
    world.is_at(compile_text(NEXT))
