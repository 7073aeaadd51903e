"""Origins that no web page has."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import broadcast, flagged, silent, stream

CODE = "stream-origin-not-web"


def test_scheme_of_a_stream(snapshot: SnapshotAssertion) -> None:
    policy = '{ type = "public", allowedOrigins = ["https://a.example", "rtmp://player.example.net:1935"] }'
    assert flagged(broadcast(stream(playbackPolicy=policy)), CODE, Severity.WARNING) == snapshot


def test_web_pages_are_fine() -> None:
    policy = '{ type = "public", allowedOrigins = ["https://a.example", "http://[2001:db8::1]:8080"] }'
    silent(broadcast(stream(playbackPolicy=policy)))
