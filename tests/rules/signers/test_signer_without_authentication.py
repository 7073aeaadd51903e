"""Remote signers that admit anyone who can reach them."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, onchain, signer, silent

CODE = "signer-without-authentication"


def test_open_signer(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(signer(http='"0.0.0.0:8935"')), CODE) == snapshot


def test_loopback_or_a_webhook_is_fine() -> None:
    silent(onchain(signer()))
    silent(onchain(signer(http='"0.0.0.0:8935"', auth_webhook='"https://auth.example.net/signer"')))


def test_said_aloud_it_is_a_warning(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(signer(http='"0.0.0.0:8935"', allow_no_auth="true")), CODE, Severity.WARNING) == snapshot


def test_older_release_starts_all_the_same_and_is_offered_only_what_it_has() -> None:
    open_signer = signer(http='"0.0.0.0:8935"')
    found = flagged(onchain(open_signer, node_release='"v0.8.11"'), CODE, Severity.WARNING)
    assert "auth_webhook = " in found
    assert "allow_no_auth" not in found
    found = flagged(onchain(open_signer, node_release='"v0.8.10"'), CODE, Severity.WARNING)
    assert "webhook" not in found
    assert 'http = "127.0.0.1:8935"' in found
