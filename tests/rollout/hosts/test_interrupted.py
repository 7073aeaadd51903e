"""A rollout that a person or the system ends: no other batch begins, nothing stays claimed, and the report is whole.

The rollout and its journal are real, and the hosts are a stand-in, as in `test_killed.py`.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Sequence

import pytest

from fleetc.messages.forms import RolloutFormat
from fleetc.rollout.hosts.events import Event
from fleetc.rollout.hosts.journal import to_read
from fleetc.rollout.hosts.rolling import Stated
from fleetc.rollout.journal.history import facts_of
from fleetc.rollout.reports import written
from tests.rollout.hosts.test_killed import MOVED, NEXT, World, world
from tests.support import compile_text

__all__ = ["world"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("moment", ["begin.yml", "site.yml", "observe.yml"])
def test_signal_between_two_runs_ends_the_rollout_with_a_report(
    world: World, moment: str, number: signal.Signals
) -> None:
    """The first word comes at once. A host that was not asked after its batch is not taken for ill."""
    first_word, first_batch = threading.Event(), list[str]()

    def hear(event: Event) -> None:
        if event.task.startswith("batch 1 of"):
            first_batch.extend(event.message.split(", "))
        if event.message.startswith("interrupted"):
            first_word.set()

    def after(playbook: str, hosts: Sequence[str]) -> None:
        if playbook == moment and not first_word.is_set():
            os.kill(os.getpid(), number)
            assert first_word.wait(1)

    world.hosts.after = after
    before = signal.getsignal(number)
    outcome = world.roll_out(compile_text(NEXT), heard=hear)
    assert signal.getsignal(number) == before
    assert {host.result for host in outcome.hosts} <= {"new", "old", "unchanged"}
    assert sum(host.reason == "not begun: the rollout was interrupted" for host in outcome.hosts) >= 3
    assert sorted(host.host for host in outcome.hosts if host.result == "new") == sorted(first_batch)
    assert bool(first_batch) == (moment != "begin.yml")
    assert not any(one["claim"] for one in world.hosts.read().values())
    assert "to go on, at any time, also before hosts go back: fleetc deploy" in written(RolloutFormat.text, outcome)
    assert to_read(world.directory, "two-regions").history.broken_off is None
    world.hosts.after = lambda playbook, hosts: None
    assert world.roll_out(compile_text(NEXT)).exit_code == 0
    world.is_at(compile_text(NEXT))


def test_host_that_is_stated_to_be_dead_is_left_out_and_not_unknown(world: World) -> None:
    """The journal still has what may run there, so nothing moves from it unseen later."""
    known = to_read(world.directory, "two-regions").history.hosts["us-gpu-1"]
    outcome = world.roll_out(compile_text(NEXT), stated=Stated(dead=("us-gpu-1",)))
    assert outcome.exit_code == 0
    assert [host.host for host in outcome.hosts if host.result == "dead"] == ["us-gpu-1"]
    assert facts_of(to_read(world.directory, "two-regions").history.hosts["us-gpu-1"]) == facts_of(known)
    assert "once us-gpu-1 works again: fleetc deploy" in written(RolloutFormat.text, outcome)
    assert world.roll_out(compile_text(MOVED)).exit_code == 0
    world.is_at(compile_text(MOVED))
