"""Caps that no orchestrator meets, for video and for models."""

from __future__ import annotations

import json
import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import (
    SECRET,
    ai_worker,
    checked,
    flagged,
    gateway,
    model,
    onchain,
    orchestrator,
    printed,
    silent,
)

CODE = "gateway-price-admits-nobody"
AI = {"mode": '"dual"', "ai_registry": "true", "models": '[{ use = "realvis" }]', "price": '"1200 wei / pixel"'}
LIST = '["orch"]'


def _video(cap: str, price: str, **settings: str) -> str:
    return onchain(gateway(max_price=f'"{cap}"', orchestrators=LIST, **settings), orchestrator(price=f'"{price}"'))


def test_cap_below_the_only_price(snapshot: SnapshotAssertion) -> None:
    assert flagged(_video("1000 wei / pixel", "1200 wei / pixel"), CODE) == snapshot


def test_cap_that_equals_the_price_admits_nobody(snapshot: SnapshotAssertion) -> None:
    assert flagged(_video("1200 wei / pixel", "1200 wei / pixel"), CODE) == snapshot
    assert flagged(_video("1211 wei / pixel", "1200 wei / pixel"), CODE)
    silent(
        onchain(gateway(max_price='"1200 wei / pixel"', orchestrators=LIST), orchestrator(auto_adjust_price="false"))
    )


def test_what_the_help_says_is_enough_and_a_thousandth_less_is_not(snapshot: SnapshotAssertion) -> None:
    assert flagged(_video("1220 wei / pixel", "1200 wei / pixel"), CODE, Severity.WARNING) == snapshot
    silent(_video("1224 wei / pixel", "1200 wei / pixel"))
    assert flagged(_video("1223.999 wei / pixel", "1200 wei / pixel"), CODE, Severity.WARNING)
    dollars = '[rates]\nUSD = "0.00042 ETH"\n'
    text = _video("1200 wei / pixel", "3 USD / terapixel") + dollars
    (help_line,) = [line for line in flagged(text, CODE).splitlines() if "help" in line]
    assert '"3.06 USD / 1000000000000 pixels"' in help_line
    silent(_video("3.06 USD / terapixel", "3 USD / terapixel") + dollars)
    assert flagged(_video("3.059 USD / terapixel", "3 USD / terapixel") + dollars, CODE, Severity.WARNING)


def test_gas_price_reserve_and_face_value_count() -> None:
    at_ease = _video("1212 wei / pixel", "1200 wei / pixel")
    silent(at_ease.replace("[fleet]", '[fleet]\ngas_price = "0.02 gwei"'))
    assert "at a gas price of 0.05 gwei" in flagged(at_ease, CODE, Severity.WARNING)
    silent(at_ease.replace('reserve = "0.3 ETH"', 'reserve = "5 ETH"'))
    small = at_ease.replace('reserve = "0.3 ETH"', 'reserve = "0.03 ETH"')
    assert '"1440 wei / pixel"' in flagged(small, CODE, Severity.WARNING)
    capped = orchestrator(max_face_value='"600000 gwei"')
    text = onchain(gateway(max_price='"1300 wei / pixel"', orchestrators=LIST), capped)
    assert '"1320 wei / pixel"' in flagged(text, CODE, Severity.WARNING)


def test_caps_and_funds_of_a_signer_elsewhere_are_unknown() -> None:
    outside = gateway(max_price=None, orchestrators=LIST, wallet=None)
    outside += 'remote_signer = { url = "https://signer.example.net" }\n'
    assert printed(onchain(outside, orchestrator()), CODE) == "no problems\n"


def test_price_is_told_also_where_the_deposit_is_too_small_for_any_payment() -> None:
    text = _video("1200 wei / pixel", "1200 wei / pixel").replace('deposit = "0.5 ETH"', 'deposit = "0.0001 ETH"')
    assert '"1224 wei / pixel" or more' in flagged(text, CODE)
    assert "deposit-below-face-value" in printed(text)
    enough = text.replace('max_price = "1200', 'max_price = "1224')
    assert printed(enough, CODE) == "no problems\n"


def test_prices_compare_exactly_over_different_pixels() -> None:
    silent(_video("1224 wei / pixel", "1200000000 wei / megapixel"))
    assert flagged(_video("1224 wei / pixel", "1200001000 wei / megapixel"), CODE, Severity.WARNING)


def test_decimals_that_the_node_cuts_off_do_not_count_unless_it_does_not_adjust_prices() -> None:
    silent(_video("1224 wei / pixel", "1200000980 wei / megapixel"))
    exact = orchestrator(price='"1200000999 wei / megapixel"', auto_adjust_price="false")
    assert flagged(onchain(gateway(max_price='"1200 wei / pixel"', orchestrators=LIST), exact), CODE)


