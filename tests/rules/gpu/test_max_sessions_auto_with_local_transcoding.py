"""Sessions counted where there are no remote transcoders."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import SECRET, flagged, free_orchestrator, model, offchain, silent, transcoder

CODE = "max-sessions-auto-with-local-transcoding"
AUTO = '"auto"'


def test_local_transcoding(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(free_orchestrator(max_sessions=AUTO)), CODE) == snapshot
    assert flagged(offchain(free_orchestrator(max_sessions=AUTO, transcoding='"local"')), CODE)


def test_sound_specs_are_silent() -> None:
    silent(offchain(free_orchestrator(max_sessions="12")))
    # Remote transcoders are counted.
    silent(offchain(free_orchestrator(max_sessions=AUTO, secret=SECRET, host='"edge"'), transcoder()))
    # AI alone transcodes nothing.
    uses = '[{ use = "realvis" }]'
    silent(offchain(model(), free_orchestrator(mode='"ai"', max_sessions=AUTO, secret=SECRET, models=uses)))
