"""Plans have the batches that a rollout takes: where something changes its host, that is the order of the two."""

from __future__ import annotations

from itertools import chain

from tests.rollout.plan.support import Workplace


def batch_by_host(place: Workplace, *edits: tuple[str, str]) -> dict[str, int]:
    """The number of each host's batch in a plan that starts from the tree that was compiled before the edits."""
    text = place.spec.read_text(encoding="utf-8")
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    place.spec.write_text(text, encoding="utf-8")
    plan = place.made()
    assert [step.host for step in plan.steps] == list(chain(*plan.batches))
    return {host: number for number, batch in enumerate(plan.batches) for host in batch}


def test_who_calls_rewards_no_longer_comes_before_who_does_then(place: Workplace) -> None:
    one, other = 'reward_by = "eu-video-1"', 'reward_by = "eu-video-2"'
    usual = batch_by_host(place, (one, other))
    assert usual["eu-gpu-1"] < usual["eu-gpu-2"]
    place.compile()
    batch = batch_by_host(place, (other, one))
    assert batch["eu-gpu-2"] < batch["eu-gpu-1"]


def test_order_without_moves_is_that_of_the_tree(place: Workplace) -> None:
    usual = place.inputs().blueprint.batches
    assert batch_by_host(place) == {host: number for number, hosts in enumerate(usual) for host in hosts}
