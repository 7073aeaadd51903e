"""Caps so far above every offer that they keep nobody away."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, gateway, model, onchain, orchestrator, printed, signer, silent

CODE = "gateway-cap-far-above-offers"
LIST = '["orch"]'
DOLLARS = '[rates]\nUSD = "0.00042 ETH"\n'
SELLER = orchestrator(mode='"dual"', ai_registry="true", models='[{ use = "realvis" }]')


def _video(cap: str, price: str = "1200 wei / pixel", **settings: str) -> str:
    return onchain(gateway(max_price=f'"{cap}"', orchestrators=LIST, **settings), orchestrator(price=f'"{price}"'))


def _quiet(text: str) -> None:
    assert CODE not in printed(text)


def test_cap_in_gwei_that_was_meant_in_wei(snapshot: SnapshotAssertion) -> None:
    found = flagged(_video("1500 gwei / pixel"), CODE, Severity.WARNING)
    assert found == snapshot
    assert 'write max_price = "1500 wei / pixel" if that is the unit you meant, or max_price = "any"' in found
    silent(_video("1500 wei / pixel"))


@pytest.mark.parametrize(
    ("cap", "meant"),
    [
        ("1500 ETH / pixel", "1500 wei / pixel"),
        ("1500000000 wei / pixel", "1500000000 wei / 1000000 pixels"),
        ("1224000000 wei / pixel", "1224000000 wei / 1000000 pixels"),
    ],
)
def test_help_has_the_number_in_the_unit_that_was_meant(cap: str, meant: str) -> None:
    text = _video(cap)
    assert f'write max_price = "{meant}" if' in flagged(text, CODE, Severity.WARNING)
    silent(_video(meant))


def test_dollars_per_pixel_that_were_meant_per_terapixel() -> None:
    text = _video("3.5 USD / pixel") + DOLLARS
    assert 'write max_price = "3.5 USD / 1000000000000 pixels" if' in flagged(text, CODE, Severity.WARNING)


def test_no_unit_fits() -> None:
    found = flagged(_video("2000 wei / pixel", "1 wei / pixel"), CODE, Severity.WARNING)
    assert 'lower max_price: "1.02 wei / pixel" is enough, or max_price = "any" to pay every price' in found


def test_exactly_a_thousand_times_what_reaches_the_gateway() -> None:
    assert "1,000 times" in flagged(_video("1224000 wei / pixel"), CODE, Severity.WARNING)
    silent(_video("1223999.999 wei / pixel"))


def test_cap_of_any_and_soft_caps_are_meant() -> None:
    _quiet(_video("any"))
    _quiet(_video("1500 gwei / pixel", ignore_max_price_if_needed="true"))


def test_unknown_is_no_finding() -> None:
    _quiet(_video("1500 gwei / pixel", "3 USD / terapixel"))
    assert flagged(_video("1500 gwei / pixel", "3 USD / terapixel") + DOLLARS, CODE, Severity.WARNING)
    mixed = orchestrator("other", host='"edge"', wallet='"payer"', price='"3 USD / terapixel"', http='"0.0.0.0:9000"')
    _quiet(_video("1500 gwei / pixel").replace(LIST, '["orch", "other"]') + mixed)
    _quiet(_video("1500 gwei / pixel").replace('reserve = "0.3 ETH"\n', ""))
    _quiet(_video("1500 gwei / pixel", "0 wei / pixel"))
    _quiet(onchain(gateway(max_price='"1500 gwei / pixel"')))


def test_only_offers_that_the_gateway_can_buy_count() -> None:
    dear = orchestrator("dear", host='"edge"', wallet='"payer"', price='"1200 gwei / pixel"', http='"0.0.0.0:9000"')
    text = _video("1500 gwei / pixel") + dear
    assert "the dearest offer, orch" in flagged(text, CODE, Severity.WARNING)
    _quiet(text.replace(LIST, '["orch", "dear"]'))


def test_cap_for_video_and_models_is_compared_with_the_dearest_of_both() -> None:
    node = gateway(mode='"dual"', orchestrators=LIST, max_price='"5000000 wei / pixel"')
    text = onchain(model(price='"4000000 wei / pixel"'), node, SELLER)
    _quiet(text)
    own = node + 'max_model_prices = { realvis = "4500000 wei / pixel" }\n'
    found = flagged(onchain(model(price='"4000000 wei / pixel"'), own, SELLER), CODE, Severity.WARNING)
    assert "gateway gate pays up to 5000000 wei / pixel" in found


def test_cap_of_a_model(snapshot: SnapshotAssertion) -> None:
    caps = '{ realvis = "4500 gwei / pixel" }'
    node = gateway(mode='"dual"', orchestrators=LIST, max_model_prices=caps)
    found = flagged(onchain(model(), node, SELLER), CODE, Severity.WARNING)
    assert found == snapshot
    silent(onchain(model(), node.replace("4500 gwei", "4500 wei"), SELLER))


def test_cap_of_a_signer_for_two_gateways_is_told_once() -> None:
    model_of_live = model("live", pipeline='"live-video-to-video"', id='"noop"')
    behind = {"wallet": None, "max_price": None, "mode": '"ai"', "remote_signer": '{ signer = "signer" }'}
    gates = [gateway(name, http=f'"127.0.0.1:{port}"', **behind) for name, port in (("gate", 9935), ("second", 9936))]
    seller = orchestrator(mode='"dual"', ai_registry="true", models='[{ use = "live" }]')
    text = onchain(model_of_live, signer(max_price='"4500 gwei / pixel"'), *gates, seller)
    assert printed(text).count(f"[{CODE}]") == 1
    assert "signer signer pays up to" in printed(text)


def test_off_chain_nobody_pays() -> None:
    _quiet(_video("1500 gwei / pixel").replace("arbitrum-one-mainnet", "offchain"))
