"""Prices that nothing is compared with."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, gateway, onchain, orchestrator, silent

CODE = "rate-missing"


DOLLARS = '"0.41 USD / terapixel"'


def test_a_price_in_dollars_and_a_cap_in_wei(snapshot: SnapshotAssertion) -> None:
    text = onchain(gateway(max_price='"1500 wei / pixel"', discovery='"registry"'), orchestrator(price=DOLLARS))
    assert flagged(text, CODE, Severity.WARNING) == snapshot
    silent(
        onchain('[rates]\nUSD = "0.00042 ETH"\n', gateway(max_price='"1500 wei / pixel"'), orchestrator(price=DOLLARS))
    )


def test_a_cap_in_dollars_and_a_price_in_wei() -> None:
    assert flagged(onchain(gateway(max_price=DOLLARS), orchestrator()), CODE, Severity.WARNING)


def test_one_currency_needs_no_rate() -> None:
    silent(onchain(gateway(max_price='"0.42 USD / terapixel"'), orchestrator(price=DOLLARS)))
    silent(onchain(gateway(), orchestrator(price=DOLLARS)))
