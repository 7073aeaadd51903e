"""Administration listeners beyond loopback."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, gateway, offchain, onchain, orchestrator, silent, transcoder

CODE = "cli-exposed"


def test_open_to_everybody(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(orchestrator(cli='"0.0.0.0:7935"')), CODE) == snapshot


@pytest.mark.parametrize("listener", ["127.0.0.1:7000", "127.8.8.8:7000", "[::1]:7000", "localhost:7000"])
def test_loopback_is_fine(listener: str) -> None:
    silent(onchain(orchestrator(cli=f'"{listener}"')))


def test_said_aloud_it_is_a_warning(snapshot: SnapshotAssertion) -> None:
    text = onchain(gateway(cli='"10.0.0.1:5935"', cli_exposed="true"))
    assert flagged(text, CODE, Severity.WARNING) == snapshot


def test_worker_holds_no_funds() -> None:
    worker = transcoder(orchestrator='"x.example.net:8935"', secret='{ env = "S" }', cli='"[::]:6935"')
    assert "read its state" in flagged(offchain(worker), CODE)
