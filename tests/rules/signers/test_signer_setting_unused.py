"""Settings of a signer that its node never reads."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, model, onchain, printed, signer, silent

CODE = "signer-setting-unused"
HEADERS = '{ env = "HEADERS" }'


def test_headers_without_a_webhook(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(signer(auth_webhook_headers=HEADERS)), CODE, Severity.WARNING) == snapshot


def test_cap_for_what_no_signer_pays(snapshot: SnapshotAssertion) -> None:
    cap = '{ text-to-image = "5000 wei / pixel" }'
    assert flagged(onchain(signer(max_model_prices=cap)), CODE, Severity.WARNING) == snapshot
    by_model = onchain(model(), signer(max_model_prices='{ realvis = "5000 wei / pixel" }'))
    assert "a cap for text-to-image" in flagged(by_model, CODE, Severity.WARNING)


def test_webhook_with_headers_and_a_cap_for_live_video_are_fine() -> None:
    silent(onchain(signer(auth_webhook='"https://auth.example.net/signer"', auth_webhook_headers=HEADERS)))
    live = '{ live-video-to-video = "900 wei / pixel" }'
    assert CODE not in printed(onchain(signer(max_model_prices=live)))
