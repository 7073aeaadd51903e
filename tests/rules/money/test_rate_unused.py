"""Rates of currencies that no price is in."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, gateway, offchain, onchain, orchestrator, printed, silent

CODE = "rate-unused"
RATES = '[rates]\nUSD = "0.00042 ETH"\n'


def test_name_of_the_currency_is_misspelt(snapshot: SnapshotAssertion) -> None:
    text = onchain(RATES.replace("USD", "USDC"), orchestrator(price='"0.41 USD / terapixel"'))
    assert flagged(text, CODE, Severity.WARNING) == snapshot


def test_rate_of_a_price_or_a_cap_is_fine() -> None:
    silent(onchain(RATES, orchestrator(price='"0.41 USD / terapixel"')))
    silent(onchain(RATES, gateway(max_price='"0.41 USD / terapixel"')))
    silent(onchain(RATES, gateway(max_model_prices='{ upscale = "0.41 USD / terapixel" }')))


def test_offchain_no_rate_counts() -> None:
    assert "off-chain prices have no effect" in flagged(offchain(RATES), CODE, Severity.WARNING)


def test_ether_has_no_rate_and_a_rate_is_not_zero() -> None:
    assert "is not a currency that can have a rate" in printed(onchain(RATES.replace("USD", "ETH")))
    assert "a currency cannot be worth zero" in printed(onchain(RATES.replace("0.00042", "0")))
