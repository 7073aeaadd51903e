"""Playback policies and their webhooks."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import broadcast, flagged, silent, stream

CODE = "stream-policy-webhook"


def test_webhook_is_missing(snapshot: SnapshotAssertion) -> None:
    assert flagged(broadcast(stream(playbackPolicy='{ type = "webhook" }')), CODE) == snapshot


def test_empty_id_is_none() -> None:
    assert "needs a webhook" in flagged(broadcast(stream(playbackPolicy='{ type = "webhook", webhookId = "" }')), CODE)


def test_sound_specs_are_silent() -> None:
    silent(broadcast(stream(playbackPolicy='{ type = "webhook", webhookId = "w" }')))
    silent(broadcast(stream(playbackPolicy='{ type = "jwt" }')))
    silent(broadcast(stream(playbackPolicy='{ type = "webhook", webhookId = "w", webhookContext = { a = 1 } }')))
    silent(broadcast(stream(playbackPolicy='{ type = "jwt", refreshInterval = 60 }')))


def test_webhook_of_a_public_policy(snapshot: SnapshotAssertion) -> None:
    text = broadcast(stream(playbackPolicy='{ type = "public", webhookId = "w", webhookContext = { a = 1 } }'))
    assert flagged(text, CODE, Severity.WARNING) == snapshot
