"""GPUs and live runners that a list has twice, and models both warm and cold."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import (
    SECRET,
    ai_worker,
    flagged,
    free_orchestrator,
    model,
    offchain,
    renting,
    silent,
    transcoder,
)

CODE = "listed-twice"


ORCH = free_orchestrator(host='"edge"', secret=SECRET)


def test_id_twice(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(ORCH, transcoder(gpus="[1, 0, 1]")), CODE) == snapshot


def test_sound_specs_are_silent() -> None:
    silent(offchain(ORCH, transcoder(gpus="[1, 0]")))
    silent(renting())
    models = '[{ use = "realvis", warm = true }, { use = "realvis", warm = true }]'
    silent(offchain(model(), SELLER, ai_worker(models=models, gpus="[0, 1]")))
    # Two pipelines of one model are two.
    models = '[{ use = "realvis", warm = true }, { use = "other" }]'
    other = model("other", pipeline='"image-to-image"')
    silent(offchain(model(), other, SELLER, ai_worker(models=models)))


def test_the_node_refuses_one_label_twice(snapshot: SnapshotAssertion) -> None:
    assert flagged(renting(runners='["echo", "echo"]'), CODE) == snapshot


SELLER = free_orchestrator(mode='"dual"', host='"edge"', secret=SECRET, models='[{ use = "realvis" }]')


def test_both(snapshot: SnapshotAssertion) -> None:
    models = '[{ use = "realvis", warm = true }, { use = "realvis" }]'
    assert flagged(offchain(model(), SELLER, ai_worker(models=models)), CODE) == snapshot


def test_two_names_of_one_model_are_one() -> None:
    models = '[{ use = "realvis", warm = true }, { use = "alias" }]'
    assert flagged(offchain(model(), model("alias"), SELLER, ai_worker(models=models)), CODE)