def test_currencies_with_a_rate_are_compared(snapshot: SnapshotAssertion) -> None:
    rates = '[rates]\nUSD = "0.00042 ETH"\n'
    silent(_video("3 USD / terapixel", "1200 wei / pixel") + rates)
    assert flagged(_video("2.8 USD / terapixel", "1200 wei / pixel") + rates, CODE) == snapshot
    assert printed(_video("2.8 USD / terapixel", "0 wei / pixel"), CODE) == "no problems\n"


def test_price_for_one_gateway_is_that_of_all_with_its_wallet() -> None:
    other = gateway(
        "other", host='"gpu"', http='"127.0.0.1:9935"', cli='"127.0.0.1:5936"', max_price='"1000 wei / pixel"'
    )
    other += f"orchestrators = {LIST}\n"
    text = onchain(gateway(), other, orchestrator(gateway_prices='{ gate = "900 wei / pixel" }'))
    silent(text.replace("[wallets.payer]", '[wallets.payer]\nreward_by = "none"'))


def test_sound_specs_are_silent() -> None:
    # Blocked orchestrator is no offer.
    blocked = f'{LIST}\nselection = {{ blocked = ["0x2222222222222222222222222222222222222222"] }}'
    text = onchain(gateway(max_price='"1000 wei / pixel"', orchestrators=blocked), orchestrator())
    assert printed(text, CODE) == "no problems\n"
    # Price in other currency is not compared.
    assert printed(_video("0.41 USD / terapixel", "1200 wei / pixel"), CODE) == "no problems\n"
    silent(_video("1000 wei / pixel", "1200 wei / pixel", ignore_max_price_if_needed="true"))
    silent(_video("any", "1200 wei / pixel"))
    # Cap of a model goes before that of its pipeline.
    caps = '{ text-to-image = "1 wei / pixel", realvis = "4080 wei / pixel" }'
    silent(onchain(model(), gateway(mode='"dual"', orchestrators=LIST, max_model_prices=caps), orchestrator(**AI)))
    # Model without a price is sold at the base price.
    node = gateway(mode='"dual"', orchestrators=LIST, max_price='"1500 wei / pixel"')
    assert printed(onchain(model(price=None), node, orchestrator(**AI)), CODE) == "no problems\n"
    # Two names of one model share a cap.
    caps = '{ alias = "4080 wei / pixel" }'
    node = gateway(mode='"dual"', orchestrators=LIST, max_price='"1500 wei / pixel"', max_model_prices=caps)
    silent(onchain(model(), model("alias"), node, orchestrator(**AI)))
    # Nobody who sells is not a matter of price.
    text = onchain(gateway(max_price='"1 wei / pixel"'))
    assert printed(text, CODE) == "no problems\n"


def test_gateway_that_can_buy_nothing_at_all_is_an_error(snapshot: SnapshotAssertion) -> None:
    node = gateway(mode='"ai"', orchestrators=LIST, max_price='"1500 wei / pixel"')
    assert flagged(onchain(model(), node, orchestrator(**AI)), CODE) == snapshot


def test_model_of_a_worker_that_has_no_price_is_sold_at_the_base_price() -> None:
    seller = orchestrator(mode='"dual"', models='[{ use = "realvis" }]', secret=SECRET, ai_registry="true")
    worker = ai_worker(models='[{ use = "other", warm = true }]')
    other = model("other", id='"Org/Other"')
    node = gateway(mode='"dual"', orchestrators=LIST, max_price='"1100 wei / pixel"')
    text = onchain(model(), other, node, seller, worker)
    assert "model other" not in printed(text, CODE)  # too expensive as well, and realvis is the dearest
    caps = 'max_model_prices = { other = "1100 wei / pixel", realvis = "4000 wei / pixel" }\n'
    assert "sells model other" in flagged(onchain(model(), other, node + caps, seller, worker), CODE)


def test_unsound_specs_are_flagged() -> None:
    # Others in the registry may be cheaper.
    text = onchain(gateway(max_price='"1000 wei / pixel"'), orchestrator())
    assert "no orchestrator of this fleet" in flagged(text, CODE, Severity.WARNING)
    # Others in the list may be cheaper.
    listed = '["orch", "other.example.net:8935"]'
    text = onchain(gateway(max_price='"1000 wei / pixel"', orchestrators=listed), orchestrator())
    assert flagged(text, CODE, Severity.WARNING)
    # Cheaper orchestrator that is not listed does not help.
    cheap = orchestrator("cheap", host='"edge"', price='"10 wei / pixel"', wallet='"payer"')
    listed = gateway(host='"gpu"', http='"127.0.0.1:9935"', max_price='"1000 wei / pixel"', orchestrators=LIST)
    assert flagged(onchain(listed, orchestrator(), cheap), CODE)


