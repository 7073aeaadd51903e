"""Gateways behind a remote signer: what they are started with, who pays for them, and whose caps count."""

from __future__ import annotations

import pytest

from fleetc.analysis.acceptance import BUYS, NOT_ASKED, TOO_EXPENSIVE, UNKNOWN, VIDEO
from fleetc.analysis.discovery import BLOCKED
from fleetc.analysis.economics import market_of, matrix
from fleetc.analysis.funds import funds
from fleetc.lower.market import lower_market
from fleetc.places.diagnostic import Severity
from tests import node
from tests.lower.test_lowering import content, flags, fleet, plan, refused, service, settings
from tests.review.support import review
from tests.rules.support import (
    flagged,
    gateway,
    model,
    offchain,
    onchain,
    orchestrator,
    printed,
    signer,
    silent,
)
from tests.support import files_of

CHAIN_FLAGS = {
    "ethUrl",
    "ethAcctAddr",
    "ethKeystorePath",
    "ethPassword",
    "ethController",
    "reward",
    "aiServiceRegistry",
}
PRICE_FLAGS = {"maxPricePerUnit", "pixelsPerUnit", "maxPricePerCapability", "maxTicketEV", "maxTotalEV"}
LIVE = model(pipeline='"live-video-to-video"', id='"scope"', price='"900 wei / pixel"')
SELLER = orchestrator(mode='"ai"', models='[{ use = "realvis" }]')
GOODS = ("live-video-to-video", "scope")


def behind(name: str = "gate", /, **more: str | None) -> str:
    """A gateway for AI behind the signer of the fleet, without a list of orchestrators."""
    base = {"mode": '"ai"', "wallet": None, "max_price": None, "remote_signer": '{ signer = "signer" }'}
    return gateway(name, **{**base, **more})


def elsewhere(**more: str | None) -> str:
    """A gateway for AI behind a signer that the fleet knows by its address alone."""
    return behind(**{"remote_signer": '{ url = "http://signer.example.net:8935" }', **more})


def finding(**more: str | None) -> str:
    """A signer that also finds orchestrators."""
    return signer(**{"remote_discovery": "true", "http": '"127.0.0.1:9000"', **more})


@pytest.mark.parametrize(
    "text",
    [
        onchain(behind(), finding()),
        onchain(elsewhere()),
        onchain(elsewhere(orchestrators='["a.example.net:8935"]')),
        onchain(elsewhere(discovery='{ webhook = "https://hook.example.net/orchestrators" }')),
        offchain(elsewhere()),
    ],
)
def test_gateway_behind_a_signer_starts_off_chain_whatever_the_network_is(text: str) -> None:
    silent(text)
    found = service(text, "gate")
    started = set(flags(found)) | {secret.name for secret in found.secrets}
    assert flags(found).get("network", "offchain") == "offchain"
    assert not started & (CHAIN_FLAGS | PRICE_FLAGS | {"LP_ETHURL", "LP_ETHPASSWORD"})
    assert not [mount.path for mount in found.mounts if "keystore" in mount.path]
    assert found.files == ()
    assert node.broken_rules(settings(found)) == ()
    assert node.notes(settings(found)) == ()


def test_fleet_whose_gateways_are_all_behind_a_signer_needs_no_rpc() -> None:
    silent(onchain(elsewhere(), rpc=None))


def test_signer_keeps_the_chain_the_wallet_and_the_caps() -> None:
    text = onchain(behind(), finding(max_price='"1000 wei / pixel"', tickets='{ max_ev = "3000 gwei" }'))
    silent(text)
    started = flags(service(text, "signer"))
    assert started["network"] == "arbitrum-one-mainnet"
    assert started["maxPricePerUnit"] == "1000"
    assert started["maxTicketEV"] == "3000000000000"
    assert started["ethAcctAddr"] == "0x1111111111111111111111111111111111111111"


# What belongs to the signer

ONLY_ON_A_CHAIN = {
    "wallet": '"payer"',
    "max_price": '"1000 wei / pixel"',
    "max_model_prices": '{ realvis = "900 wei / pixel" }',
    "price_feed": '"0x3333333333333333333333333333333333333333"',
    "tickets": '{ max_ev = "3000 gwei" }',
    "ignore_max_price_if_needed": "true",
    "block_polling_interval": '"20 s"',
    "transaction_timeout": '"5 min"',
    "max_transaction_replacements": "2",
    "gas_limit": "1000000",
    "min_gas_price": '"1 gwei"',
    "max_gas_price": '"5 gwei"',
    "initialize_round": "true",
    "initialize_round_max_delay": '"30 s"',
    "live": '{ report_interval = "10 min" }',
    "selection": '{ random = "0.3", stake = "0.3", price = "0.4" }',
}


@pytest.mark.parametrize("key", ONLY_ON_A_CHAIN)
def test_setting_that_counts_on_a_chain_alone_is_refused(key: str) -> None:
    text = onchain(LIVE, SELLER, behind(**{key: ONLY_ON_A_CHAIN[key]}), finding())
    assert key in flagged(text, "setting-belongs-to-signer")


