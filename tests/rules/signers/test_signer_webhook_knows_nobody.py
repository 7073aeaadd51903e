"""Gateways that the webhook of their signer cannot know."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, gateway, onchain, printed, signer, silent

CODE = "signer-webhook-knows-nobody"
WEBHOOK = '"https://auth.example.net/signer"'


def fleet(remote: str, release: str = "v0.9.1", **settings: str) -> str:
    """A signer that finds orchestrators, and a gateway behind it."""
    behind = gateway(mode='"ai"', wallet=None, max_price=None, remote_signer=remote)
    found = signer(**{"http": '"127.0.0.1:9000"', "remote_discovery": "true", **settings})
    return onchain(behind, found, node_release=f'"{release}"')


def test_gateway_without_headers(snapshot: SnapshotAssertion) -> None:
    assert flagged(fleet('{ signer = "signer" }', auth_webhook=WEBHOOK), CODE, Severity.WARNING) == snapshot


def test_sound_specs_are_silent() -> None:
    silent(fleet('{ signer = "signer", headers = { env = "HEADERS" } }', auth_webhook=WEBHOOK))
    silent(fleet('{ signer = "signer" }'))
    # Release without such headers is not asked for them.
    assert CODE not in printed(fleet('{ signer = "signer" }', "v0.8.10", auth_webhook=WEBHOOK))
