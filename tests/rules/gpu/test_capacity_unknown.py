"""Numbers that are missing to weigh a GPU."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import (
    SECRET,
    ai_worker,
    avatars,
    flagged,
    free_orchestrator,
    host,
    model,
    offchain,
    silent,
    staged,
    transcoder,
)

CODE = "capacity-unknown"
ORCH = free_orchestrator(
    mode='"dual"', transcoding='"remote"', host='"edge"', secret=SECRET, models='[{ use = "realvis" }]'
)


def _on_box(gpu: str, *nodes: str) -> str:
    return offchain(host("box", gpus=f"[{{ {gpu} }}]"), model(memory='"9 GiB"'), ORCH, *nodes)


WORKER = ai_worker("w", host='"box"')
STREAMS = transcoder("t", host='"box"', gpus="[0]", max_sessions="6")


def test_a_model_that_is_sold_with_two_sizes(snapshot: SnapshotAssertion) -> None:
    assert flagged(_on_box('model = "A100"', WORKER), CODE, Severity.WARNING) == snapshot


def test_sound_specs_are_silent() -> None:
    silent(_on_box('model = "A100", memory = "40 GiB"', WORKER))
    # A GPU that nothing uses may be unknown.
    silent(_on_box('model = "Unheard 1"'))


def test_a_gpu_that_is_not_known_here_is_named_once_for_each_number(snapshot: SnapshotAssertion) -> None:
    assert flagged(_on_box('model = "Unheard 1"', WORKER, STREAMS), CODE, Severity.WARNING) == snapshot
    silent(_on_box('model = "Unheard 1", memory = "24 GiB", encode_sessions = 6', WORKER, STREAMS))


def test_the_driver_decides_about_the_streams_of_a_consumer_gpu(snapshot: SnapshotAssertion) -> None:
    assert flagged(_on_box('model = "RTX 4090"', STREAMS), CODE, Severity.WARNING) == snapshot
    silent(_on_box('model = "RTX 4090"', STREAMS.replace("6", "3")))


def test_a_model_without_size(snapshot: SnapshotAssertion) -> None:
    text = _on_box('model = "RTX 4090"', WORKER)
    assert flagged(text.replace('memory = "9 GiB"', ""), CODE, Severity.WARNING) == snapshot
    silent(text)


def test_slots_on_a_gpu_with_unknown_numbers(snapshot: SnapshotAssertion) -> None:
    box = host("box", gpus='[{ model = "RTX 4090", memory = "48 GiB" }]').replace("48", "24")
    four = staged(avatars(host='"box"', gpu="0", slots="4", slot_memory='"2 GiB"'), box)
    assert flagged(four, CODE, Severity.WARNING) == snapshot
    silent(four.replace("slots = 4", "slots = 3"))


def test_slots_that_see_every_gpu_of_which_one_is_unknown() -> None:
    gpus = '[{ model = "RTX 4090", encode_sessions = 8 }, { model = "Unheard 1", encode_sessions = 8 }]'
    settings = {"host": '"box"', "gpu": '"all"', "slot_memory": '"2 GiB"'}
    found = flagged(staged(avatars(**settings, slots="4"), host("box", gpus=gpus)), CODE, Severity.WARNING)
    assert 'memory: "Unheard 1" is not a known model' in found
    limited = host("box", gpus='[{ model = "RTX 4090" }, { model = "RTX 4090" }]')
    found = flagged(staged(avatars(**settings, slots="7"), limited), CODE, Severity.WARNING)
    assert found.count("encode_sessions: its driver decides, and only 3 are certain") == 2
    silent(staged(avatars(**settings, slots="6"), limited))
