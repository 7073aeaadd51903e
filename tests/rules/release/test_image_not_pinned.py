"""Images whose version moves."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import SECRET, ai_worker, flagged, free_gateway, free_orchestrator, model, offchain, silent

CODE = "image-not-pinned"
ORCH = free_orchestrator(mode='"dual"', host='"edge"', secret=SECRET, models='[{ use = "realvis" }]')
DIGEST = "sha256:" + "ab" * 32


def test_latest(snapshot: SnapshotAssertion) -> None:
    text = offchain(free_orchestrator(), image='"livepeer/go-livepeer:latest"')
    assert flagged(text, CODE, Severity.WARNING) == snapshot


def test_sound_specs_are_silent() -> None:
    # Image without a tag gets the release.
    silent(offchain(free_orchestrator(), image='"livepeer/go-livepeer"'))
    # Digest is fixed whatever the tag.
    silent(offchain(free_orchestrator(), free_gateway(image=f'"registry:5000/go-livepeer:latest@{DIGEST}"')))


@pytest.mark.parametrize("tag", ["master", "main", "v0.9", "0.9", "v1"])
def test_tags_that_move(tag: str) -> None:
    text = offchain(free_orchestrator(), free_gateway(image=f'"livepeer/go-livepeer:{tag}"'))
    assert flagged(text, CODE, Severity.WARNING)


def test_runner_image_is_taken_as_it_is(snapshot: SnapshotAssertion) -> None:
    runner = ai_worker(runner_image='"livepeer/ai-runner"')
    assert flagged(offchain(model(), ORCH, runner), CODE, Severity.WARNING) == snapshot


def test_image_of_a_model() -> None:
    text = offchain(model(image='"livepeer/ai-runner:latest"'), ORCH, ai_worker())
    assert flagged(text, CODE, Severity.WARNING)
    silent(offchain(model(image='"livepeer/ai-runner:v0.14.1"'), ORCH, ai_worker()))
