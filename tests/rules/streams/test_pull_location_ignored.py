"""Locations that the service ignores."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import broadcast, flagged, silent, stream

CODE = "pull-location-ignored"


def _pulled(lat: str, lon: str) -> str:
    return broadcast(
        stream(pull=f'{{ source = "https://studio.example.net/a.m3u8", location = {{ lat = {lat}, lon = {lon} }} }}')
    )


def test_coordinate_of_zero(snapshot: SnapshotAssertion) -> None:
    assert flagged(_pulled("51.48", "0"), CODE, Severity.WARNING) == snapshot


def test_zero_in_any_spelling() -> None:
    assert flagged(_pulled("-0.0", "0.00"), CODE, Severity.WARNING).endswith("2 warnings\n")


def test_place_nearby_is_fine() -> None:
    silent(_pulled("51.48", "0.01"))
