"""Runners that no signer names although they name others."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, renting, runner, signer, silent

CODE = "runner-nobody-buys"


TILES = runner("tiles", port="8990")


def test_signers_name_others(snapshot: SnapshotAssertion) -> None:
    text = renting(runner(), TILES, runners='["echo", "tiles"]', tables=(signer(buys_runners='["echo"]'),))
    assert flagged(text, CODE, Severity.WARNING) == snapshot


def test_named_or_no_signer_names_any() -> None:
    silent(renting(runner(), TILES, runners='["echo", "tiles"]'))
    both = signer(buys_runners='["echo", "tiles"]')
    silent(renting(runner(), TILES, runners='["echo", "tiles"]', tables=(both,)))
