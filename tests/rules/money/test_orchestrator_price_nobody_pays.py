"""Prices above what any gateway of the fleet pays."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, gateway, model, onchain, orchestrator, printed, silent, wallet

CODE = "orchestrator-price-nobody-pays"


def _two(*tables: str, dear: str = '"2000 wei / pixel"', **settings: str) -> str:
    second = orchestrator("dear", host='"edge"', wallet='"third"', price=dear, http='"0.0.0.0:9000"', **settings)
    return onchain(wallet(), *tables, orchestrator(), second + 'service = "edge.example.net:9000"\n')


CAP = gateway(max_price='"1500 wei / pixel"')


def test_one_of_two_is_too_expensive(snapshot: SnapshotAssertion) -> None:
    assert flagged(_two(CAP), CODE, Severity.WARNING) == snapshot


def test_price_at_the_cap_is_too_much_and_what_the_help_says_is_not(snapshot: SnapshotAssertion) -> None:
    assert flagged(_two(CAP, dear='"1500 wei / pixel"'), CODE, Severity.WARNING) == snapshot
    silent(_two(CAP, dear='"1470 wei / pixel"'))
    silent(_two(CAP, dear='"1470.589 wei / pixel"'))
    assert flagged(_two(CAP, dear='"1470.59 wei / pixel"'), CODE, Severity.WARNING)
    silent(_two(CAP, dear='"1500 wei / pixel"', auto_adjust_price="false"))


def test_deepest_reserve_decides_and_not_the_highest_cap() -> None:
    poor = gateway("poor", host='"gpu"', http='"127.0.0.1:9935"', max_price='"1600 wei / pixel"', wallet='"third"')
    text = _two(CAP.replace("1500", "1550"), poor).replace("[wallets.third]", '[wallets.third]\nreward_by = "dear"')
    small, _, rest = text.rpartition('reserve = "0.3 ETH"')
    assert "1519 wei / pixel" in flagged(f'{small}reserve = "0.03 ETH"{rest}', CODE, Severity.WARNING)
    assert "1568 wei / pixel" in flagged(text, CODE, Severity.WARNING)


def test_sound_specs_are_silent() -> None:
    # Fleet without gateways says nothing.
    silent(_two())
    # Gateway that lists somebody else is no buyer.
    silent(_two(gateway(max_price='"1500 wei / pixel"', orchestrators='["orch"]')))
    # One gateway that pays is enough.
    rich = gateway("rich", host='"gpu"', http='"127.0.0.1:9935"', max_price='"2040 wei / pixel"', wallet='"third"')
    text = _two(CAP, rich).replace("[wallets.third]", '[wallets.third]\nreward_by = "dear"')
    silent(text)
    # Soft caps other currencies and any are no bounds.
    silent(_two(gateway(max_price='"1500 wei / pixel"', ignore_max_price_if_needed="true")))
    assert printed(_two(gateway(max_price='"0.41 USD / terapixel"')), CODE) == "no problems\n"
    silent(_two(gateway(max_price='"any"')))
    # Gateway that blocks it is no buyer.
    blocked = CAP + 'selection = { blocked = ["0x3333333333333333333333333333333333333333"] }\n'
    silent(_two(blocked))
    # Price for one gateway is that of all with its wallet.
    other = gateway("other", host='"gpu"', http='"127.0.0.1:9935"', max_price='"1500 wei / pixel"')
    text = _two(CAP.replace("1500", "1300"), other, gateway_prices='{ gate = "1400 wei / pixel" }')
    assert printed(text, CODE) == "no problems\n"


def test_gateway_that_lists_it_counts() -> None:
    listing = gateway(max_price='"1500 wei / pixel"', orchestrators='["orch", "dear"]')
    assert flagged(_two(listing), CODE, Severity.WARNING)


def test_price_for_one_gateway_counts() -> None:
    silent(_two(CAP, gateway_prices='{ gate = "1400 wei / pixel" }'))
    assert flagged(_two(CAP, gateway_prices='{ gate = "1600 wei / pixel" }'), CODE, Severity.WARNING)


def test_gateway_that_can_pay_nobody_is_reported_instead() -> None:
    text = onchain(gateway(max_price='"1000 wei / pixel"'), orchestrator())
    assert printed(text, CODE) == "no problems\n"
    assert "gateway-price-admits-nobody" in printed(text)


def test_model_above_its_cap(snapshot: SnapshotAssertion) -> None:
    buyer = gateway(mode='"ai"', discovery='"ai-registry"', max_model_prices='{ realvis = "4500 wei / pixel" }')
    uses = {"mode": '"dual"', "models": '[{ use = "realvis", price = "5000 wei / pixel" }]'}
    seller = orchestrator(mode='"dual"', models='[{ use = "realvis" }]', ai_registry="true")
    second = orchestrator("dear", host='"edge"', wallet='"third"', http='"0.0.0.0:9000"', **uses)
    second += 'service = "edge.example.net:9000"\n'
    text = onchain(wallet(), model(), buyer, seller, f"{second}ai_registry = true\n")
    assert flagged(text, CODE, Severity.WARNING) == snapshot
    silent(onchain(wallet(), model(), buyer, seller, second))  # in the registry that the gateway does not search


def test_model_within_the_cap_of_its_pipeline() -> None:
    buyer = gateway(mode='"ai"', discovery='"ai-registry"', max_price='"1 wei / pixel"')
    buyer += 'max_model_prices = { text-to-image = "4080 wei / pixel" }\n'
    silent(onchain(model(), buyer, orchestrator(mode='"dual"', ai_registry="true", models='[{ use = "realvis" }]')))


def test_price_in_another_currency_counts_when_it_has_a_rate() -> None:
    rates = '[rates]\nUSD = "0.00042 ETH"\n'
    silent(_two(CAP, rates, dear='"3.49 USD / terapixel"'))
    assert flagged(_two(CAP, rates, dear='"3.6 USD / terapixel"'), CODE, Severity.WARNING)
