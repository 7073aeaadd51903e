"""Prices that a node cannot send, or rounds to zero."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, free_orchestrator, model, offchain, onchain, orchestrator, printed, silent

CODE = "price-out-of-range"


def test_more_than_the_node_can_send(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(orchestrator(price='"1 ETH / pixel"')), CODE) == snapshot


def test_largest_price_is_fine() -> None:
    silent(onchain(orchestrator(price='"9223372036854775 wei / pixel"')))
    assert flagged(onchain(orchestrator(price='"9223372036854776 wei / pixel"')), CODE)


def test_without_adjustment_the_fraction_has_to_fit() -> None:
    exact = {"auto_adjust_price": "false"}
    silent(onchain(orchestrator(price='"9223372036854775807 wei / pixel"', **exact)))
    assert flagged(onchain(orchestrator(price='"9223372036854775808 wei / pixel"', **exact)), CODE)
    assert "fewer digits" in flagged(onchain(orchestrator(price='"1.00000000000000000001 wei / pixel"', **exact)), CODE)


def test_other_currencies_are_reckoned_by_their_rate() -> None:
    price = orchestrator(price='"10000 USD / pixel"')
    silent(onchain(price))
    assert flagged(onchain(price, '[rates]\nUSD = "0.00042 ETH"\n'), CODE)


def test_less_than_a_thousandth_of_a_wei(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(orchestrator(price='"990 wei / megapixel"')), CODE, Severity.WARNING) == snapshot


def test_sound_specs_are_silent() -> None:
    # A thousandth of a wei is fine.
    silent(onchain(orchestrator(price='"991 wei / megapixel"')))
    silent(onchain(orchestrator(price='"990 wei / megapixel"', auto_adjust_price="false")))
    # Offchain prices have no meaning.
    assert printed(offchain(free_orchestrator(price='"1 wei / megapixel"')), CODE) == "no problems\n"


def test_other_currencies_are_not_known_without_a_rate() -> None:
    price = orchestrator(price='"0.000002 USD / terapixel"')
    silent(onchain(price))
    rates = '[rates]\nUSD = "{} wei"\n'
    silent(onchain(price, rates.format(495_049_504_950_496)))
    assert flagged(onchain(price, rates.format(495_049_504_950_495)), CODE, Severity.WARNING)


def test_models_and_single_gateways_have_prices_too() -> None:
    seller = orchestrator(mode='"dual"', models='[{ use = "realvis" }]')
    assert "models.realvis" not in printed(onchain(model(), seller))
    assert flagged(onchain(model(price='"1 wei / megapixel"'), seller), CODE, Severity.WARNING)
    special = '{ "0x1111111111111111111111111111111111111111" = "1 wei / megapixel" }'
    assert flagged(onchain(orchestrator(gateway_prices=special)), CODE, Severity.WARNING)
