"""Borders of the rules about transcoders and AI workers: one test for each rule, named as its code."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import (
    SECRET,
    OneRule,
    ai_worker,
    dispatcher,
    free_orchestrator,
    model,
    offchain,
    silent,
    transcoder,
)

SCOPE = model("scope", pipeline='"live-video-to-video"', id='"scope"')
ORCH = free_orchestrator(mode='"dual"', host='"edge"', secret=SECRET, models='[{ use = "scope" }]')
GOOD = '[{ use = "scope", url = "wss://provider.example.net/ws", capacity = 4 }]'


def _worker(models: str) -> str:
    return offchain(SCOPE, model(), ORCH, ai_worker(serverless="true", models=models))


def test_serverless_worker_entry(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Another model.
    assert rule.errs(_worker(GOOD.replace("scope", "realvis"))) == snapshot
    silent(_worker(GOOD))
    # Other workers may have any models.
    silent(offchain(SCOPE, model(), ORCH, ai_worker()))
    # Entries that the node refuses.
    for models, message in [
        (GOOD[:-1] + ", " + GOOD[1:], "has 2 models"),
        ('[{ use = "scope", capacity = 4 }]', "no provider address"),
        ('[{ use = "scope", url = "wss://provider.example.net/ws" }]', "no capacity"),
    ]:
        rule.errs(_worker(models), message)


AI = {"mode": '"ai"', "models": '[{ use = "realvis" }]', "host": '"edge"'}
OUTSIDE = '"orch.example.org:8935"'


def test_shared_secret_missing(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    silent(offchain(dispatcher(), transcoder()))
    # Local transcoding accepts nobody.
    silent(offchain(free_orchestrator()))
    silent(offchain(transcoder(orchestrator=OUTSIDE, secret=SECRET)))
    silent(offchain(free_orchestrator(live_runners="true", secret=SECRET)))
    silent(offchain(free_orchestrator(live_runners="true", live_runner_config='"/etc/runners.json"')))
    silent(offchain(free_orchestrator(live_runners="false")))
    # Remote work that nobody names yet.
    rule.errs(offchain(free_orchestrator(transcoding='"remote"')))
    # AI workers.
    rule.errs(offchain(model(), free_orchestrator(**AI), ai_worker()), "worker needs it")
    # AI alone lets transcoders in.
    text = offchain(model(), free_orchestrator(**AI))
    assert rule.warns(text) == snapshot
    silent(offchain(model(), free_orchestrator(secret=SECRET, **AI)))
    # No secret.
    assert rule.errs(offchain(transcoder(orchestrator=OUTSIDE))) == snapshot
    rule.errs(offchain(model(), ai_worker(orchestrator=OUTSIDE)))
    # Neither secret nor list.
    assert rule.errs(offchain(free_orchestrator(live_runners="true"))) == snapshot


def _orch(mode: str) -> str:
    models = None if mode == "video" else '[{ use = "realvis" }]'
    return free_orchestrator("orch", mode=f'"{mode}"', host='"edge"', secret=SECRET, models=models)


def test_worker_serves_wrong_mode(rule: OneRule) -> None:
    # AI worker of a video orchestrator.
    rule.errs(offchain(model(), _orch("video"), ai_worker()), "sells only video")


def test_workers_never_accepted(rule: OneRule) -> None:
    silent(offchain(free_orchestrator(transcoding='"remote"', host='"edge"', secret=SECRET), transcoder()))
    silent(offchain(dispatcher(), transcoder()))
    # Kinds of work are told apart.
    settings = {"mode": '"dual"', "host": '"edge"', "secret": SECRET, "models": '[{ use = "realvis" }]'}
    silent(offchain(model(), free_orchestrator(transcoding='"local"', **settings), ai_worker("a")))
    # AI worker of one that runs models itself.
    settings = {"mode": '"dual"', "host": '"edge"', "secret": SECRET, "models": '[{ use = "realvis" }]'}
    text = offchain(
        model(), free_orchestrator(ai_work='"local"', **settings), ai_worker("a"), ai_worker("b", gpus="[1]")
    )
    rule.errs(text, "2 nodes")
    silent(offchain(model(), free_orchestrator(ai_work='"remote"', **settings), ai_worker("a")))
