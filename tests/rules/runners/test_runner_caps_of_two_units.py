"""Signers with one cap for several units."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, renting, runner, signer, silent

CODE = "runner-caps-of-two-units"


TILES = runner("tiles", port="8990", price='"0.0001 USD / request"')


def buying(cap: str, names: str = '["echo", "tiles"]') -> str:
    return renting(runner(), TILES, runners='["echo", "tiles"]', tables=(signer(buys_runners=names, max_price=cap),))


def test_a_second_and_a_request(snapshot: SnapshotAssertion) -> None:
    assert flagged(buying('"50000000000 wei / pixel"'), CODE, Severity.WARNING) == snapshot


def test_without_a_cap_there_is_nothing_to_protect() -> None:
    silent(buying('"any"'))
