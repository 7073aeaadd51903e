"""Borders of the rules about prices, caps, tickets and funds: one test for each rule, named as its code."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import (
    SECRET,
    OneRule,
    ai_worker,
    flagged,
    free_gateway,
    free_orchestrator,
    gateway,
    model,
    offchain,
    onchain,
    orchestrator,
    printed,
    renting,
    runner,
    signer,
    silent,
    wallet,
)


def _amounts(**amounts: str) -> str:
    return onchain(wallet(**{key: f'"{amount}"' for key, amount in amounts.items()}), gateway(wallet='"third"'))


def test_amount_above_supply(rule: OneRule) -> None:
    # Deposit in the wrong unit.
    rule.warns(_amounts(deposit="50000000000 ETH"))
    silent(_amounts(deposit="50000000000 gwei"))  # as the help says
    # Each amount of a wallet.
    rule.warns(_amounts(minimum_balance="120000001 ETH"), "minimum_balance")
    rule.warns(_amounts(reserve="500000000000000000 ETH"), 'reserve = "500000000000000000 wei"')
    silent(_amounts(reserve="120000000 ETH"))


LISTED = gateway(orchestrators='["orch"]')


def _deposit(deposit: str, *tables: str, **fleet: str) -> str:
    return onchain(*(tables or (LISTED, orchestrator())), **fleet).replace(
        'deposit = "0.5 ETH"', f'deposit = "{deposit}"'
    )


def test_deposit_below_face_value(rule: OneRule) -> None:
    # A deposit of one face value is enough and a wei less is not.
    silent(_deposit("0.003 ETH"))  # the share of a reserve of 0.3 ETH
    rule.warns(_deposit("0.002999999999999999 ETH"), '"0.003 ETH"')
    # Multiplier face value and gas price count.
    twice = gateway(orchestrators='["orch"]', tickets="{ deposit_multiplier = 2 }")
    rule.warns(_deposit("0.005 ETH", twice, orchestrator()), '"0.006 ETH"')
    silent(_deposit("0.006 ETH", twice, orchestrator()))
    silent(_deposit("0.002 ETH", LISTED, orchestrator(max_face_value='"0.002 ETH"')))
    silent(_deposit("0.002 ETH", gas_price='"0.015 gwei"'))
    # Deposit of one ticket value is never enough.
    rule.errs(_deposit("8 gwei"))
    rule.warns(_deposit("8 gwei", gateway(), orchestrator()))
    rule.warns(_deposit("9 gwei"))


LIST = '["orch"]'
DOLLARS = '[rates]\nUSD = "0.00042 ETH"\n'
SELLER = orchestrator(mode='"dual"', ai_registry="true", models='[{ use = "realvis" }]')


def _video(cap: str, price: str = "1200 wei / pixel", **settings: str) -> str:
    return onchain(gateway(max_price=f'"{cap}"', orchestrators=LIST, **settings), orchestrator(price=f'"{price}"'))


def test_gateway_cap_far_above_offers(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Cap in gwei that was meant in wei.
    found = rule.warns(_video("1500 gwei / pixel"))
    assert found == snapshot
    assert 'write max_price = "1500 wei / pixel" if that is the unit you meant, or max_price = "any"' in found
    silent(_video("1500 wei / pixel"))
    # Help has the number in the unit that was meant.
    for cap, meant in [
        ("1500 ETH / pixel", "1500 wei / pixel"),
        ("1500000000 wei / pixel", "1500000000 wei / 1000000 pixels"),
        ("1224000000 wei / pixel", "1224000000 wei / 1000000 pixels"),
    ]:
        text = _video(cap)
        rule.warns(text, f'write max_price = "{meant}" if')
        silent(_video(meant))
    # Dollars per pixel that were meant per terapixel.
    text = _video("3.5 USD / pixel") + DOLLARS
    rule.warns(text, 'write max_price = "3.5 USD / 1000000000000 pixels" if')
    # No unit fits.
    rule.warns(
        _video("2000 wei / pixel", "1 wei / pixel"),
        'lower max_price: "1.02 wei / pixel" is enough, or max_price = "any" to pay every price',
    )
    # Exactly a thousand times what reaches the gateway.
    rule.warns(_video("1224000 wei / pixel"), "1,000 times")
    silent(_video("1223999.999 wei / pixel"))
    # Cap of any and soft caps are meant.
    rule.quiet(_video("any"))
    rule.quiet(_video("1500 gwei / pixel", ignore_max_price_if_needed="true"))
    # Unknown is no finding.
    rule.quiet(_video("1500 gwei / pixel", "3 USD / terapixel"))
    rule.warns(_video("1500 gwei / pixel", "3 USD / terapixel") + DOLLARS)
    mixed = orchestrator("other", host='"edge"', wallet='"payer"', price='"3 USD / terapixel"', http='"0.0.0.0:9000"')
    rule.quiet(_video("1500 gwei / pixel").replace(LIST, '["orch", "other"]') + mixed)
    rule.quiet(_video("1500 gwei / pixel").replace('reserve = "0.3 ETH"\n', ""))
    rule.quiet(_video("1500 gwei / pixel", "0 wei / pixel"))
    rule.quiet(onchain(gateway(max_price='"1500 gwei / pixel"')))
    # Only offers that the gateway can buy count.
    dear = orchestrator("dear", host='"edge"', wallet='"payer"', price='"1200 gwei / pixel"', http='"0.0.0.0:9000"')
    text = _video("1500 gwei / pixel") + dear
    rule.warns(text, "the dearest offer, orch")
    rule.quiet(text.replace(LIST, '["orch", "dear"]'))
    # Cap for video and models is compared with the dearest of both.
    node = gateway(mode='"dual"', orchestrators=LIST, max_price='"5000000 wei / pixel"')
    text = onchain(model(price='"4000000 wei / pixel"'), node, SELLER)
    rule.quiet(text)
    own = node + 'max_model_prices = { realvis = "4500000 wei / pixel" }\n'
    rule.warns(
        onchain(model(price='"4000000 wei / pixel"'), own, SELLER), "gateway gate pays up to 5000000 wei / pixel"
    )
    # Cap of a model.
    caps = '{ realvis = "4500 gwei / pixel" }'
    node = gateway(mode='"dual"', orchestrators=LIST, max_model_prices=caps)
    found = rule.warns(onchain(model(), node, SELLER))
    assert found == snapshot
    silent(onchain(model(), node.replace("4500 gwei", "4500 wei"), SELLER))
    # Cap of a signer for two gateways is told once.
    model_of_live = model("live", pipeline='"live-video-to-video"', id='"noop"')
    behind = {"wallet": None, "max_price": None, "mode": '"ai"', "remote_signer": '{ signer = "signer" }'}
    gates = [gateway(name, http=f'"127.0.0.1:{port}"', **behind) for name, port in (("gate", 9935), ("second", 9936))]
    seller = orchestrator(mode='"dual"', ai_registry="true", models='[{ use = "live" }]')
    text = onchain(model_of_live, signer(max_price='"4500 gwei / pixel"'), *gates, seller)
    assert printed(text).count(f"[{rule.code}]") == 1
    assert "signer signer pays up to" in printed(text)
    # Off chain nobody pays.
    rule.quiet(_video("1500 gwei / pixel").replace("arbitrum-one-mainnet", "offchain"))


PAYER = gateway(wallet='"third"')


def test_gateway_funds_missing(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Wallet without a part of its funds.
    for part in ["deposit", "reserve"]:
        assert rule.errs(onchain(wallet(**{part: None}), PAYER)) == snapshot
        rule.errs(onchain(wallet(**{part: '"0 ETH"'}), PAYER), f"a {part} of zero")
        rule.quiet(onchain(wallet(**{part: '"1 wei"'}), PAYER))
        rule.quiet(offchain(wallet(**{part: None}), PAYER))
    # Wallet of an orchestrator needs none.
    silent(onchain(wallet(deposit=None, reserve=None), orchestrator(wallet='"third"')))
    # Wallet that several gateways share is reported once.
    other = gateway("other", wallet='"third"', host='"gpu"')
    text = onchain(wallet(deposit=None, reward_by='"none"'), PAYER, other)
    assert rule.errs(text).count("error[") == 1
    # Remote signer pays in the place of its gateways.
    elsewhere = gateway(wallet=None) + 'remote_signer = { url = "https://signer.example.net" }\n'
    rule.quiet(onchain(elsewhere))
    rule.errs(onchain(wallet(deposit=None), signer(wallet='"third"')), "signer pays from it")


def test_gateway_price_unset(rule: OneRule) -> None:
    silent(onchain(gateway(max_price='"1500 wei / pixel"')))
    silent(onchain(gateway(max_price='"any"')))
    # Off chain nobody pays.
    silent(offchain(free_orchestrator(), free_gateway()))
    # Caps of models leave the rest open.
    caps = '{ realvis = "5000 wei / pixel" }'
    text = onchain(model(), gateway(mode='"ai"', discovery='"ai-registry"', max_price=None, max_model_prices=caps))
    rule.errs(text, "anything except the models")


TWO = gateway("east") + gateway("west", host='"gpu"', http='"127.0.0.1:9935"')
ONE_CALLER = '[wallets.payer]\nreward_by = "none"'


def _fleet(prices: str) -> str:
    return onchain(TWO, orchestrator(gateway_prices=prices)).replace("[wallets.payer]", ONE_CALLER)


def test_gateway_prices_collide(rule: OneRule) -> None:
    # Gateway and its account.
    account = '"0x1111111111111111111111111111111111111111"'
    rule.errs(_fleet(f'{{ east = "900 wei / pixel", {account} = "1100 wei / pixel" }}'))
    # Prices of a model collide too.
    models = '[{ use = "realvis", gateway_prices = { east = "1 wei / pixel", west = "2 wei / pixel" } }]'
    seller = orchestrator(mode='"dual"', models=models, secret=SECRET)
    rule.errs(onchain(model(), TWO, seller, ai_worker()))
    # One price or two equal ones are fine.
    silent(_fleet('{ east = "900 wei / pixel" }'))
    silent(_fleet('{ east = "900 wei / pixel", west = "900000000 wei / megapixel" }'))
    # Off chain prices have no meaning.
    prices = '{ east = "900 wei / pixel", west = "1100 wei / pixel" }'
    wallets = onchain(TWO, orchestrator(gateway_prices=prices)).replace('"arbitrum-one-mainnet"', '"offchain"')
    rule.quiet(wallets)
    rule.quiet(offchain())


def test_ignored_offchain(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    silent(offchain(free_orchestrator(), free_gateway()))
    # Price of a shared model is fine.
    silent(offchain(model(), free_orchestrator(), free_gateway()))
    # Wallet that no node names is fine.
    silent(offchain(wallet("w"), free_orchestrator(), free_gateway()))
    silent(onchain(gateway()))
    # Gas price without a chain.
    text = offchain(free_orchestrator(), free_gateway(), gas_price='"0.1 gwei"')
    rule.warns(text, "remove gas_price")
    # Wallet of a node.
    text = offchain(wallet("w"), free_orchestrator(), free_gateway(wallet='"w"'))
    assert rule.warns(text) == snapshot


def _paying_each(gate: str | None, orch: str | None = None, **settings: str | None) -> str:
    models = '[{ use = "realvis", warm = true }]'
    buyer = {"mode": '"ai"', "orchestrators": '["orch"]', "live_payment_interval": gate, **settings}
    seller = orchestrator(mode='"ai"', models=models, gpus="[0]", secret=SECRET, live_payment_interval=orch)
    return onchain(model(), gateway(**buyer), seller)


def test_live_payment_interval_too_long(rule: OneRule) -> None:
    # A gateway whose credit ends before it pays again.
    rule.warns(_paying_each('"90s"'))
    rule.warns(_paying_each('"1m"'))
    rule.quiet(_paying_each('"90s"').replace('"90s"', '"5s"'))  # as the help says
    # Intervals may differ while the credit lasts.
    for gate, orch in [(None, '"10s"'), ('"30s"', None), ('"59s"', '"5s"'), ('"30s"', '"90s"')]:
        silent(_paying_each(gate, orch))
    # Orchestrators elsewhere have the same credit.
    rule.warns(onchain(gateway(mode='"ai"', discovery='"registry"', live_payment_interval='"2m"')))
    # Video is not paid that way.
    silent(onchain(gateway(live_payment_interval='"90s"', orchestrators='["orch"]'), orchestrator()))


def _face(value: str, **settings: str) -> str:
    fleet = {key: settings.pop(key) for key in ("gas_price", "network") if key in settings}
    return onchain(orchestrator(max_face_value=f'"{value}"', **settings), **fleet)


def test_max_face_value_too_low(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Not above the value of a ticket.
    rule.errs(_face("8 gwei"))
    rule.errs(_face("100 gwei", ticket_ev='"100 gwei"'))
    # Not above the cost of redeeming.
    assert rule.warns(_face("60000 gwei")) == snapshot
    rule.warns(_face("60000 gwei"), "61000 gwei")
    silent(_face("60000.000000001 gwei"))
    silent(_face("60000 gwei", gas_price='"0.049 gwei"'))
    # What gas cannot change is an error.
    rule.errs(_face("1200 gwei"))  # redeeming at 0.001 gwei
    rule.warns(_face("1201 gwei"))
    rule.errs(_face("1200000 gwei", min_gas_price='"1 gwei"'))
    # Zero is no bound.
    silent(_face("0 wei"))


def test_max_gas_price_too_low(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Below the lowest of the node.
    rule.errs(onchain(orchestrator(min_gas_price='"2 gwei"', max_gas_price='"1 gwei"')))
    silent(onchain(orchestrator(min_gas_price='"2 gwei"', max_gas_price='"2 gwei"')))
    # Below the gas price of the chain.
    assert rule.warns(onchain(gateway(max_gas_price='"0.049 gwei"'))) == snapshot
    silent(onchain(gateway(max_gas_price='"0.05 gwei"')))
    rule.warns(onchain(gateway(max_gas_price='"5 gwei"'), gas_price='"5.1 gwei"'))
    # Lowest gas price of the network counts.
    text = onchain(orchestrator(max_gas_price='"0.5 gwei"'), network='"mainnet"')
    assert "never goes below 1 gwei here" in rule.printed(text)
    # Off chain nothing is sent.
    text = offchain(orchestrator(wallet=None, price=None, max_gas_price='"1 wei"'))
    rule.quiet(text)


EARNING = orchestrator(wallet='"third"')


def test_minimum_balance_low(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    rule.warns(onchain(wallet(minimum_balance=None), EARNING), "wallet third has no minimum balance")
    # Less than recommended.
    low = wallet(minimum_balance='"0.019999999999999999 ETH"')
    assert rule.warns(onchain(low, EARNING)) == snapshot
    silent(onchain(wallet(minimum_balance='"0.02 ETH"'), EARNING))
    # Wallet that nobody holds and off chain wallets need none.
    silent(onchain(wallet(minimum_balance=None)))
    rule.quiet(offchain(wallet(minimum_balance=None), EARNING))


SPECIAL = '[{ use = "realvis", gateway_prices = { gate = "3000 wei / pixel" } }]'
GATE = gateway(mode='"ai"', discovery='"ai-registry"', max_price='"9000 wei / pixel"')


def test_model_gateway_price_on_worker(rule: OneRule) -> None:
    # Remote workers run it.
    orch = orchestrator(mode='"ai"', models=SPECIAL, secret=SECRET)
    silent(onchain(GATE, orch, ai_worker(), model()))
    # Worker has no prices.
    orch = orchestrator(mode='"ai"', models='[{ use = "realvis" }]', secret=SECRET)
    rule.errs(onchain(GATE, orch, ai_worker(models=SPECIAL), model()), "in the orchestrator")


TWO_MODELS = model() + model("other", id='"Org/Other"')
ONE_SOLD = orchestrator(mode='"dual"', models='[{ use = "realvis" }]')


def _buyer(**settings: str) -> str:
    return gateway(mode='"dual"', **{"orchestrators": LIST, **settings})


def test_model_nobody_sells(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    both = '[{ use = "realvis" }, { use = "other" }]'
    silent(onchain(TWO_MODELS, _buyer(), orchestrator(mode='"dual"', models=both)))
    # Second name of an offered model is fine.
    silent(onchain(model(), model("alias"), _buyer(), ONE_SOLD))
    # Gateway that searches may find the model outside.
    text = onchain(
        TWO_MODELS,
        _buyer(max_model_prices='{ other = "9000 wei / pixel" }').replace(LIST, "[]"),
        ONE_SOLD,
    )
    rule.quiet(text)
    # Fleet without AI gateways or orchestrators may keep spare models.
    rule.quiet(onchain(TWO_MODELS, gateway(), ONE_SOLD))
    rule.quiet(onchain(TWO_MODELS, _buyer(), orchestrator()))
    # Cap for a model that the list lacks.
    dear = orchestrator(
        "second", mode='"dual"', host='"edge"', wallet='"payer"', models='[{ use = "other" }]', http='"0.0.0.0:9000"'
    )
    caps = '{ realvis = "9000 wei / pixel", other = "9000 wei / pixel" }'
    text = onchain(TWO_MODELS, _buyer(max_model_prices=caps), ONE_SOLD, dear)
    assert rule.warns(text) == snapshot
    rule.quiet(text.replace('["orch"]', '["orch", "second"]'))


USES = '[{ use = "realvis" }]'


def _seller(name: str = "orch", /, **settings: str | None) -> str:
    return orchestrator(name, **{"mode": '"dual"', "models": USES, "secret": SECRET, **settings})


def test_model_price_unset(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # One repair for several orchestrators.
    text = onchain(_seller(), _seller("orch-2", cli='"127.0.0.1:7936"', service='"x.example.net:9"'), model(price=None))
    rule.warns(text, "so 2 orchestrators sell it at their base prices")
    # A price at the model or at its use.
    rule.quiet(onchain(_seller(), model()))
    use = '[{ use = "realvis", price = "1200 wei / pixel" }]'
    rule.quiet(onchain(_seller(models=use), model(price=None)))
    # Without a base price the node does not start.
    rule.quiet(onchain(_seller(price='"0 wei / pixel"'), model(price=None)))
    # The price in its table does not reach the orchestrator, whose list lacks the model.
    text = onchain(_seller(models=None), ai_worker(secret=SECRET), model())
    assert rule.warns(text) == snapshot
    rule.quiet(onchain(_seller(), ai_worker(secret=SECRET), model()))


def _two(*tables: str, dear: str = '"2000 wei / pixel"', **settings: str) -> str:
    second = orchestrator("dear", host='"edge"', wallet='"third"', price=dear, http='"0.0.0.0:9000"', **settings)
    return onchain(wallet(), *tables, orchestrator(), second + 'service = "edge.example.net:9000"\n')


CAP = gateway(max_price='"1500 wei / pixel"')


def test_orchestrator_price_nobody_pays(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Price at the cap is too much and what the help says is not.
    assert rule.warns(_two(CAP, dear='"1500 wei / pixel"')) == snapshot
    silent(_two(CAP, dear='"1470 wei / pixel"'))
    silent(_two(CAP, dear='"1470.589 wei / pixel"'))
    rule.warns(_two(CAP, dear='"1470.59 wei / pixel"'))
    silent(_two(CAP, dear='"1500 wei / pixel"', auto_adjust_price="false"))
    # Deepest reserve decides and not the highest cap.
    poor = gateway("poor", host='"gpu"', http='"127.0.0.1:9935"', max_price='"1600 wei / pixel"', wallet='"third"')
    text = _two(CAP.replace("1500", "1550"), poor).replace("[wallets.third]", '[wallets.third]\nreward_by = "dear"')
    small, _, rest = text.rpartition('reserve = "0.3 ETH"')
    rule.warns(f'{small}reserve = "0.03 ETH"{rest}', "1519 wei / pixel")
    rule.warns(text, "1568 wei / pixel")
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
    rule.quiet(_two(gateway(max_price='"0.41 USD / terapixel"')))
    silent(_two(gateway(max_price='"any"')))
    # Gateway that blocks it is no buyer.
    blocked = CAP + 'selection = { blocked = ["0x3333333333333333333333333333333333333333"] }\n'
    silent(_two(blocked))
    # Price for one gateway is that of all with its wallet.
    other = gateway("other", host='"gpu"', http='"127.0.0.1:9935"', max_price='"1500 wei / pixel"')
    text = _two(CAP.replace("1500", "1300"), other, gateway_prices='{ gate = "1400 wei / pixel" }')
    rule.quiet(text)
    # Gateway that lists it counts.
    listing = gateway(max_price='"1500 wei / pixel"', orchestrators='["orch", "dear"]')
    rule.warns(_two(listing))
    # Price for one gateway counts.
    silent(_two(CAP, gateway_prices='{ gate = "1400 wei / pixel" }'))
    rule.warns(_two(CAP, gateway_prices='{ gate = "1600 wei / pixel" }'))
    # Gateway that can pay nobody is reported instead.
    text = onchain(gateway(max_price='"1000 wei / pixel"'), orchestrator())
    rule.quiet(text)
    assert "gateway-price-admits-nobody" in printed(text)
    # Model above its cap.
    buyer = gateway(mode='"ai"', discovery='"ai-registry"', max_model_prices='{ realvis = "4500 wei / pixel" }')
    uses = {"mode": '"dual"', "models": '[{ use = "realvis", price = "5000 wei / pixel" }]'}
    seller = orchestrator(mode='"dual"', models='[{ use = "realvis" }]', ai_registry="true")
    second = orchestrator("dear", host='"edge"', wallet='"third"', http='"0.0.0.0:9000"', **uses)
    second += 'service = "edge.example.net:9000"\n'
    text = onchain(wallet(), model(), buyer, seller, f"{second}ai_registry = true\n")
    assert rule.warns(text) == snapshot
    silent(onchain(wallet(), model(), buyer, seller, second))  # in the registry that the gateway does not search
    # Model within the cap of its pipeline.
    buyer = gateway(mode='"ai"', discovery='"ai-registry"', max_price='"1 wei / pixel"')
    buyer += 'max_model_prices = { text-to-image = "4080 wei / pixel" }\n'
    silent(onchain(model(), buyer, orchestrator(mode='"dual"', ai_registry="true", models='[{ use = "realvis" }]')))
    # Price in another currency counts when it has a rate.
    rates = '[rates]\nUSD = "0.00042 ETH"\n'
    silent(_two(CAP, rates, dear='"3.49 USD / terapixel"'))
    rule.warns(_two(CAP, rates, dear='"3.6 USD / terapixel"'))


AI = {"mode": '"ai"', "secret": SECRET, "models": '[{ use = "realvis" }]'}


def test_orchestrator_price_unset(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    silent(onchain(orchestrator()))
    # Off chain nobody pays.
    silent(offchain(free_orchestrator()))
    # With a price or without a chain it is fine.
    silent(renting())
    silent(offchain(free_orchestrator(mode='"ai"', secret=SECRET, runners='["echo"]'), runner(price=None)))
    # Model without any price.
    assert rule.errs(onchain(model(price=None), orchestrator(price=None, **AI))) == snapshot
    # Price of the model or of the use or of the node is enough.
    silent(onchain(model(), orchestrator(price=None, **AI)))
    rule.quiet(onchain(model(price=None), orchestrator(**AI)))
    use = '[{ use = "realvis", price = "4000 wei / pixel" }]'
    silent(onchain(model(price=None), orchestrator(price=None, **{**AI, "models": use})))
    # Base price of zero is none for models.
    text = onchain(model(price=None), orchestrator(price='"0 wei / pixel"', **AI))
    rule.errs(text, "model realvis")
    # Remote AI work needs a base price.
    text = onchain(model(), orchestrator(price=None, host='"edge"', **AI), ai_worker())
    rule.errs(text, "others run its models")
    # Without a price on a chain.
    assert rule.errs(renting(runner(price=None), rates=False)) == snapshot


SELLING = {
    "mode": '"ai"',
    "models": '[{ use = "realvis" }]',
    "ai_registry": "true",
    "secret": SECRET,
}
LIVE = {"pipeline": '"live-video-to-video"', "id": '"noop"'}


def _image(price: str, buyer: str = "", **settings: str) -> str:
    listing = buyer or gateway(mode='"ai"', orchestrators='["orch"]')
    return onchain(model(price=f'"{price}"'), listing, orchestrator(**{**SELLING, **settings}))


def _live(price: str, buyer: str = "", **settings: str) -> str:
    listing = buyer or gateway(mode='"ai"', orchestrators='["orch"]')
    return onchain(model(price=f'"{price}"', **LIVE), listing, orchestrator(**{**SELLING, **settings}))


def test_payment_holds_too_little(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # What the help says is enough.
    rule.warns(_image("12882811 wei / pixel"), 'ticket_ev = "23 gwei"')
    silent(_image("12882811 wei / pixel", ticket_ev='"23 gwei"'))
    # The last thousandth of a wei counts.
    plain = {"auto_adjust_price": "false"}
    silent(_image("4577636 wei / pixel", **plain))  # 4800 gwei / 1048576
    rule.warns(_image("4577637 wei / pixel", **plain))
    silent(_image("4487879 wei / pixel"))  # with 2 percent for redeeming tickets
    rule.warns(_image("4487880 wei / pixel"))
    # Live video is an error at its bare price.
    assert rule.errs(_live("2894 wei / pixel")) == snapshot
    rule.warns(_live("2893 wei / pixel"))
    silent(_live("2893 wei / pixel", auto_adjust_price="false"))
    rule.warns(_live("2894 wei / pixel", gateway(mode='"ai"', discovery='"ai-registry"')))
    # Signer makes 100 tickets.
    behind = gateway(mode='"ai"', wallet=None, orchestrators='["orch"]', remote_signer='{ signer = "signer" }')
    text = _live("483 wei / pixel", behind, auto_adjust_price="false") + signer(max_price='"any"')
    assert "one payment of gate holds only 800 gwei" in rule.printed(text)
    assert 'ticket_ev = "8.1 gwei"' in rule.printed(text)
    rule.quiet(text.replace("483 wei", "482 wei"))
    # Bound of the payer is in the way.
    text = _image("30000000 wei / pixel", max_face_value='"0.003 ETH"')
    rule.warns(text, 'write ticket_ev = "54 gwei" for orch, and raise tickets.max_total_ev of gate to "33000 gwei"')
    rich = gateway(mode='"ai"', orchestrators='["orch"]', tickets='{ max_total_ev = "33000 gwei" }')
    silent(_image("30000000 wei / pixel", rich, ticket_ev='"54 gwei"'))
    # Other pipelines have no common size.
    silent(_image("12882811 wei / pixel").replace("text-to-image", "audio-to-text"))
    # Both problems are said at once where the cap is too low as well.
    low = gateway(mode='"ai"', orchestrators='["orch"]', max_price='"1500 wei / pixel"')
    text = _image("12882811 wei / pixel", low)
    rule.warns(text, 'ticket_ev = "23 gwei"')
    assert flagged(text, "gateway-price-admits-nobody")
    rule.warns(_live("2894 wei / pixel", low))  # nothing is bought, so nothing is certain
    # A payer with default settings stands where nobody asks.
    image = onchain(model(price='"12882811 wei / pixel"'), orchestrator(**SELLING))
    rule.warns(
        image, "but one payment of a gateway with default settings holds only 4800 gwei", 'ticket_ev = "23 gwei"'
    )
    silent(image.replace("[orchestrators.orch]", '[orchestrators.orch]\nticket_ev = "23 gwei"'))
    live = onchain(
        model(price='"483 wei / pixel"', **LIVE),
        orchestrator(**SELLING, auto_adjust_price="false"),
    )
    assert "but one payment of a signer with default settings holds only 800 gwei" in rule.printed(live)
    silent(live.replace("483 wei", "482 wei"))
    # No help proposes what a payer with default settings refuses.
    dear = onchain(model(price='"30000000 wei / pixel"'), orchestrator(**SELLING))
    rule.warns(dear, "no ticket_ev that payers with default settings accept is enough")


def test_price_currency_unknown(rule: OneRule) -> None:
    silent(onchain(orchestrator(price='"0.41 USD / terapixel"')))
    feed = '"0x4444444444444444444444444444444444444444"'
    silent(onchain(orchestrator(price='"0.38 EUR / terapixel"', price_feed=feed)))
    silent(onchain(gateway(max_price='"0.38 EUR / terapixel"', price_feed=feed)))
    # Dollars elsewhere have no feed.
    chain = {"network": '"mainnet"'}
    assert "on this network" in rule.printed(onchain(orchestrator(price='"0.41 USD / terapixel"'), **chain))
    # Caps and models have currencies too.
    rule.errs(onchain(gateway(max_price='"1 EUR / terapixel"')))
    caps = '{ llm = "1 EUR / terapixel" }'
    rule.errs(onchain(gateway(mode='"ai"', discovery='"ai-registry"', max_model_prices=caps)))
    seller = orchestrator(mode='"dual"', models='[{ use = "realvis" }]')
    assert "models.realvis" not in rule.errs(onchain(model(price='"1 EUR / terapixel"'), seller))
    # Cap of a signer has a currency too.
    assert "remote_signers" not in rule.printed(onchain(signer(max_price='"0.41 USD / terapixel"')))
    rule.errs(onchain(signer(max_price='"1 EUR / terapixel"')), "the node of signer")


def test_price_out_of_range(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Largest price is fine.
    silent(onchain(orchestrator(price='"9223372036854775 wei / pixel"')))
    rule.errs(onchain(orchestrator(price='"9223372036854776 wei / pixel"')))
    # Without adjustment the fraction has to fit.
    exact = {"auto_adjust_price": "false"}
    silent(onchain(orchestrator(price='"9223372036854775807 wei / pixel"', **exact)))
    rule.errs(onchain(orchestrator(price='"9223372036854775808 wei / pixel"', **exact)))
    rule.errs(onchain(orchestrator(price='"1.00000000000000000001 wei / pixel"', **exact)), "fewer digits")
    # Other currencies are reckoned by their rate.
    price = orchestrator(price='"10000 USD / pixel"')
    silent(onchain(price))
    rule.errs(onchain(price, '[rates]\nUSD = "0.00042 ETH"\n'))
    # Less than a thousandth of a wei.
    assert rule.warns(onchain(orchestrator(price='"990 wei / megapixel"'))) == snapshot
    # A thousandth of a wei is fine.
    silent(onchain(orchestrator(price='"991 wei / megapixel"')))
    silent(onchain(orchestrator(price='"990 wei / megapixel"', auto_adjust_price="false")))
    # Off chain prices have no meaning.
    rule.quiet(offchain(free_orchestrator(price='"1 wei / megapixel"')))
    # Other currencies are not known without a rate.
    price = orchestrator(price='"0.000002 USD / terapixel"')
    silent(onchain(price))
    rates = '[rates]\nUSD = "{} wei"\n'
    silent(onchain(price, rates.format(495_049_504_950_496)))
    rule.warns(onchain(price, rates.format(495_049_504_950_495)))
    # Models and single gateways have prices too.
    seller = orchestrator(mode='"dual"', models='[{ use = "realvis" }]')
    assert "models.realvis" not in printed(onchain(model(), seller))
    rule.warns(onchain(model(price='"1 wei / megapixel"'), seller))
    special = '{ "0x1111111111111111111111111111111111111111" = "1 wei / megapixel" }'
    rule.warns(onchain(orchestrator(gateway_prices=special)))


IN_DOLLARS = '"0.41 USD / terapixel"'


def test_rate_missing(rule: OneRule) -> None:
    # A price in dollars and a cap in wei.
    text = onchain(gateway(max_price='"1500 wei / pixel"', discovery='"registry"'), orchestrator(price=IN_DOLLARS))
    rule.warns(text)
    silent(
        onchain(
            '[rates]\nUSD = "0.00042 ETH"\n',
            gateway(max_price='"1500 wei / pixel"'),
            orchestrator(price=IN_DOLLARS),
        )
    )
    # A cap in dollars and a price in wei.
    rule.warns(onchain(gateway(max_price=IN_DOLLARS), orchestrator()))
    # One currency needs no rate.
    silent(onchain(gateway(max_price='"0.42 USD / terapixel"'), orchestrator(price=IN_DOLLARS)))
    silent(onchain(gateway(), orchestrator(price=IN_DOLLARS)))


RATES = '[rates]\nUSD = "0.00042 ETH"\n'


def test_rate_unused(rule: OneRule) -> None:
    # Rate of a price or a cap is fine.
    silent(onchain(RATES, orchestrator(price='"0.41 USD / terapixel"')))
    silent(onchain(RATES, gateway(max_price='"0.41 USD / terapixel"')))
    silent(onchain(RATES, gateway(max_model_prices='{ upscale = "0.41 USD / terapixel" }')))
    # Off chain no rate counts.
    rule.warns(offchain(RATES), "off-chain prices have no effect")
    # Ether has no rate and a rate is not zero.
    assert "is not a currency that can have a rate" in printed(onchain(RATES.replace("USD", "ETH")))
    assert "a currency cannot be worth zero" in printed(onchain(RATES.replace("0.00042", "0")))


def _backed_by(reserve: str, *tables: str, **fleet: str) -> str:
    return onchain(*(tables or (LISTED, orchestrator())), **fleet).replace(
        'reserve = "0.3 ETH"', f'reserve = "{reserve}"'
    )


def test_reserve_backs_no_ticket(rule: OneRule) -> None:
    # What the help says is enough and the last wei counts.
    rule.warns(_backed_by("0.005 ETH"), '"0.0061 ETH"')
    silent(_backed_by("0.0061 ETH"))
    at_cost = _backed_by("0.006 ETH")  # 100 x the 0.00006 ETH of redeeming at 0.05 gwei
    rule.quiet(at_cost)
    assert "tickets-not-redeemed" in printed(at_cost)
    rule.warns(_backed_by("0.0059999999999999 ETH"))
    # Gas price and lowest gas price count.
    silent(_backed_by("0.005 ETH", gas_price='"0.04 gwei"'))
    rule.warns(_backed_by("0.3 ETH", gas_price='"2.6 gwei"'))
    dear = orchestrator(min_gas_price='"2.6 gwei"')
    rule.warns(_backed_by("0.3 ETH", LISTED, dear), "0.32 ETH")
    # Reserve below one ticket is an error whatever the chain does.
    rich = orchestrator(ticket_ev='"100 gwei"')
    rule.errs(_backed_by("100 gwei", LISTED, rich))
    rule.warns(_backed_by("100 gwei", gateway(), rich))
    rule.errs(_backed_by("1199 gwei"))  # redeeming at 0.001 gwei, were there one orchestrator alone
    rule.warns(_backed_by("1200 gwei"))
    # Reserve of a signer counts.
    behind = gateway(wallet=None, max_price=None, mode='"ai"', orchestrators='["orch"]')
    behind += 'remote_signer = { signer = "signer" }\n'
    live = model(pipeline='"live-video-to-video"', id='"scope"')
    seller = orchestrator(mode='"ai"', gpus="[0]", models='[{ use = "realvis" }]')
    text = _backed_by("0.005 ETH", live, behind, signer(max_price='"any"'), seller)
    assert "wallet payer" in rule.printed(text)
    # No tickets no warning.
    rule.quiet(_backed_by("0.005 ETH", LISTED, orchestrator(price='"0 wei / pixel"')))
    blocked = gateway(selection='{ blocked = ["0x2222222222222222222222222222222222222222"] }')
    rule.warns(
        _backed_by("0.005 ETH", blocked, orchestrator()), "ticket of an orchestrator with default settings"
    )  # nobody here sells to it, but it may find others


def _live_for(price: str, ticket_ev: str | None = None, **settings: str | None) -> str:
    selling = {"mode": '"ai"', "models": '[{ use = "realvis" }]', "gpus": "[0]", "secret": SECRET, **settings}
    priced = model(price=f'"{price} wei / pixel"', pipeline='"live-video-to-video"', id='"noop"')
    return onchain(priced, orchestrator(ticket_ev=ticket_ev and f'"{ticket_ev}"', **selling))


def test_ticket_pays_far_ahead(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # A session that is paid twice an hour.
    found = rule.warns(renting(runner(), ticket_ev='"2000 gwei"'))
    assert found == snapshot
    silent(renting(runner(), ticket_ev='"56 gwei"'))  # as the help says
    # 0.10 USD an hour are 11111111111 wei a second.
    silent(renting(runner(), ticket_ev='"666666666660 wei"'))
    rule.warns(renting(runner(), ticket_ev='"666666666661 wei"'))
    # Live video counts also without a payer in the spec.
    plain = {"auto_adjust_price": "false"}
    silent(_live_for("4.83", **plain))  # 60 s of it cost 8012390400 wei, and a ticket is worth 8 gwei by default
    rule.warns(_live_for("4.7", **plain), "pays for 1m1s of live AI video")
    # What the help says brings nothing new.
    for price, ticket_ev in [("0.001", None), ("4.7", None), ("1", "2 gwei"), ("99", "2900 gwei")]:
        advice = rule.warns(_live_for(price, ticket_ev)).rpartition("help")[2]
        silent(_live_for(price, advice.partition('ticket_ev = "')[2].partition('"')[0]))
    # A cheap and a dear one: a ticket for the cheap one alone is too small for the dear one.
    cheap, dear = runner(price='"0.01 USD / hour"'), runner("dear", port="8990", price='"1 USD / hour"')
    found = rule.printed(renting(cheap, dear, runners='["echo", "dear"]', ticket_ev='"100 gwei"'))
    assert 'write ticket_ev = "12 gwei" for orch' in found
    assert printed(renting(cheap, dear, runners='["echo", "dear"]', ticket_ev='"12 gwei"')) == "no problems\n"
    dear = runner("dear", port="8990", price='"10 USD / hour"')
    found = rule.printed(renting(cheap, dear, runners='["echo", "dear"]', ticket_ev='"100 gwei"'))
    assert "no ticket_ev suits all that orch sells" in found
    # Single requests have no rhythm.
    silent(renting(runner(price='"0.001 USD / request"'), ticket_ev='"2000 gwei"'))


def _worth(value: str, buyer: str = LISTED) -> str:
    return onchain(buyer, orchestrator(ticket_ev=f'"{value}"'))


def test_ticket_value_above_limit(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Value that equals the bound is refused by rounding.
    rule.errs(_worth("3000 gwei"))
    silent(_worth("2999.999999999 gwei"))
    # Bound of one ticket and of a payment.
    strict = gateway(orchestrators='["orch"]', tickets='{ max_ev = "100 gwei" }')
    assert rule.errs(_worth("101 gwei", strict)) == snapshot
    silent(_worth("99 gwei", strict))
    whole = gateway(orchestrators='["orch"]', tickets='{ max_total_ev = "100 gwei" }')
    rule.errs(_worth("100 gwei", whole), "allows for a payment")
    silent(_worth("99 gwei", whole))
    # Bounds of zero refuse every ticket.
    nothing = gateway(orchestrators='["orch"]', tickets='{ max_ev = "0 wei" }')
    rule.errs(_worth("8 gwei", nothing), 'raise tickets.max_ev of gate to "8.800000001 gwei"')
    # Gateway that searches may find others.
    rule.warns(_worth("3000 gwei", gateway()))
    # A payer with default settings stands where nobody asks.
    assert rule.warns(_worth("0.01 ETH", "")) == snapshot
    rule.warns(_worth("3000 gwei", ""))
    silent(_worth("2700 gwei", ""))  # as the help says
    silent(_worth("2999 gwei", ""))
    # A payer of the fleet that takes the ticket speaks for itself.
    raised = gateway(orchestrators='["orch"]', tickets='{ max_ev = "3300.000000001 gwei" }')
    silent(_worth("3000 gwei", raised))
    blocking = gateway(selection='{ blocked = ["0x2222222222222222222222222222222222222222"] }')
    rule.warns(_worth("3000 gwei", blocking), "a payer with default settings allows")
    listing = gateway(orchestrators='["https://203.0.113.99:8935"]')
    rule.warns(_worth("3000 gwei", listing), "a payer with default settings allows")
    # An orchestrator with default settings stands where a payer may find others.
    strict = '{ max_ev = "8 gwei" }'
    rule.warns(
        onchain(gateway(discovery='"registry"', tickets=strict)),
        "a ticket of an orchestrator with default settings is worth 8 gwei",
        'raise tickets.max_ev of gate to "8.800000001 gwei"',
    )
    silent(onchain(gateway(discovery='"registry"', tickets='{ max_ev = "8.800000001 gwei" }')))
    silent(onchain(gateway(orchestrators='["orch"]', tickets=strict), orchestrator(ticket_ev='"7 gwei"')))


def test_ticket_value_zero() -> None:
    # The default and one gwei are fine.
    silent(onchain(gateway(), orchestrator()))
    silent(onchain(gateway(), orchestrator(ticket_ev='"1 gwei"')))


def _reserve(reserve: str, gas: str = "5 gwei", **settings: str) -> str:
    text = onchain(gateway(orchestrators='["orch"]'), orchestrator(**settings), gas_price=f'"{gas}"')
    return text.replace('reserve = "0.3 ETH"', f'reserve = "{reserve}"')


def test_tickets_not_redeemed(rule: OneRule) -> None:
    # What the help says is enough and the cost itself is not.
    rule.warns(_reserve("0.6 ETH"), '"0.61 ETH"')
    silent(_reserve("0.61 ETH"))
    silent(_reserve("0.6000000000000001 ETH"))
    # Reserve that backs no ticket is reported instead.
    rule.quiet(_reserve("0.3 ETH"))
    assert "reserve-backs-no-ticket" in printed(_reserve("0.3 ETH"))
    # Low face value is reported instead.
    low = _reserve("1 ETH", max_face_value='"0.004 ETH"')
    rule.quiet(low)
    assert "max-face-value-too-low" in printed(low)


def test_zero_price(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    silent(onchain(orchestrator()))
    # Silence with a reason is heard.
    silence = '[silences.accepted]\ncode = "zero-price"\nreason = "a test network of ours"\n'
    silent(onchain(orchestrator(price='"0 wei / pixel"'), silence))
    # Model at zero is sold at the base price.
    seller = orchestrator(mode='"dual"', models='[{ use = "realvis" }]')
    text = onchain(model(price='"0 wei / pixel"'), seller)
    assert rule.warns(text) == snapshot
    # Model at zero without a base price is free.
    seller = orchestrator(mode='"ai"', price=None, secret=SECRET, models='[{ use = "realvis" }]')
    text = onchain(model(price='"0 wei / pixel"'), seller)
    rule.warns(text, "works for nothing")
    # Base price of zero is fine where each model has its own.
    seller = orchestrator(mode='"ai"', price='"0 wei / pixel"', secret=SECRET, models='[{ use = "realvis" }]')
    silent(onchain(model(price='"5 wei / pixel"'), seller))
    two = seller.replace('[{ use = "realvis" }]', '[{ use = "realvis" }, { use = "other" }]')
    text = onchain(model(price='"5 wei / pixel"'), two, '[models.other]\npipeline = "llm"\nid = "a/b"\n')
    rule.warns(text, "works for nothing")
    # Base price of zero is fine where AI workers run only models with a price.
    seller = orchestrator(mode='"ai"', price='"0 wei / pixel"', secret=SECRET, models='[{ use = "realvis" }]')
    more = (model(price='"5 wei / pixel"'), '[models.other]\npipeline = "llm"\nid = "a/b"\n')
    worker = ai_worker(host='"gpu"', gpus="[0]", models='[{ use = "realvis" }]')
    rule.quiet(onchain(*more, seller, worker))
    both = worker.replace('[{ use = "realvis" }]', '[{ use = "realvis" }, { use = "other" }]')
    rule.warns(onchain(*more, seller, both), "works for nothing")
