"""Who buys what from whom: against a second, plain account of the node, and against the files that it would read."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from fleetc.analysis.acceptance import (
    BUYS,
    NOT_ASKED,
    NOT_OFFERED,
    REFUSED,
    TOO_EXPENSIVE,
    UNKNOWN,
    VIDEO,
    Goods,
    terms_of,
)
from fleetc.analysis.discovery import UNSURE
from fleetc.analysis.economics import CELL_GATEWAYS, CELL_OFFERS, Market, matrix
from fleetc.analysis.funds import funds
from fleetc.analysis.payers import Payers
from fleetc.analysis.payments import meetings, unasked
from fleetc.emit.artifacts import json_document
from fleetc.language.fleet import Fleet
from fleetc.language.quantities import QuantityError, Throughput, parse_throughput
from fleetc.language.spec import read_fleet
from fleetc.lower import lower
from fleetc.lower.market import lower_market
from fleetc.lower.market_words import hours_text, number_text
from fleetc.messages.market import as_text
from fleetc.toml.document import Source, read_document
from tests.analysis import economics_oracle as oracle
from tests.rules import support
from tests.support import fleetc

Chance = random.Random
PIPELINES = ("text-to-image", "upscale", "llm")
NUMBERS = ("0", "1", "2", "3", "999", "1000", "1200", "1200.0005", "1200.001", "0.0004", "0.001", "41", "7")
UNITS = ("wei", "wei", "wei", "gwei", "ETH", "USD", "USD", "EUR")
RESERVES = (*("0.3 ETH", "1 ETH", "5 ETH", "0.03 ETH") * 2, "0.01 ETH", "0 wei")
DEPOSITS = (*("0.5 ETH", "1 ETH", "2 ETH") * 2, "0.001 ETH", "0.00001 ETH")
GAS_PRICES = ("1 wei", "0.01 gwei", "0.02 gwei", "0.1 gwei", "5 gwei")
PER = ("pixel", "pixel", "3 pixels", "7 pixels", "1000 pixels", "megapixel", "terapixel")


def fleet_of(spec: dict[str, Any]) -> Fleet:
    """The typed fleet of plain TOML values."""
    document, problems = read_document([Source("fleet.toml", tomli_w.dumps(spec))])
    assert document is not None, problems
    fleet, problems = read_fleet(document)
    assert fleet is not None, problems
    return fleet


def price(chance: Chance, zero: bool = True) -> str:
    numbers = NUMBERS if zero else NUMBERS[1:]
    unit = chance.choice(UNITS)
    per = chance.choice(PER) if unit == "wei" else "terapixel" if chance.random() < 0.7 else chance.choice(PER)
    return f"{chance.choice(numbers)} {unit} / {per}"


def address(number: int) -> str:
    return f"0x{number:040x}"


def some(chance: Chance, names: list[str], most: int) -> list[str]:
    return chance.sample(names, min(len(names), chance.randrange(most + 1)))


def random_spec(seed: int) -> dict[str, Any]:
    """A fleet on a chain of 5 gateways, 5 orchestrators and 4 models, two of which are the same goods."""
    chance = Chance(seed)
    wallets: dict[str, dict[str, Any]] = {
        f"w{n}": {"address": address(n + 1), "keystore": "/k", "password": {"env": "P"}} for n in range(6)
    }
    models = {
        f"m{n}": {"pipeline": chance.choice(PIPELINES), "id": f"org/model-{min(n, 2)}"} for n in range(4)
    }  # fmt: skip
    models["m3"]["pipeline"] = models["m2"]["pipeline"]
    for entry in models.values():
        if chance.random() < 0.6:
            entry["price"] = price(chance)
    for wallet in wallets.values():
        for key, amounts in (("reserve", RESERVES), ("deposit", DEPOSITS)):
            if chance.random() < 0.93:
                wallet[key] = chance.choice(amounts)
    spec: dict[str, Any] = {
        "spec": 1,
        "fleet": {"name": "f", "network": "arbitrum-one-mainnet", "rpc": {"env": "R"}, "node_release": "v0.9.1"},
        "hosts": {"h": {"address": "203.0.113.1", "public": "h.example.net", "runtime": "systemd"}},
        "wallets": wallets, "models": models, "gateways": {}, "orchestrators": {}, "ai_workers": {},
    }  # fmt: skip
    if chance.random() < 0.5:
        spec["fleet"]["gas_price"] = chance.choice(GAS_PRICES)
    if chance.random() < 0.5:
        spec["rates"] = {c: r for c, r in (("USD", "0.00042 ETH"), ("EUR", "457 gwei")) if chance.random() < 0.7}
    sellers = [f"o{n}" for n in range(5)]
    for name in sellers:
        spec["orchestrators"][name] = _seller(chance, list(models))
        if spec["orchestrators"][name]["mode"] != "video" and chance.random() < 0.3:
            uses = [{"use": use} for use in some(chance, list(models), 2) or ["m0"]]
            spec["ai_workers"][f"a-{name}"] = {"host": "h", "orchestrator": name, "models": uses}
    for index in range(5):
        spec["gateways"][f"g{index}"] = _buyer(chance, list(models), sellers)
    paying = [name for name, gateway in spec["gateways"].items() if "wallet" in gateway]
    for name in sellers:
        keys = [*paying, *(address(n + 1) for n in range(3))]
        spec["orchestrators"][name]["gateway_prices"] = {key: price(chance) for key in some(chance, keys, 2)}
        for use in spec["orchestrators"][name]["models"]:
            use["gateway_prices"] = {key: price(chance) for key in some(chance, keys, 1)}
    return spec


def _seller(chance: Chance, models: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "host": "h", "wallet": f"w{chance.randrange(3, 6)}", "mode": chance.choice(("video", "ai", "dual")),
        "models": [{"use": use} for use in some(chance, models, 4)],
    }  # fmt: skip
    for use in found["models"]:
        if chance.random() < 0.4:
            use["price"] = price(chance)
    if chance.random() < 0.8:
        found["price"] = price(chance)
    if chance.random() < 0.3:
        found["ai_registry"] = chance.random() < 0.5
    if chance.random() < 0.5:
        found["auto_adjust_price"] = chance.random() < 0.5
    for key, amounts in (
        ("ticket_ev", ("3000 gwei", "9 gwei", "100 gwei", "2999 gwei", "0.001 ETH")),
        ("max_face_value", ("0.001 ETH", "0.00001 ETH", "3000 gwei")),
        ("min_gas_price", ("0.03 gwei", "2 gwei")),
    ):
        if chance.random() < 0.06:
            found[key] = chance.choice(amounts)
    if chance.random() < 0.2:
        found["orchestrator_address"] = address(chance.randrange(100, 103))
    if chance.random() < 0.15:
        found["node_release"] = chance.choice(("v0.8.9", "v0.9.0"))
    if chance.random() < 0.3:
        found["service"] = f"h.example.net:{chance.randrange(8935, 8938)}"
    if chance.random() < 0.2:
        found["instances"] = [f"https://h.example.net:{port}" for port in chance.sample(range(8935, 8939), 2)]
    return found


def _buyer(chance: Chance, models: list[str], sellers: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {"host": "h", "mode": chance.choice(("video", "ai", "dual"))}
    if chance.random() < 0.8:
        found["wallet"] = f"w{chance.randrange(3)}"
    found["max_price"] = "any" if chance.random() < 0.1 else price(chance, zero=False)
    found["max_model_prices"] = {key: price(chance, zero=False) for key in some(chance, [*models, *PIPELINES], 4)}
    if chance.random() < 0.1:
        found["ignore_max_price_if_needed"] = True
    if chance.random() < 0.1:
        bounds = {"max_ev": "9 gwei", "max_total_ev": "8 gwei", "deposit_multiplier": 3}
        found["tickets"] = {key: bounds[key] for key in some(chance, list(bounds), 2)}
    if chance.random() < 0.5:
        found["orchestrators"] = some(chance, sellers, 4)
    elif chance.random() < 0.7:
        found["discovery"] = chance.choice(("registry", "ai-registry", {"webhook": {"env": "W"}}))
    if chance.random() < 0.4:
        found["selection"] = {
            "blocked": [address(chance.choice((4, 5, 6, 100, 101)))] if chance.random() < 0.7 else [],
            "extra_nodes": chance.randrange(3),
            **({"min_release": chance.choice(("v0.9.0", "v0.9.1"))} if chance.random() < 0.3 else {}),
        }
    return found


def works(spec: dict[str, Any]) -> list[tuple[Goods, oracle.Work]]:
    goods = sorted({(entry["pipeline"], entry["id"]) for entry in spec["models"].values()})
    return [(VIDEO, "video"), *((pair, pair) for pair in goods)]


def test_25_000_pairs_come_out_as_the_plain_account_says() -> None:
    seen: dict[str, int] = {}
    for seed in range(250):
        spec = random_spec(seed)
        market = Market(fleet_of(spec))
        for gateway in spec["gateways"]:
            for seller in spec["orchestrators"]:
                for goods, work in works(spec):
                    expected, percent = oracle.outcome(spec, gateway, seller, work)
                    found = market.cell(gateway, seller, goods).decision
                    assert (found.outcome, found.over) == (expected, percent), (seed, gateway, seller, work)
                    seen[expected] = seen.get(expected, 0) + 1
    assert sum(seen.values()) >= 25_000
    assert set(seen) == {BUYS, TOO_EXPENSIVE, REFUSED, UNKNOWN, NOT_OFFERED, NOT_ASKED}
    assert min(seen.values()) > 700, seen


@pytest.mark.parametrize("first", range(0, 100, 25))
def test_summaries_count_what_the_pairs_say(first: int) -> None:
    for seed in range(first, first + 25):
        spec = random_spec(seed)
        market = Market(fleet_of(spec))
        for gateway in spec["gateways"]:
            for goods, work in works(spec):
                pairs = [oracle.outcome(spec, gateway, seller, work)[0] for seller in spec["orchestrators"]]
                if set(pairs) <= {NOT_ASKED, NOT_OFFERED}:
                    continue
                verdict = market.judge(gateway, goods)
                counted = tuple(map(pairs.count, (BUYS, TOO_EXPENSIVE, REFUSED, UNKNOWN)))
                assert counted == (*verdict[2:5], verdict.offers - sum(verdict[2:5])), (seed, gateway, work)
                best = BUYS if counted[0] else UNKNOWN if counted[3] else TOO_EXPENSIVE if counted[1] else REFUSED
                assert verdict.outcome == best, (seed, gateway, work)
                cells = [market.cell(gateway, seller, goods) for seller in spec["orchestrators"]]
                bought = [
                    c.offer.sent or 0
                    for c in cells
                    if (c.decision.outcome == BUYS or c.decision.why == UNSURE)
                    and c.offer
                    and (c.offer.unit == "wei" or not c.offer.worth)
                ]
                if counted[0] and verdict.cheapest and verdict.dearest and market.caps[gateway].of(goods).unit == "wei":
                    assert (verdict.cheapest.sent, verdict.dearest.sent) == (min(bought), max(bought))


def test_nobody_pays_exactly_when_every_gateway_that_asks_finds_it_too_expensive() -> None:
    found_some = 0
    for seed in range(110):
        spec = random_spec(seed)
        fleet = fleet_of(spec)
        market = Market(fleet)
        payers = Payers(fleet, market)
        for seller, offers in market.offers.items():
            for goods, offer in offers.items():
                work: oracle.Work = "video" if goods == VIDEO else goods
                pairs = {oracle.outcome(spec, gateway, seller, work)[0] for gateway in spec["gateways"]} - {NOT_ASKED}
                highest = payers.highest(offer)
                if highest is not None:
                    found_some += 1
                    assert pairs - {REFUSED, NOT_OFFERED} == {TOO_EXPENSIVE}, (seed, seller, goods)
                elif pairs - {REFUSED} == {
                    TOO_EXPENSIVE
                }:  # then the caps are in another currency than the price for everybody
                    caps = [
                        market.caps[g].of(goods).unit
                        for g in spec["gateways"]
                        if not market.searches[g].why_not(seller)
                    ]
                    assert offer.unit not in caps or market.special_of.get((seller, goods)), (seed, seller, goods)
    assert found_some > 20


def test_strangers_on_both_sides_come_out_as_the_plain_account_says() -> None:
    """A payer and an orchestrator with the defaults of the node: what they refuse, and nothing else."""
    seen: dict[tuple[str, bool], int] = {}
    for seed in range(150):
        spec = random_spec(seed)
        for seller in spec["orchestrators"].values():
            for priced in (seller, *seller["models"]):
                priced["gateway_prices"] = {}
        alone = {**spec, "gateways": {}}
        fleet = fleet_of(alone)
        refused = {
            (met.terms.ticket_ev, met.terms.max_face_value, met.terms.min_gas_price): bool(met.ticket.refusal)
            for met in meetings(fleet)
        }
        plain = {**alone, "gateways": {"stranger": {"wallet": "of nobody"}}}
        for seller in unasked(fleet):
            terms = terms_of(fleet, fleet.orchestrators[seller])
            found = refused[terms.ticket_ev, terms.max_face_value, terms.min_gas_price]
            assert found == (not oracle.can_pay(plain, "stranger", seller)), (seed, seller)
            seen["payer", found] = seen.get(("payer", found), 0) + 1
        buyers = {**spec, "orchestrators": {}, "ai_workers": {}}
        for gateway in buyers["gateways"].values():
            gateway.pop("orchestrators", None)
        plain = {**buyers, "orchestrators": {"stranger": {}}}
        for met in meetings(fleet_of(buyers)):
            found = bool(met.ticket.refusal)
            assert not met.seller and found == (not oracle.can_pay(plain, met.buyer, "stranger")), (seed, met.buyer)
            seen["orchestrator", found] = seen.get(("orchestrator", found), 0) + 1
    assert len(seen) == 4 and min(seen.values()) >= 25, seen


def test_in_a_big_fleet_summaries_stand_for_the_pairs() -> None:
    spec = random_spec(1)
    seller = next(name for name, o in spec["orchestrators"].items() if "price" in o and o["mode"] != "ai")
    for index in range(CELL_OFFERS):
        spec["orchestrators"][f"more-{index}"] = dict(spec["orchestrators"][seller], models=[])
    assert matrix(fleet_of(spec)).cells is None
    shown = lower_market(fleet_of(spec))
    assert not shown.whole and not shown.rows and shown.summaries
    assert "MOST EXPENSIVE IT BUYS" in as_text(shown)
    small = matrix(fleet_of(random_spec(1)))
    assert small.cells is not None and len(small.cells) <= CELL_GATEWAYS * CELL_OFFERS


def test_every_cap_reaches_the_node_because_its_file_is_written_from_numbers_and_parses() -> None:
    """A node that cannot read the file of caps logs one line and pays any price; here the file always reads."""
    count = 0
    for seed in range(40):
        spec = random_spec(seed)
        services = {s.name: s for host in lower(fleet_of(spec)).hosts for s in host.services}
        for gateway, settings in spec["gateways"].items():
            caps = settings["max_model_prices"]
            files = {file.name: file for file in services[gateway].files}
            if not caps:
                assert "prices.json" not in files
                continue
            text = json_document(files["prices.json"].content)
            entries = json.loads(text, parse_float=Fraction, parse_int=Fraction)["capabilities_prices"]
            assert len(entries) == len(caps)
            for entry, key in zip(entries, sorted(caps), strict=True):
                unit, amount = oracle.price({}, caps[key])
                assert entry["currency"] == unit
                assert Fraction(entry["price_per_unit"]) / Fraction(entry["pixels_per_unit"]) == amount
                count += 1
    assert count > 100


# --- funds ------------------------------------------------------------------------------------------


def _funded(**gateways: dict[str, Any]) -> Fleet:
    spec = random_spec(0)
    spec["orchestrators"], spec["ai_workers"] = {}, {}
    spec["wallets"]["w0"] |= {"deposit": "0.5 ETH", "reserve": "0.3 ETH"}
    base = {"host": "h", "mode": "video", "wallet": "w0", "max_price": "1000 wei / pixel"}
    spec["gateways"] = {name: {**base, **settings} for name, settings in gateways.items()}
    return fleet_of(spec)


def test_cost_and_runway_are_exact() -> None:
    (row,) = funds(_funded(g={"expected_load": "2 gigapixels / s"}))
    assert row.cost == 1000 * 2 * 10**9 * 3600
    assert row.runway == Fraction(5 * 10**17, 1000 * 2 * 10**9 * 3600)


def test_gateways_that_share_a_wallet_share_its_deposit() -> None:
    load = {"expected_load": "1 gigapixel / s"}
    first, second = funds(_funded(a=load, b=load))
    assert first.runway == second.runway == Fraction(5 * 10**17, 1000 * 2 * 10**9 * 3600)
    first, second = funds(_funded(a=load, b={}))
    assert (first.cost is None, first.runway, second.cost) == (False, None, None)


@pytest.mark.parametrize(
    "settings",
    [
        {"max_price": "any"},
        {"ignore_max_price_if_needed": True},
        {"max_price": "1 GBP / terapixel"},
        {"expected_load": None},
    ],
)
def test_cost_without_a_bound_a_rate_or_a_load_is_unknown(settings: dict[str, Any]) -> None:
    gateway = {"expected_load": "1 gigapixel / s", **settings}
    (row,) = funds(_funded(g={key: value for key, value in gateway.items() if value is not None}))
    assert (row.cost, row.runway) == (None, None)


def test_numbers_for_people_say_when_they_are_rounded() -> None:
    assert [number_text(Fraction(n), 1) for n in ("20", "0.5", "1/3", "99999/1000")] == [
        "20", "0.5", "about 0.3", "about 99.9",
    ]  # fmt: skip
    assert hours_text(Fraction(49)) == "2 d 1 h"
    assert hours_text(Fraction(1, 7)) == "at least 8 min"
    assert hours_text(Fraction(0)) == "0 min"


@given(st.integers(1, 2**63 - 1))
def test_load_survives_its_own_text(pixels: int) -> None:
    assert parse_throughput(str(Throughput(pixels))) == Throughput(pixels)


@pytest.mark.parametrize("text", ["0 pixels / s", "2000000000", "1 pixel / h", "0.5 pixels / s", "1 frame / s", 5])
def test_what_is_no_load_is_refused(text: object) -> None:
    with pytest.raises(QuantityError):
        parse_throughput(text)


# --- the command ------------------------------------------------------------------------------------


def test_check_prints_the_market_also_when_a_price_is_wrong(tmp_path: Path) -> None:
    spec = tmp_path / "fleet.toml"
    text = support.onchain(
        support.gateway(max_price='"1000 wei / pixel"', orchestrators='["orch"]'), support.orchestrator()
    )
    spec.write_text(text)
    done = fleetc("check", spec, "--explain-prices")
    assert done.returncode == 1
    assert "gateway-price-admits-nobody" in done.stdout
    assert "1200 wei / pixel (1224 wei / pixel with redemption costs)" in done.stdout
    assert "too expensive by 22.4 percent" in done.stdout
    spec.write_text(text.replace("1000 wei", "1260 wei"))
    done = fleetc("check", spec, "--explain-prices")
    assert done.returncode == 0
    assert done.stdout.splitlines()[2].endswith("  buys while gas is below about 0.125 gwei")
    assert "at 0.05 gwei (assumed: [fleet] has no gas_price)" in done.stdout
    spec.write_text(text.replace("1000 wei", "1220 wei"))
    done = fleetc("check", spec, "--explain-prices")
    assert "too expensive by 0.33 percent; buys while gas is below about 0.04166 gwei" in done.stdout
    spec.write_text(text.replace("1000 wei", "1220 wei").replace("[fleet]", '[fleet]\ngas_price = "0.04 gwei"'))
    done = fleetc("check", spec, "--explain-prices")
    assert done.returncode == 0
    assert "at 0.04 gwei (gas_price in [fleet])" in done.stdout
    assert fleetc("check", spec, "--explain-prices", "--format", "json").returncode == 2


def test_check_says_why_somebody_on_the_list_is_not_asked(tmp_path: Path) -> None:
    spec = tmp_path / "fleet.toml"
    blocked = '{ blocked = ["0x2222222222222222222222222222222222222222"] }'
    gate = support.gateway(orchestrators='["orch"]', selection=blocked)
    spec.write_text(support.onchain(gate, support.orchestrator()))
    assert "not asked: the gateway blocks its account" in fleetc("check", spec, "--explain-prices").stdout
    box = support.host("box", address='"203.0.113.40"', public='"orch-2.example.net"')
    other = support.orchestrator("orch-2", host='"box"')
    spec.write_text(support.onchain(box, support.gateway(discovery='"registry"'), support.orchestrator(), other))
    rows = fleetc("check", spec, "--explain-prices").stdout
    assert rows.count("unknown: it is found only if its address is the one that its account registered") == 2
    assert "buys" not in rows
