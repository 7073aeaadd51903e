"""Two releases with one program."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, free_orchestrator, offchain, program

CODE = "program-digest-used-twice"

OTHER = free_orchestrator("other", node_release='"v0.9.0"', http='"0.0.0.0:8936"', cli='"127.0.0.1:7936"')


def test_digest_that_was_copied(snapshot: SnapshotAssertion) -> None:
    text = offchain(free_orchestrator(), OTHER, program("v0.9.0", "1"), program("v0.9.1", "1"))
    assert flagged(text, CODE, Severity.ERROR) == snapshot
