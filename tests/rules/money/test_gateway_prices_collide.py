"""Two prices for gateways that are one account to the node."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import (
    SECRET,
    ai_worker,
    flagged,
    gateway,
    model,
    offchain,
    onchain,
    orchestrator,
    printed,
    silent,
)

CODE = "gateway-prices-collide"
TWO = gateway("east") + gateway("west", host='"gpu"', http='"127.0.0.1:9935"')
ONE_CALLER = '[wallets.payer]\nreward_by = "none"'


def _fleet(prices: str) -> str:
    return onchain(TWO, orchestrator(gateway_prices=prices)).replace("[wallets.payer]", ONE_CALLER)


def test_two_gateways_with_one_wallet(snapshot: SnapshotAssertion) -> None:
    assert flagged(_fleet('{ east = "900 wei / pixel", west = "1100 wei / pixel" }'), CODE) == snapshot


def test_unsound_specs_are_flagged() -> None:
    # Gateway and its account.
    account = '"0x1111111111111111111111111111111111111111"'
    assert flagged(_fleet(f'{{ east = "900 wei / pixel", {account} = "1100 wei / pixel" }}'), CODE)
    # Prices of a model collide too.
    models = '[{ use = "realvis", gateway_prices = { east = "1 wei / pixel", west = "2 wei / pixel" } }]'
    seller = orchestrator(mode='"dual"', models=models, secret=SECRET)
    assert flagged(onchain(model(), TWO, seller, ai_worker()), CODE)


def test_one_price_or_two_equal_ones_are_fine() -> None:
    silent(_fleet('{ east = "900 wei / pixel" }'))
    silent(_fleet('{ east = "900 wei / pixel", west = "900000000 wei / megapixel" }'))


def test_offchain_prices_have_no_meaning() -> None:
    prices = '{ east = "900 wei / pixel", west = "1100 wei / pixel" }'
    wallets = onchain(TWO, orchestrator(gateway_prices=prices)).replace('"arbitrum-one-mainnet"', '"offchain"')
    assert printed(wallets, CODE) == "no problems\n"
    assert printed(offchain(), CODE) == "no problems\n"
