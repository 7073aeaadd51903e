"""Policies that name no webhook."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import broadcast, flagged, silent, stream

CODE = "stream-policy-without-webhook"


def test_webhook_is_missing(snapshot: SnapshotAssertion) -> None:
    assert flagged(broadcast(stream(playbackPolicy='{ type = "webhook" }')), CODE) == snapshot


def test_empty_id_is_none() -> None:
    assert "needs a webhook" in flagged(broadcast(stream(playbackPolicy='{ type = "webhook", webhookId = "" }')), CODE)


def test_webhook_is_fine() -> None:
    silent(broadcast(stream(playbackPolicy='{ type = "webhook", webhookId = "w" }')))
    silent(broadcast(stream(playbackPolicy='{ type = "jwt" }')))
