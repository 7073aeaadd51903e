"""GPU ids that give runner containers no legal port."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import SECRET, ai_worker, flagged, free_orchestrator, host, model, offchain, silent, transcoder

CODE = "gpu-id-too-high"
ORCH = free_orchestrator(mode='"dual"', host='"edge"', secret=SECRET, models='[{ use = "realvis" }]')


def test_runner_on_a_two_digit_gpu(snapshot: SnapshotAssertion) -> None:
    text = offchain(host("bare"), model(), ORCH, ai_worker(host='"bare"', gpus="[9, 10]"))
    assert flagged(text, CODE) == snapshot


def test_sound_specs_are_silent() -> None:
    # Runner on the last one digit GPU is fine.
    silent(offchain(host("bare"), model(), ORCH, ai_worker(host='"bare"', gpus="[9]")))
    # Transcoders may use any GPU.
    silent(offchain(host("bare"), model(), ORCH, ai_worker(), transcoder("t", host='"bare"', gpus="[12]")))
