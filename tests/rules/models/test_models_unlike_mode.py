"""Models that do not fit the mode of their node."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import SECRET, ai_worker, flagged, free_orchestrator, model, offchain, silent

CODE = "models-unlike-mode"


def test_orchestrator(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(free_orchestrator(mode='"dual"')), CODE) == snapshot


def test_sound_specs_are_silent() -> None:
    silent(offchain(model(), free_orchestrator(mode='"dual"', models='[{ use = "realvis" }]')))
    # Live runners bring their own.
    silent(offchain(free_orchestrator(mode='"dual"', live_runners="true", secret=SECRET)))
    silent(offchain(free_orchestrator(mode='"dual"', live_runner_config='"/etc/runners.json"', secret=SECRET)))


def test_worker(snapshot: SnapshotAssertion) -> None:
    orch = free_orchestrator(mode='"dual"', host='"edge"', secret=SECRET, models='[{ use = "realvis" }]')
    assert flagged(offchain(model(), orch, ai_worker(models="[]")), CODE) == snapshot


def test_help_can_be_pasted_where_there_are_several_models() -> None:
    fleet = offchain(model(), model("other"), free_orchestrator(mode='"dual"'))
    assert 'write models = [{ use = "other", warm = true }], or instead of other "realvis"' in flagged(fleet, CODE)


def test_video_orchestrator_with_models(snapshot: SnapshotAssertion) -> None:
    text = offchain(model(), free_orchestrator(models='[{ use = "realvis" }]'))
    assert flagged(text, CODE) == snapshot