def test_setting_is_said_once_in_a_fleet_without_a_chain() -> None:
    text = offchain(elsewhere(max_price='"1000 wei / pixel"'))
    assert "max_price" in flagged(text, "setting-belongs-to-signer")
    assert "ignored-offchain" not in printed(text)


def test_cap_of_a_signer_is_missed_where_it_was_missed_on_gateways() -> None:
    assert "signer signer pays any price" in flagged(onchain(signer(max_price=None)), "gateway-price-unset")
    assert "gateway-price-unset" not in printed(onchain(behind(), finding()))


# Who finds orchestrators


def test_signer_that_finds_nobody_is_no_way_to_find_orchestrators() -> None:
    found = flagged(onchain(behind(), signer()), "gateway-without-orchestrators")
    assert "remote_discovery = true" in found


def test_registry_is_out_of_reach_behind_a_signer() -> None:
    text = onchain(behind(discovery='"registry"'), finding())
    assert "registry" in flagged(text, "gateway-without-orchestrators")
    assert flagged(onchain(elsewhere(discovery='"ai-registry"')), "gateway-without-orchestrators")


def test_signer_may_look_in_the_ai_registry() -> None:
    text = onchain(behind(), finding(discovery='"ai-registry"'))
    silent(text)
    assert flags(service(text, "signer"))["aiServiceRegistry"] == "true"


def test_gateway_that_asks_its_signer_is_an_edge() -> None:
    assert ("gate", "signer", "finds") in plan(onchain(behind(), finding())).edges
    assert ("gate", "signer elsewhere", "finds") in plan(onchain(elsewhere())).edges
    listed = plan(onchain(elsewhere(orchestrators='["a.example.net:8935"]'))).edges
    assert [edge.kind for edge in listed] == ["outside", "signs"]


def test_whole_tree_says_who_finds_and_signs() -> None:
    page = files_of(onchain(LIVE, SELLER, behind(), finding(max_price='"1000 wei / pixel"')))["FLEET.md"]
    assert "finds" in page and "has tickets signed by" in page


@pytest.mark.parametrize("url", ["http://signer.example.net/base", "http://signer.example.net:8935/?key=1"])
def test_address_of_a_signer_has_no_path(url: str) -> None:
    assert "the node drops" in refused(onchain(behind(remote_signer=f'{{ url = "{url}" }}')))


# What it pays for


def test_video_behind_a_signer_is_not_paid_for() -> None:
    for mode in ("video", "dual"):
        text = onchain(elsewhere(mode=f'"{mode}"', orchestrators='["a.example.net:8935"]'))
        found = flagged(text, "signer-pays-live-ai-only", Severity.WARNING)
        assert "gate" in found and "video" in found
    silent(onchain(elsewhere(orchestrators='["a.example.net:8935"]')))


def test_caps_of_the_signer_decide_what_its_gateways_buy() -> None:
    for cap, outcome in (("1000", BUYS), ("800", TOO_EXPENSIVE)):
        dear = fleet(onchain(LIVE, SELLER, behind(), finding(max_price=f'"{cap} wei / pixel"')))
        found = market_of(dear).cell("gate", "orch", GOODS)
        assert found.decision.outcome == outcome
        assert found.cap is not None and found.cap.path[:2] == ("remote_signers", "signer")


def test_cap_of_the_signer_that_admits_nobody_is_told_at_its_place() -> None:
    text = onchain(LIVE, SELLER, behind(), finding(max_model_prices='{ realvis = "800 wei / pixel" }'))
    found = flagged(text, "gateway-price-admits-nobody", Severity.WARNING)
    assert "signer signer pays at most 800 wei / pixel for gateway gate" in found
    assert "[remote_signers.signer]" not in found and "max_model_prices" in found


def test_what_a_signer_elsewhere_pays_is_not_known() -> None:
    unknown = fleet(onchain(LIVE, SELLER, elsewhere()))
    assert market_of(unknown).cell("gate", "orch", GOODS).decision.outcome == UNKNOWN
    (row,) = lower_market(unknown).rows
    assert row.outcome.startswith("unknown") and "signer" in row.outcome
    assert "any price" not in row.pays
    (summary,) = matrix(unknown).summaries
    assert (summary.offers, summary.within, summary.above) == (1, 0, 0)
    assert "nobody-pays" not in printed(onchain(LIVE, SELLER, elsewhere()))


def test_only_live_video_is_bought_behind_a_signer() -> None:
    other = model("still", price='"900 wei / pixel"')
    both = orchestrator(mode='"dual"', models='[{ use = "realvis" }, { use = "still" }]')
    found = market_of(fleet(onchain(LIVE, other, both, behind(mode='"dual"'), finding())))
    assert {goods for goods, _ in found.purchases("gate")} == {GOODS}
    assert found.cell("gate", "orch", VIDEO).decision.outcome == NOT_ASKED


