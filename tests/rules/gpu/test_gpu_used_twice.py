"""GPUs that two nodes with runner containers share."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import SECRET, ai_worker, flagged, free_orchestrator, host, model, offchain, silent, transcoder

CODE = "gpu-used-twice"
ORCH = free_orchestrator(
    mode='"dual"', transcoding='"local"', host='"edge"', secret=SECRET, models='[{ use = "realvis" }]'
)


def _two(first: str, second: str) -> str:
    return offchain(model(), ORCH, ai_worker("a", gpus=first), ai_worker("b", gpus=second, cli='"127.0.0.1:4936"'))


def test_one_gpu_for_two_workers(snapshot: SnapshotAssertion) -> None:
    assert flagged(_two("[0]", "[0]"), CODE) == snapshot


def test_sound_specs_are_silent() -> None:
    silent(_two("[0]", "[1]"))
    # Transcoding and AI may share a GPU.
    orch = ORCH.replace('transcoding = "local"', 'transcoding = "remote"')
    silent(offchain(model(), orch, ai_worker("a"), transcoder("t", gpus="[0]", max_sessions="8")))


def test_unsound_specs_are_flagged() -> None:
    # All GPUs include each.
    assert "GPU 0" in flagged(_two('"all"', "[0]"), CODE)
    # All GPUs of an unlisted host meet everything.
    hidden = host("bare")
    pair = [ai_worker("a", host='"bare"', gpus="[3]"), ai_worker("b", host='"bare"', gpus='"all"', cli='"127.0.0.1:1"')]
    assert "its GPUs" in flagged(offchain(hidden, model(), ORCH, *pair), CODE)
