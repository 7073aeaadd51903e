"""`fleetc restart`: a rollout that changes no release, of nodes that a person names."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleetc.messages.forms import RolloutFormat
from fleetc.rollout.hosts.events import Event
from fleetc.rollout.hosts.journal import to_read
from fleetc.rollout.hosts.kept import releases_before
from fleetc.rollout.hosts.rolling import Goal
from fleetc.rollout.reports import written
from tests.rollout.hosts.test_killed import NEXT, World, world
from tests.support import compile_text, example_text, fleetc

__all__ = ["world"]

GOAL = Goal("restart", restart={"eu-gpu-1": ("eu-video-1",), "us-gpu-1": ("us-video-1",), "us-edge": ("us-live",)})


def test_restart_goes_by_batches_and_leaves_releases_alone(world: World) -> None:
    """The spec has another release by now."""
    before = world.hosts.releases()
    heard: list[Event] = []
    outcome = world.roll_out(compile_text(NEXT), goal=GOAL, heard=heard.append, limit=tuple(GOAL.restart))
    assert outcome.exit_code == 0
    assert {host.host: host.result for host in outcome.hosts} == dict.fromkeys(GOAL.restart, "new")
    assert len([event for event in heard if event.kind == "batch" and event.task]) == 3
    assert world.hosts.restarted == ["eu-video-1", "us-video-1", "us-live"], "in the order of rollouts"
    assert world.hosts.releases() == before
    assert "3 hosts: 3 restarted" in written(RolloutFormat.text, outcome)
    history = to_read(world.directory, "two-regions").history
    assert history.runs[-1].kind == "restart"
    assert {host: history.hosts[host].release for host in GOAL.restart} == {host: before[host] for host in GOAL.restart}


def test_restart_is_nothing_to_go_back_from(world: World) -> None:
    assert world.roll_out(compile_text(NEXT)).exit_code == 0
    names = list(world.hosts.releases())
    undone = releases_before(to_read(world.directory, "two-regions").history, names, "")
    world.hosts.ill = {"eu-gpu-1"}
    outcome = world.roll_out(compile_text(NEXT), goal=GOAL, limit=tuple(GOAL.restart))
    assert outcome.exit_code == 4 and [host.result for host in outcome.hosts] == ["reverted", "old", "old"]
    assert releases_before(to_read(world.directory, "two-regions").history, names, "") == undone


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("us-vidoe-1",), 'there is no node "us-vidoe-1"; did you mean "us-video-1"?'),
        (("us-video-1", "ap-*"), 'there is no node "ap-*"'),
        (("us-video-2",), "us-video-2 is out of service until 2099-01-31: new fan; remove out there, and deploy it"),
    ],
)
def test_node_that_cannot_be_restarted_is_named(words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    out = '[orchestrators.us-video-2]\nout = { until = 2099-01-31, reason = "new fan" }\n'
    text = example_text("two-regions").replace("[orchestrators.us-video-2]\n", out)
    (tmp_path / "fleet.toml").write_text(text, encoding="utf-8")
    done = fleetc("restart", *words, cwd=tmp_path, FLEETC_JOURNAL=str(tmp_path / "journal"))
    assert (done.returncode, done.stdout) == (2, "") and message in done.stderr
    assert not (tmp_path / "journal").exists()
