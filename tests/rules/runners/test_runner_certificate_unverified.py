"""Runners behind a certificate that signers do not accept."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import SECRET, flagged, free_orchestrator, offchain, renting, runner, silent

CODE = "runner-certificate-unverified"


def test_the_node_makes_its_own_certificate(snapshot: SnapshotAssertion) -> None:
    assert flagged(renting(http_tls=None, http=None), CODE, Severity.WARNING) == snapshot


def test_behind_a_proxy_or_without_a_chain_it_is_fine() -> None:
    silent(renting())
    silent(offchain(free_orchestrator(mode='"ai"', secret=SECRET, runners='["echo"]'), runner()))
