"""Models of one node whose runners would need different images."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import SECRET, ai_worker, flagged, free_orchestrator, model, offchain, silent

CODE = "runner-image-conflict"
BOTH = '[{ use = "realvis", warm = true }, { use = "flux" }]'
ORCH = free_orchestrator(mode='"ai"', models='[{ use = "realvis" }, { use = "flux" }]', secret=SECRET)
IMAGE = '"example/runner:v1.0.0"'
OTHER = '"example/flux:v1.0.0"'
FLUX = '"black-forest-labs/FLUX.1-schnell"'


def _worker(first: str | None, second: str | None, **settings: str | None) -> str:
    models = model(image=first) + model("flux", id=FLUX, image=second, **settings)
    return offchain(ORCH, ai_worker(models=BOTH), models)


def test_two_images_for_one_pipeline(snapshot: SnapshotAssertion) -> None:
    assert flagged(_worker(IMAGE, OTHER), CODE) == snapshot


def test_sound_specs_are_silent() -> None:
    silent(_worker(IMAGE, IMAGE))
    # Models of two pipelines have an image each.
    silent(_worker(IMAGE, OTHER, pipeline='"image-to-image"'))
    # Runner managed elsewhere brings its own.
    text = _worker(IMAGE, OTHER)
    silent(text.replace('{ use = "flux" }]\n', '{ use = "flux", url = "http://203.0.113.50:8000" }]\n'))


def test_model_without_image_runs_in_the_one_of_its_neighbour(snapshot: SnapshotAssertion) -> None:
    assert flagged(_worker(IMAGE, None), CODE, Severity.WARNING) == snapshot


def test_two_names_of_one_live_model() -> None:
    live = {"pipeline": '"live-video-to-video"', "id": '"comfyui"'}
    models = model(image=IMAGE, **live) + model("flux", image=OTHER, **live)
    assert "realvis and flux" in flagged(offchain(ORCH, ai_worker(models=BOTH), models), CODE)
    apart = model(image=IMAGE, **live) + model("flux", image=OTHER, **{**live, "id": '"noop"'})
    silent(offchain(ORCH, ai_worker(models=BOTH), apart))