def test_price_for_this_gateway_counts_by_name_and_by_account() -> None:
    cap = gateway(max_price='"1000 wei / pixel"', orchestrators=LIST)
    silent(onchain(cap, orchestrator(gateway_prices='{ gate = "900 wei / pixel" }')))
    account = '{ "0x1111111111111111111111111111111111111111" = "900 wei / pixel" }'
    silent(onchain(cap, orchestrator(gateway_prices=account)))
    assert flagged(onchain(cap, orchestrator(gateway_prices='{ gate = "1100 wei / pixel" }')), CODE)


def test_price_for_this_gateway_counts_in_the_registry() -> None:
    cap = gateway(max_price='"1000 wei / pixel"')
    silent(onchain(cap, orchestrator(gateway_prices='{ gate = "900 wei / pixel" }')))
    dearer = orchestrator(price='"900 wei / pixel"', gateway_prices='{ gate = "1100 wei / pixel" }')
    assert "1100 wei" in flagged(onchain(cap, dearer), CODE, Severity.WARNING)


def test_cap_of_a_model(snapshot: SnapshotAssertion) -> None:
    caps = '{ realvis = "4079 wei / pixel" }'
    node = gateway(mode='"dual"', orchestrators=LIST, max_model_prices=caps)
    assert flagged(onchain(model(), node, orchestrator(**AI)), CODE, Severity.WARNING) == snapshot
    silent(
        onchain(
            model(),
            gateway(mode='"dual"', orchestrators=LIST, max_model_prices=caps.replace("4079", "4080")),
            orchestrator(**AI),
        )
    )


def test_cap_of_a_pipeline(snapshot: SnapshotAssertion) -> None:
    caps = '{ text-to-image = "3999 wei / pixel" }'
    node = gateway(mode='"dual"', orchestrators=LIST, max_model_prices=caps)
    assert flagged(onchain(model(), node, orchestrator(**AI)), CODE) == snapshot


def test_help_says_to_remove_a_cap_only_where_that_buys_something() -> None:
    caps = '{ realvis = "3000 wei / pixel" }'
    seller = orchestrator(**AI)
    free = gateway(mode='"dual"', orchestrators=LIST, max_model_prices=caps)
    assert "or more, or remove it" in flagged(onchain(model(), free, seller), CODE)
    bound = gateway(mode='"dual"', orchestrators=LIST, max_price='"4079 wei / pixel"', max_model_prices=caps)
    found = flagged(onchain(model(), bound, seller), CODE)
    assert 'to "4080 wei / pixel" or more\n' in found and "remove" not in found


def test_model_left_to_the_cap_for_video(snapshot: SnapshotAssertion) -> None:
    node = gateway(mode='"dual"', orchestrators=LIST, max_price='"1500 wei / pixel"')
    assert flagged(onchain(model(), node, orchestrator(**AI)), CODE, Severity.WARNING) == snapshot


_PRICES = st.tuples(st.integers(1, 6), st.sampled_from(["wei", "USD"]), st.sampled_from([1, 2, 3]))
_SELLERS = st.lists(st.tuples(_PRICES, st.none() | _PRICES), min_size=1, max_size=4)


def _text(price: tuple[int, str, int]) -> str:
    return f'"{price[0]} {price[1]} / {price[2]} pixels"'


def _sent(price: tuple[int, str, int]) -> Fraction:
    """With the 2 percent of a reserve of 0.3 ETH; in wei cut to three decimals."""
    exact = Fraction(price[0] * 51, price[2] * 50)
    return Fraction(exact * 1000 // 1, 1000) if price[1] == "wei" else exact


@given(_PRICES, _SELLERS, st.booleans())
def test_verdict_is_that_of_comparing_every_offer(
    cap: tuple[int, str, int], sellers: list[tuple[tuple[int, str, int], tuple[int, str, int] | None]], listed: bool
) -> None:
    names = [f"o{index}" for index in range(len(sellers))]
    nodes = [
        orchestrator(name, price=_text(base), gateway_prices=f"{{ gate = {_text(special)} }}" if special else None)
        for name, (base, special) in zip(names, sellers, strict=True)
    ]
    orchestrators = json.dumps(names) if listed else None
    text = onchain(gateway(max_price=_text(cap), orchestrators=orchestrators), *nodes)
    offers = [special or base for base, special in sellers]
    met = any(offer[1] != cap[1] or _sent(offer) <= Fraction(cap[0], cap[2]) for offer in offers)
    assert any(d.code == CODE for d in checked(text).diagnostics) == (not met)


@pytest.mark.parametrize("price", ["4768371", "1234.567", "0.0123", "999949", "1176.4", "7"])
def test_number_of_the_help_is_short_and_enough(price: str) -> None:
    seller = orchestrator(price=f'"{price} wei / pixel"')
    text = onchain(gateway(orchestrators=LIST, max_price='"0.001 wei / pixel"'), seller)
    found = re.search(r'raise max_price to "(\S+) wei / pixel"', flagged(text, CODE))
    assert found is not None and len(found[1].replace(".", "").strip("0")) <= 4
    assert printed(text.replace("0.001 wei", f"{found[1]} wei"), CODE) == "no problems\n"
