"""Currencies that the node cannot convert."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, gateway, model, onchain, orchestrator, printed, signer, silent

CODE = "price-currency-unknown"


def test_currency_without_a_feed(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(orchestrator(price='"0.38 EUR / terapixel"')), CODE) == snapshot


def test_sound_specs_are_silent() -> None:
    silent(onchain(orchestrator(price='"0.41 USD / terapixel"')))
    feed = '"0x4444444444444444444444444444444444444444"'
    silent(onchain(orchestrator(price='"0.38 EUR / terapixel"', price_feed=feed)))
    silent(onchain(gateway(max_price='"0.38 EUR / terapixel"', price_feed=feed)))


def test_dollars_elsewhere_have_no_feed() -> None:
    chain = {"network": '"mainnet"'}
    assert "on this network" in printed(onchain(orchestrator(price='"0.41 USD / terapixel"'), **chain), CODE)


def test_caps_and_models_have_currencies_too() -> None:
    assert flagged(onchain(gateway(max_price='"1 EUR / terapixel"')), CODE)
    caps = '{ llm = "1 EUR / terapixel" }'
    assert flagged(onchain(gateway(mode='"ai"', discovery='"ai-registry"', max_model_prices=caps)), CODE)
    seller = orchestrator(mode='"dual"', models='[{ use = "realvis" }]')
    assert "models.realvis" not in flagged(onchain(model(price='"1 EUR / terapixel"'), seller), CODE)


def test_cap_of_a_signer_has_a_currency_too() -> None:
    assert "remote_signers" not in printed(onchain(signer(max_price='"0.41 USD / terapixel"')), CODE)
    assert "the node of signer" in flagged(onchain(signer(max_price='"1 EUR / terapixel"')), CODE)
