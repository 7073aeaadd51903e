"""Hosts that a rollout leaves behind: as many as the spec allows, by name, and never one that the fleet needs."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from fleetc.blueprint.shards import Shard
from fleetc.messages.forms import RolloutFormat
from fleetc.pipeline import Compiled
from fleetc.rollout.hosts.deploy import Outcome
from fleetc.rollout.hosts.events import Event
from fleetc.rollout.hosts.journal import to_read
from fleetc.rollout.hosts.rolling import Goal
from fleetc.rollout.reports import written
from tests.rollout.hosts.test_killed import MOVED, NEXT, World, world
from tests.support import compile_text

__all__ = ["world"]


def missing(count: int, text: str = NEXT) -> Compiled:
    """A release of a fleet that may miss hosts."""
    return compile_text(text.replace('batch = "25%"', f'batch = "25%"\nmay_miss = {count}'))


def results(outcome: Outcome) -> dict[str, str]:
    return {host.host: host.result for host in outcome.hosts}


def behind(world: World) -> list[str]:
    return list(to_read(world.directory, "two-regions").history.behind)


def test_silent_host_and_one_in_quarantine_are_left_behind_and_come_later(world: World) -> None:
    before = world.hosts.releases()
    world.hosts.silent, world.hosts.quarantined = {"us-gpu-2"}, {"eu-edge-2"}
    outcome = world.roll_out(missing(2))
    assert outcome.exit_code == 1
    assert sorted(host for host, result in results(outcome).items() if result == "behind") == ["eu-edge-2", "us-gpu-2"]
    assert set(results(outcome).values()) == {"new", "unchanged", "behind"}
    now = world.hosts.releases()
    assert {host for host in now if now[host] == before[host]} >= {"us-gpu-2", "eu-edge-2"}
    assert behind(world) == ["us-gpu-2", "eu-edge-2"]
    text = written(RolloutFormat.text, outcome)
    assert "us-gpu-2: could not be reached: Connection timed out" in text and "eu-edge-2: it could not go back" in text
    assert "2 behind" in text and "once us-gpu-2, eu-edge-2 can take part again: fleetc deploy" in text
    world.hosts.silent = set()
    assert results(world.roll_out(missing(2)))["us-gpu-2"] == "new" and behind(world) == ["eu-edge-2"]
    world.hosts.quarantined = set()
    assert world.roll_out(missing(2)).exit_code == 0 and not behind(world)
    world.is_at(missing(2))
    world.hosts.silent, world.hosts.quarantined = {"us-gpu-2"}, {"eu-edge-2"}
    tried = written(RolloutFormat.text, world.roll_out(missing(2), check=True))
    assert "left behind: could not be reached: Connection timed out" in tried and "left behind: it could not" in tried


@pytest.mark.parametrize(
    ("silent", "count", "text", "why"),
    [
        ({"us-gpu-2"}, 0, NEXT, "not begun: us-gpu-2 cannot take part"),
        ({"us-gpu-2", "us-gpu-1"}, 1, NEXT, "2 hosts (us-gpu-1, us-gpu-2) cannot take part, and rollout.may_miss"),
        ({"eu-gpu-1"}, 1, NEXT, "is needed: eu-video-1 on eu-gpu-1 calls reward for 0x2222"),
        ({"eu-ai", "us-ai"}, 2, NEXT, "is needed: gateways that search find AI in this fleet only on eu-ai, us-ai"),
        ({"eu-gpu-2"}, 1, MOVED, "eu-video-2 was last on eu-gpu-2, and eu-gpu-2 cannot take part"),
        ({"us-gpu-2"}, 1, MOVED, "us-video-2 was last on us-gpu-2, and us-gpu-2 cannot take part"),
    ],
)
def test_host_that_is_needed_or_one_too_many_stops_all(
    world: World, silent: set[str], count: int, text: str, why: str
) -> None:
    before = world.hosts.releases()
    world.hosts.silent = silent
    outcome = world.roll_out(missing(count, text))
    assert outcome.exit_code == 1 and world.hosts.releases() == before
    assert set(results(outcome).values()) <= {"old", "unchanged"} and not behind(world)
    assert any(why in host.reason for host in outcome.hosts), [host.reason for host in outcome.hosts]
    assert not any(one["claim"] for one in world.hosts.read().values())


def test_host_that_falls_silent_before_its_batch_leaves_the_rest_of_the_batch_to_change(world: World) -> None:
    def after(playbook: str, hosts: Sequence[str]) -> None:
        if playbook == "site.yml":
            world.hosts.silent = {"us-gpu-2"}

    world.hosts.after = after
    known = to_read(world.directory, "two-regions").history.hosts["us-gpu-2"]
    outcome = world.roll_out(missing(1))
    assert to_read(world.directory, "two-regions").history.hosts["us-gpu-2"] == known
    assert results(outcome)["us-gpu-2"] == "behind" and outcome.exit_code == 1
    assert set(results(outcome).values()) == {"new", "unchanged", "behind"}
    assert behind(world) == ["us-gpu-2"]


def test_another_host_goes_alone_where_the_canary_is_dead(world: World) -> None:
    heard: list[Event] = []
    world.hosts.silent = {"eu-ai"}
    assert results(world.roll_out(missing(1), heard=heard.append))["eu-ai"] == "behind"
    batches = [event.message for event in heard if event.kind == "batch" and event.task]
    assert batches[:2] == ["eu-gpu-1", "eu-gpu-2"]


def test_parts_of_a_fleet_together_miss_no_more_than_the_whole(world: World) -> None:
    world.hosts.silent = {"us-ai", "us-gpu-2"}
    outcomes = [world.roll_out(missing(1), goal=Goal(shard=Shard(part, 2))) for part in (1, 2)]
    assert not any(host.result == "behind" for outcome in outcomes for host in outcome.hosts)


def test_part_without_the_canary_waits_for_it(world: World) -> None:
    """Machines that share the work have no word between them, so each asks the canary hosts themselves."""
    first, part = Goal(shard=Shard(1, 3)), Goal(shard=Shard(2, 3))
    world.hosts.change("eu-ai", release="f" * 64)
    before = world.hosts.releases()
    for silent, why in (set[str](), "it has another release"), ({"eu-ai"}, "could not be reached"):
        world.hosts.silent = silent
        early = world.roll_out(compile_text(NEXT), goal=part)
        assert early.exit_code == 1 and world.hosts.releases() == before
        assert all(why in host.reason and "roll out the shard 1/3 first" in host.reason for host in early.hosts)
    world.hosts.silent = set()
    assert [world.roll_out(compile_text(NEXT), goal=goal).exit_code for goal in (first, part)] == [0, 0]
