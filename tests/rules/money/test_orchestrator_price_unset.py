"""Orchestrators that sell work without a price."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import (
    SECRET,
    ai_worker,
    flagged,
    free_orchestrator,
    model,
    offchain,
    onchain,
    orchestrator,
    printed,
    renting,
    runner,
    silent,
)

CODE = "orchestrator-price-unset"


AI = {"mode": '"ai"', "secret": SECRET, "models": '[{ use = "realvis" }]'}


def test_no_price_for_video(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(orchestrator(price=None)), CODE) == snapshot


def test_sound_specs_are_silent() -> None:
    silent(onchain(orchestrator()))
    # Offchain nobody pays.
    silent(offchain(free_orchestrator()))
    # With a price or without a chain it is fine.
    silent(renting())
    silent(offchain(free_orchestrator(mode='"ai"', secret=SECRET, runners='["echo"]'), runner(price=None)))


def test_model_without_any_price(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(model(price=None), orchestrator(price=None, **AI)), CODE) == snapshot


def test_price_of_the_model_or_of_the_use_or_of_the_node_is_enough() -> None:
    silent(onchain(model(), orchestrator(price=None, **AI)))
    assert printed(onchain(model(price=None), orchestrator(**AI)), CODE) == "no problems\n"
    use = '[{ use = "realvis", price = "4000 wei / pixel" }]'
    silent(onchain(model(price=None), orchestrator(price=None, **{**AI, "models": use})))


def test_unsound_specs_are_flagged() -> None:
    # Base price of zero is none for models.
    text = onchain(model(price=None), orchestrator(price='"0 wei / pixel"', **AI))
    assert "model realvis" in flagged(text, CODE)
    # Remote AI work needs a base price.
    text = onchain(model(), orchestrator(price=None, host='"edge"', **AI), ai_worker())
    assert "others run its models" in flagged(text, CODE)


def test_without_a_price_on_a_chain(snapshot: SnapshotAssertion) -> None:
    assert flagged(renting(runner(price=None), rates=False), CODE) == snapshot
