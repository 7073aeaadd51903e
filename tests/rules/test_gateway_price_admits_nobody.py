"""Caps that no orchestrator meets, for video and for models."""

from __future__ import annotations

import json
import re
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from tests.rules.support import (
    SECRET,
    OneRule,
    ai_worker,
    checked,
    gateway,
    model,
    onchain,
    orchestrator,
    printed,
    silent,
)

AI = {"mode": '"dual"', "ai_registry": "true", "models": '[{ use = "realvis" }]', "price": '"1200 wei / pixel"'}
LIST = '["orch"]'


def _video(cap: str, price: str, **settings: str) -> str:
    return onchain(gateway(max_price=f'"{cap}"', orchestrators=LIST, **settings), orchestrator(price=f'"{price}"'))


def test_gateway_price_admits_nobody(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Cap that equals the price admits nobody.
    assert rule.errs(_video("1200 wei / pixel", "1200 wei / pixel")) == snapshot
    rule.errs(_video("1211 wei / pixel", "1200 wei / pixel"))
    silent(
        onchain(gateway(max_price='"1200 wei / pixel"', orchestrators=LIST), orchestrator(auto_adjust_price="false"))
    )
    # What the help says is enough and a thousandth less is not.
    assert rule.warns(_video("1220 wei / pixel", "1200 wei / pixel")) == snapshot
    silent(_video("1224 wei / pixel", "1200 wei / pixel"))
    rule.warns(_video("1223.999 wei / pixel", "1200 wei / pixel"))
    dollars = '[rates]\nUSD = "0.00042 ETH"\n'
    text = _video("1200 wei / pixel", "3 USD / terapixel") + dollars
    (help_line,) = [line for line in rule.errs(text).splitlines() if "help" in line]
    assert '"3.06 USD / 1000000000000 pixels"' in help_line
    silent(_video("3.06 USD / terapixel", "3 USD / terapixel") + dollars)
    rule.warns(_video("3.059 USD / terapixel", "3 USD / terapixel") + dollars)
    # Gas price reserve and face value count.
    at_ease = _video("1212 wei / pixel", "1200 wei / pixel")
    silent(at_ease.replace("[fleet]", '[fleet]\ngas_price = "0.02 gwei"'))
    rule.warns(at_ease, "at a gas price of 0.05 gwei")
    silent(at_ease.replace('reserve = "0.3 ETH"', 'reserve = "5 ETH"'))
    small = at_ease.replace('reserve = "0.3 ETH"', 'reserve = "0.03 ETH"')
    rule.warns(small, '"1440 wei / pixel"')
    capped = orchestrator(max_face_value='"600000 gwei"')
    text = onchain(gateway(max_price='"1300 wei / pixel"', orchestrators=LIST), capped)
    rule.warns(text, '"1320 wei / pixel"')
    # Caps and funds of a signer elsewhere are unknown.
    outside = gateway(max_price=None, orchestrators=LIST, wallet=None)
    outside += 'remote_signer = { url = "https://signer.example.net" }\n'
    rule.quiet(onchain(outside, orchestrator()))
    # Price is told also where the deposit is too small for any payment.
    text = _video("1200 wei / pixel", "1200 wei / pixel").replace('deposit = "0.5 ETH"', 'deposit = "0.0001 ETH"')
    rule.errs(text, '"1224 wei / pixel" or more')
    assert "deposit-below-face-value" in printed(text)
    enough = text.replace('max_price = "1200', 'max_price = "1224')
    rule.quiet(enough)


def test_gateway_price_admits_nobody__units(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Prices compare exactly over different pixels.
    silent(_video("1224 wei / pixel", "1200000000 wei / megapixel"))
    rule.warns(_video("1224 wei / pixel", "1200001000 wei / megapixel"))
    # Decimals that the node cuts off do not count unless it does not adjust prices.
    silent(_video("1224 wei / pixel", "1200000980 wei / megapixel"))
    exact = orchestrator(price='"1200000999 wei / megapixel"', auto_adjust_price="false")
    rule.errs(onchain(gateway(max_price='"1200 wei / pixel"', orchestrators=LIST), exact))
    # Currencies with a rate are compared.
    rates = '[rates]\nUSD = "0.00042 ETH"\n'
    silent(_video("3 USD / terapixel", "1200 wei / pixel") + rates)
    assert rule.errs(_video("2.8 USD / terapixel", "1200 wei / pixel") + rates) == snapshot
    rule.quiet(_video("2.8 USD / terapixel", "0 wei / pixel"))
    # Price for one gateway is that of all with its wallet.
    other = gateway(
        "other", host='"gpu"', http='"127.0.0.1:9935"', cli='"127.0.0.1:5936"', max_price='"1000 wei / pixel"'
    )
    other += f"orchestrators = {LIST}\n"
    text = onchain(gateway(), other, orchestrator(gateway_prices='{ gate = "900 wei / pixel" }'))
    silent(text.replace("[wallets.payer]", '[wallets.payer]\nreward_by = "none"'))


def test_gateway_price_admits_nobody__sellers(rule: OneRule) -> None:
    # Blocked orchestrator is no offer.
    blocked = f'{LIST}\nselection = {{ blocked = ["0x2222222222222222222222222222222222222222"] }}'
    text = onchain(gateway(max_price='"1000 wei / pixel"', orchestrators=blocked), orchestrator())
    rule.quiet(text)
    # Price in other currency is not compared.
    rule.quiet(_video("0.41 USD / terapixel", "1200 wei / pixel"))
    silent(_video("1000 wei / pixel", "1200 wei / pixel", ignore_max_price_if_needed="true"))
    silent(_video("any", "1200 wei / pixel"))
    # Cap of a model goes before that of its pipeline.
    caps = '{ text-to-image = "1 wei / pixel", realvis = "4080 wei / pixel" }'
    silent(onchain(model(), gateway(mode='"dual"', orchestrators=LIST, max_model_prices=caps), orchestrator(**AI)))
    # Model without a price is sold at the base price.
    node = gateway(mode='"dual"', orchestrators=LIST, max_price='"1500 wei / pixel"')
    rule.quiet(onchain(model(price=None), node, orchestrator(**AI)))
    # Two names of one model share a cap.
    caps = '{ alias = "4080 wei / pixel" }'
    node = gateway(mode='"dual"', orchestrators=LIST, max_price='"1500 wei / pixel"', max_model_prices=caps)
    silent(onchain(model(), model("alias"), node, orchestrator(**AI)))
    # Nobody who sells is not a matter of price.
    text = onchain(gateway(max_price='"1 wei / pixel"'))
    rule.quiet(text)


def test_gateway_price_admits_nobody__models(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Gateway that can buy nothing at all is an error.
    node = gateway(mode='"ai"', orchestrators=LIST, max_price='"1500 wei / pixel"')
    assert rule.errs(onchain(model(), node, orchestrator(**AI))) == snapshot
    # Model of a worker that has no price is sold at the base price.
    seller = orchestrator(mode='"dual"', models='[{ use = "realvis" }]', secret=SECRET, ai_registry="true")
    worker = ai_worker(models='[{ use = "other", warm = true }]')
    other = model("other", id='"Org/Other"')
    node = gateway(mode='"dual"', orchestrators=LIST, max_price='"1100 wei / pixel"')
    text = onchain(model(), other, node, seller, worker)
    assert "model other" not in rule.printed(text)  # too expensive as well, and realvis is the dearest
    caps = 'max_model_prices = { other = "1100 wei / pixel", realvis = "4000 wei / pixel" }\n'
    rule.errs(onchain(model(), other, node + caps, seller, worker), "sells model other")
    # Others in the registry may be cheaper.
    text = onchain(gateway(max_price='"1000 wei / pixel"'), orchestrator())
    rule.warns(text, "no orchestrator of this fleet")
    # Others in the list may be cheaper.
    listed = '["orch", "other.example.net:8935"]'
    text = onchain(gateway(max_price='"1000 wei / pixel"', orchestrators=listed), orchestrator())
    rule.warns(text)
    # Cheaper orchestrator that is not listed does not help.
    cheap = orchestrator("cheap", host='"edge"', price='"10 wei / pixel"', wallet='"payer"')
    listed = gateway(host='"gpu"', http='"127.0.0.1:9935"', max_price='"1000 wei / pixel"', orchestrators=LIST)
    rule.errs(onchain(listed, orchestrator(), cheap))
    # Price for this gateway counts by name and by account.
    cap = gateway(max_price='"1000 wei / pixel"', orchestrators=LIST)
    silent(onchain(cap, orchestrator(gateway_prices='{ gate = "900 wei / pixel" }')))
    account = '{ "0x1111111111111111111111111111111111111111" = "900 wei / pixel" }'
    silent(onchain(cap, orchestrator(gateway_prices=account)))
    rule.errs(onchain(cap, orchestrator(gateway_prices='{ gate = "1100 wei / pixel" }')))
    # Price for this gateway counts in the registry.
    cap = gateway(max_price='"1000 wei / pixel"')
    silent(onchain(cap, orchestrator(gateway_prices='{ gate = "900 wei / pixel" }')))
    dearer = orchestrator(price='"900 wei / pixel"', gateway_prices='{ gate = "1100 wei / pixel" }')
    rule.warns(onchain(cap, dearer), "1100 wei")
    # Cap of a model.
    caps = '{ realvis = "4079 wei / pixel" }'
    node = gateway(mode='"dual"', orchestrators=LIST, max_model_prices=caps)
    assert rule.warns(onchain(model(), node, orchestrator(**AI))) == snapshot
    silent(
        onchain(
            model(),
            gateway(mode='"dual"', orchestrators=LIST, max_model_prices=caps.replace("4079", "4080")),
            orchestrator(**AI),
        )
    )
    # Cap of a pipeline.
    caps = '{ text-to-image = "3999 wei / pixel" }'
    node = gateway(mode='"dual"', orchestrators=LIST, max_model_prices=caps)
    assert rule.errs(onchain(model(), node, orchestrator(**AI))) == snapshot
    # Help says to remove a cap only where that buys something.
    caps = '{ realvis = "3000 wei / pixel" }'
    seller = orchestrator(**AI)
    free = gateway(mode='"dual"', orchestrators=LIST, max_model_prices=caps)
    rule.errs(onchain(model(), free, seller), "or more, or remove it")
    bound = gateway(mode='"dual"', orchestrators=LIST, max_price='"4079 wei / pixel"', max_model_prices=caps)
    found = rule.errs(onchain(model(), bound, seller))
    assert 'to "4080 wei / pixel" or more\n' in found and "remove" not in found
    # Model left to the cap for video.
    node = gateway(mode='"dual"', orchestrators=LIST, max_price='"1500 wei / pixel"')
    assert rule.warns(onchain(model(), node, orchestrator(**AI))) == snapshot
    # Number of the help is short and enough.
    for price in ["4768371", "1234.567", "0.0123", "999949", "1176.4", "7"]:
        seller = orchestrator(price=f'"{price} wei / pixel"')
        text = onchain(gateway(orchestrators=LIST, max_price='"0.001 wei / pixel"'), seller)
        number = re.search(r'raise max_price to "(\S+) wei / pixel"', rule.errs(text))
        assert number is not None and len(number[1].replace(".", "").strip("0")) <= 4
        rule.quiet(text.replace("0.001 wei", f"{number[1]} wei"))


_PRICES = st.tuples(st.integers(1, 6), st.sampled_from(["wei", "USD"]), st.sampled_from([1, 2, 3]))
_SELLERS = st.lists(st.tuples(_PRICES, st.none() | _PRICES), min_size=1, max_size=4)


def _text(price: tuple[int, str, int]) -> str:
    return f'"{price[0]} {price[1]} / {price[2]} pixels"'


def _sent(price: tuple[int, str, int]) -> Fraction:
    """With the 2 percent of a reserve of 0.3 ETH; in wei cut to three decimals."""
    exact = Fraction(price[0] * 51, price[2] * 50)
    return Fraction(exact * 1000 // 1, 1000) if price[1] == "wei" else exact


@given(_PRICES, _SELLERS, st.booleans())
def test_gateway_price_admits_nobody__as_by_comparing_every_offer(
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
    assert any(d.code == "gateway-price-admits-nobody" for d in checked(text).diagnostics) == (not met)
