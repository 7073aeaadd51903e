"""Borders of the rules about models and the runners that serve them: one test for each rule, named as its code."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import has_errors
from tests.rules.support import (
    SECRET,
    OneRule,
    ai_dispatcher,
    ai_worker,
    checked,
    free_orchestrator,
    host,
    model,
    offchain,
    printed,
    silent,
)

ELSEWHERE = '[{ use = "realvis", url = "http://203.0.113.50:8000" }]'
BOX = host("box", runtime='"systemd"', public='"box.example.net"')


def _selling(models: str = ELSEWHERE, box: str = BOX) -> str:
    orch = free_orchestrator(host='"box"', mode='"ai"', models=models, secret=SECRET, service=None)
    return offchain(box, orch, model())


def test_docker_for_models_elsewhere(rule: OneRule) -> None:
    # Containers of its own or a host with Docker.
    for text in [
        _selling('[{ use = "realvis" }]'),
        _selling(box=host("box", runtime='"docker"', public='"box.example.net"')),
    ]:
        silent(text)
    # Worker needs it and its orchestrator does not.
    orch = free_orchestrator(host='"box"', mode='"ai"', models='[{ use = "realvis" }]', secret=SECRET, service=None)
    rule.warns(
        offchain(BOX, orch, ai_worker(host='"box"', models=ELSEWHERE, secret=SECRET), model()),
        "worker starts no container",
    )


def _fleet(**settings: str | None) -> str:
    return offchain(model(**settings), free_orchestrator(mode='"dual"', models='[{ use = "realvis" }]', gpus="[0]",
                                                         max_sessions="4"))  # fmt: skip


def test_model_id_wrong(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Lower case.
    rule.warns(_fleet(id='"sg161222/realvisxl_v4.0_lightning"'))
    silent(_fleet())
    # An ID that is not known is as good.
    silent(_fleet(id='"Somebody/Something-XL"'))
    silent(offchain(model(id='"SG161222/RealVisXL_V4.0_Lightning"')))
    # Live models are applications.
    silent(offchain(model(pipeline='"live-video-to-video"', id='"noop"')))
    # Two models that differ only in case.
    two = _fleet(id='"Somebody/Something-XL"') + model("other", id='"somebody/something-xl"')
    rule.warns(two, '"somebody/something-xl" in different case')
    # Organisation does not make a tag an ID.
    rule.errs(offchain(model(pipeline='"llm"', id='"library/llama3.1:8b"')))
    # Bare name.
    assert rule.errs(offchain(model(id='"RealVisXL_V4.0_Lightning"'))) == snapshot
    # Half an ID.
    for text in ["/name", "org/", "/"]:
        rule.errs(offchain(model(id=f'"{text}"')))
    # Local tag is reported once.
    assert rule.printed(offchain(model(id='"llama3.1:8b"'))).count(f"[{rule.code}]") == 1
    # Tag.
    assert rule.errs(offchain(model(pipeline='"llm"', id='"llama3.1:8b"'))) == snapshot


def test_models_unlike_mode(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    rule.errs(offchain(free_orchestrator(mode='"dual"')), "and define the model under [models]")
    silent(offchain(model(), free_orchestrator(mode='"dual"', models='[{ use = "realvis" }]')))
    # Live runners bring their own.
    silent(offchain(free_orchestrator(mode='"dual"', live_runners="true", secret=SECRET)))
    silent(offchain(free_orchestrator(mode='"dual"', live_runner_config='"/etc/runners.json"', secret=SECRET)))
    # Worker.
    orch = ai_dispatcher()
    assert rule.errs(offchain(model(), orch, ai_worker(models="[]"))) == snapshot
    # Help can be pasted where there are several models.
    fleet = offchain(model(), model("other"), free_orchestrator(mode='"dual"'))
    rule.errs(fleet, 'write models = [{ use = "other", warm = true }], or instead of other "realvis"')
    # Video orchestrator with models.
    text = offchain(model(), free_orchestrator(models='[{ use = "realvis" }]'))
    assert rule.errs(text) == snapshot


BOTH = '[{ use = "realvis", warm = true }, { use = "flux" }]'
ORCH = free_orchestrator(mode='"ai"', models='[{ use = "realvis" }, { use = "flux" }]', secret=SECRET)
IMAGE = '"example/runner:v1.0.0"'
OTHER = '"example/flux:v1.0.0"'
FLUX = '"black-forest-labs/FLUX.1-schnell"'


def _worker(first: str | None, second: str | None, **settings: str | None) -> str:
    models = model(image=first) + model("flux", id=FLUX, image=second, **settings)
    return offchain(ORCH, ai_worker(models=BOTH), models)


def test_runner_image_conflict(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    silent(_worker(IMAGE, IMAGE))
    # Models of two pipelines have an image each.
    silent(_worker(IMAGE, OTHER, pipeline='"image-to-image"'))
    # Runner managed elsewhere brings its own.
    text = _worker(IMAGE, OTHER)
    silent(text.replace('{ use = "flux" }]\n', '{ use = "flux", url = "http://203.0.113.50:8000" }]\n'))
    # Model without image runs in the one of its neighbour.
    assert rule.warns(_worker(IMAGE, None)) == snapshot
    # Two names of one live model.
    live = {"pipeline": '"live-video-to-video"', "id": '"comfyui"'}
    models = model(image=IMAGE, **live) + model("flux", image=OTHER, **live)
    rule.errs(offchain(ORCH, ai_worker(models=BOTH), models), "realvis and flux")
    apart = model(image=IMAGE, **live) + model("flux", image=OTHER, **{**live, "id": '"noop"'})
    silent(offchain(ORCH, ai_worker(models=BOTH), apart))


AI_ORCH = free_orchestrator(mode='"ai"', models='[{ use = "realvis" }]', secret=SECRET)


def _at(url: str) -> str:
    return offchain(AI_ORCH, ai_worker(models=f'[{{ use = "realvis", url = "{url}" }}]'), model())


def test_runner_url_not_http() -> None:
    # HTTP is fine with a port and without.
    for url in ("https://203.0.113.50:8000", "https://runner.example.net"):
        assert not has_errors(checked(_at(url)).diagnostics)
    # Address without scheme is refused.
    assert "write the whole URL" in printed(_at("203.0.113.50:8000"), "invalid-value")
    # Serverless worker speaks to its provider over a web socket.
    scope = model("scope", pipeline='"live-video-to-video"', id='"scope"')
    models = '[{ use = "scope", url = "wss://provider.example.net/ws", capacity = 4 }]'
    orch = free_orchestrator(mode='"ai"', models='[{ use = "scope" }]', secret=SECRET)
    silent(offchain(orch, ai_worker(gpus=None, models=models, serverless="true"), scope))


def _live(**settings: str) -> str:
    return offchain(model(pipeline='"live-video-to-video"', **settings))


def test_unknown_live_model() -> None:
    silent(_live(id='"streamdiffusion"'))
    silent(_live(id='"our-app"', image='"registry.example.net/our-app:v1.2.3"'))


def test_unknown_pipeline(rule: OneRule) -> None:
    # Exact spelling is proposed.
    for text in ["Text-To-Image", "text_to_image", "Text to image"]:
        rule.errs(offchain(model(pipeline=f'"{text}"')), 'did you mean "text-to-image"?')
