"""Work for nothing."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import SECRET, ai_worker, flagged, model, onchain, orchestrator, printed, silent

CODE = "zero-price"


def test_base_price_of_zero(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(orchestrator(price='"0 wei / pixel"')), CODE, Severity.WARNING) == snapshot


def test_sound_specs_are_silent() -> None:
    silent(onchain(orchestrator()))
    # Silence with a reason is heard.
    silence = '[silences.accepted]\ncode = "zero-price"\nreason = "a test network of ours"\n'
    silent(onchain(orchestrator(price='"0 wei / pixel"'), silence))


def test_model_at_zero_is_sold_at_the_base_price(snapshot: SnapshotAssertion) -> None:
    seller = orchestrator(mode='"dual"', models='[{ use = "realvis" }]')
    text = onchain(model(price='"0 wei / pixel"'), seller)
    assert flagged(text, CODE, Severity.WARNING) == snapshot


def test_model_at_zero_without_a_base_price_is_free() -> None:
    seller = orchestrator(mode='"ai"', price=None, secret=SECRET, models='[{ use = "realvis" }]')
    text = onchain(model(price='"0 wei / pixel"'), seller)
    assert "works for nothing" in flagged(text, CODE, Severity.WARNING)


def test_base_price_of_zero_is_fine_where_each_model_has_its_own() -> None:
    seller = orchestrator(mode='"ai"', price='"0 wei / pixel"', secret=SECRET, models='[{ use = "realvis" }]')
    silent(onchain(model(price='"5 wei / pixel"'), seller))
    two = seller.replace('[{ use = "realvis" }]', '[{ use = "realvis" }, { use = "other" }]')
    text = onchain(model(price='"5 wei / pixel"'), two, '[models.other]\npipeline = "llm"\nid = "a/b"\n')
    assert "works for nothing" in flagged(text, CODE, Severity.WARNING)


def test_base_price_of_zero_is_fine_where_ai_workers_run_only_models_with_a_price() -> None:
    seller = orchestrator(mode='"ai"', price='"0 wei / pixel"', secret=SECRET, models='[{ use = "realvis" }]')
    more = (model(price='"5 wei / pixel"'), '[models.other]\npipeline = "llm"\nid = "a/b"\n')
    worker = ai_worker(host='"gpu"', gpus="[0]", models='[{ use = "realvis" }]')
    assert "zero-price" not in printed(onchain(*more, seller, worker))
    both = worker.replace('[{ use = "realvis" }]', '[{ use = "realvis" }, { use = "other" }]')
    assert "works for nothing" in flagged(onchain(*more, seller, both), CODE, Severity.WARNING)