def test_list_and_blocked_accounts_of_the_signer_are_those_of_its_gateways() -> None:
    two = [orchestrator("other", host='"edge"', wallet='"payer"', mode='"ai"', models='[{ use = "realvis" }]'), SELLER]
    listed = market_of(fleet(onchain(LIVE, *two, behind(), finding(orchestrators='["orch"]'))))
    assert listed.searches["gate"].listed == ("orch",)
    assert listed.searches["gate"].closed
    blocking = finding(selection='{ blocked = ["0x2222222222222222222222222222222222222222"] }')
    blocked = market_of(fleet(onchain(LIVE, *two, behind(), blocking)))
    assert blocked.searches["gate"].dropped == {"orch": BLOCKED}


def test_price_for_a_gateway_is_the_price_for_the_account_of_its_signer() -> None:
    special = orchestrator(price='"1200 wei / pixel"', gateway_prices='{ gate = "700 wei / pixel" }')
    text = onchain(special, behind(mode='"dual"', orchestrators='["orch"]'), signer())
    entries = content(service(text, "orch"), "prices.json")["gateways"]
    assert [entry["ethaddress"] for entry in entries] == ["0x1111111111111111111111111111111111111111"]
    unknown = onchain(special, elsewhere(orchestrators='["orch"]'))
    assert "account" in refused(unknown)


def test_load_of_the_gateways_costs_the_signer() -> None:
    loads = (
        behind(expected_load='"1000000 pixels / s"'),
        behind(
            "two",
            http='"127.0.0.1:9001"',
            rtmp='"127.0.0.1:1936"',
            cli='"127.0.0.1:5936"',
            expected_load='"500000 pixels / s"',
        ),
    )
    (row,) = funds(fleet(onchain(*loads, finding(max_price='"1000 wei / pixel"'))))
    assert (row.node, row.wallet) == ("signer", "payer")
    assert row.cost == 1_500_000 * 1000 * 3600
    assert row.load is not None and row.load.pixels == 1_500_000


def test_review_tells_what_a_lower_cap_of_the_signer_costs_its_gateway() -> None:
    before, after = (onchain(LIVE, SELLER, behind(), finding(max_price=f'"{cap} wei / pixel"')) for cap in (1000, 800))
    (change,) = review(before, after).changes
    told = [effect.text for effect in change.effects if effect.impact == "price"]
    assert [target.node for target in change.targets] == ["signer"]
    assert any("800 wei / pixel instead of 1000 wei / pixel" in text for text in told)
    assert any("scope can no longer be bought" in text and "gate" in text for text in told)


# Kafka

KAFKA = '{ broker = "kafka.example.net:9092", topic = "events" }'


def test_signer_publishes_its_tickets() -> None:
    text = onchain(signer(kafka=KAFKA, monitor="true"))
    started = flags(service(text, "signer"))
    assert started["kafkaBootstrapServers"] == "kafka.example.net:9092"
    assert started["kafkaGatewayTopic"] == "events"


# What a gateway asks its signer for when it starts


def payers(wallet: str) -> str:
    """A gateway behind a signer that signs for one of two wallets."""
    other = '[wallets.other]\naddress = "0x3333333333333333333333333333333333333333"\nkeystore = "/var/lib/keys"\n'
    other += 'password = { env = "OTHER" }\nreward_by = "none"\nminimum_balance = "0.05 ETH"\n'
    return onchain(behind(), finding(wallet=f'"{wallet}"'), other + 'deposit = "1 ETH"\nreserve = "1 ETH"\n')


def test_gateway_restarts_when_its_signer_signs_for_another_account() -> None:
    """The node asks for the account once; none of its own flags says it."""
    before, after = payers("payer"), payers("other")
    for text in (before, after):
        silent(text)
    assert flags(service(before, "gate")) == flags(service(after, "gate"))
    told = review(before, after)
    (change,) = [one for one in told.changes if any(target.node == "gate" for target in one.targets)]
    assert change.what == "the account of its signer"
    assert any("gate" in effect.text and effect.impact == "restart" for effect in change.effects)


def test_gateway_without_a_key_has_none_in_its_tree() -> None:
    """No keystore, no password and no account to unlock: the account of its signer is a comment alone."""
    own = {path: file for path, file in files_of(onchain(behind(), finding())).items() if "/gate/" in path}
    assert len(own) >= 3
    lines = [line for text in own.values() for line in text.splitlines() if not line.startswith("#")]
    assert not [line for line in lines if "keystore" in line.lower() or "ethPassword" in line or "0x1111" in line]


# A cap for live runners


@pytest.mark.parametrize("price", ["0.10 USD / hour", "0.10 USD / 720p hour", "0.0001 ETH / request"])
def test_price_of_a_runner_as_a_cap_is_told_what_to_write(price: str) -> None:
    found = refused(onchain(signer(max_price=f'"{price}"')))
    assert "this is the price of a live runner" in found
    assert "--explain-prices" in found and "as wei / pixel" in found
