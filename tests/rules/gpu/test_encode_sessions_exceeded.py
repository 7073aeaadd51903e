"""More streams than a GPU encodes at once."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import SECRET, avatars, flagged, free_orchestrator, host, offchain, silent, staged, transcoder

CODE = "encode-sessions-exceeded"
ORCH = free_orchestrator(host='"edge"', secret=SECRET)


def _transcoders(gpu: str, *workers: str) -> str:
    return offchain(host("box", gpus=f"[{{ {gpu} }}, {{ {gpu} }}]"), ORCH, *workers)


def _on_box(name: str = "t", **settings: str | None) -> str:
    return transcoder(name, **{"host": '"box"', "gpus": "[0]", **settings})


GPU = 'model = "RTX 4090", encode_sessions = 8'


def test_twelve_streams_on_eight_sessions(snapshot: SnapshotAssertion) -> None:
    assert flagged(_transcoders(GPU, _on_box(max_sessions="12")), CODE) == snapshot


def test_sound_specs_are_silent() -> None:
    # As many streams as sessions are fine.
    silent(_transcoders(GPU, _on_box(max_sessions="8")))
    silent(_transcoders(GPU, _on_box(max_sessions="16", gpus="[0, 1]")))
    # Professional GPUs have no limit.
    silent(_transcoders('model = "RTX A4000"', _on_box(max_sessions="50")))


def test_ten_streams_when_nothing_is_written(snapshot: SnapshotAssertion) -> None:
    assert flagged(_transcoders(GPU, _on_box()), CODE, Severity.WARNING) == snapshot


def test_unsound_specs_are_flagged() -> None:
    # What is written is an error beside what is not.
    beside = _on_box("u", max_sessions="9", cli='"127.0.0.1:6936"')
    assert flagged(_transcoders(GPU, _on_box(), beside), CODE)
    # Without an encoder the default is an error too.
    assert flagged(_transcoders('model = "A100", memory = "80 GiB"', _on_box()), CODE)


def test_nodes_share_the_sessions_of_a_gpu(snapshot: SnapshotAssertion) -> None:
    second = _on_box("u", max_sessions="5", cli='"127.0.0.1:6936"')
    assert flagged(_transcoders(GPU, _on_box(max_sessions="6"), second), CODE) == snapshot


def test_a_gpu_without_a_video_encoder(snapshot: SnapshotAssertion) -> None:
    assert flagged(_transcoders('model = "A100", memory = "80 GiB"', _on_box(max_sessions="2")), CODE) == snapshot


def _slots(sessions: int, *tables: str, **settings: str | None) -> str:
    box = host("box", gpus=f'[{{ model = "RTX 4090", encode_sessions = {sessions} }}]')
    slots = '[{ avatar = "mira" }, { avatar = "noor" }]'
    return staged(avatars(host='"box"', gpu="0", slots=slots, **settings), box, *tables)


def test_slots_share_the_sessions_with_streams(snapshot: SnapshotAssertion) -> None:
    assert flagged(_slots(5, ORCH, _on_box(max_sessions="4")), CODE) == snapshot
    silent(_slots(6, ORCH, _on_box(max_sessions="4")))


def test_slots_that_take_more_than_one_session() -> None:
    assert "streams and avatar slots may need 6" in flagged(_slots(5, slot_encode_sessions="3"), CODE)
    silent(_slots(6, slot_encode_sessions="3"))


def test_slots_that_see_every_gpu_share_the_sessions_of_all() -> None:
    two = '[{ model = "RTX 4090", encode_sessions = 2 }, { model = "RTX 4090", encode_sessions = 2 }]'
    settings = {"host": '"box"', "gpu": '"all"', "slot_memory": '"2 GiB"'}
    found = flagged(staged(avatars(**settings, slots="5"), host("box", gpus=two)), CODE)
    assert "need 5 encode sessions, but the GPUs have 4 encode sessions left for them" in found
    assert "there is room for 4 of these 5 slots" in found
    silent(staged(avatars(**settings, slots="4"), host("box", gpus=two)))
    alone = host("box", gpus='[{ model = "RTX 4090", encode_sessions = 2 }]')
    assert "GPU 0 of host box allows 2" in flagged(staged(avatars(**settings, slots="3"), alone), CODE)
