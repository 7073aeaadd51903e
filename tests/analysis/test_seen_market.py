"""Who can sell at a cap: as the node's own selection has it, on markets made by chance, and never from odd answers."""

from __future__ import annotations

import json
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleetc.analysis.acceptance import VIDEO
from fleetc.analysis.seen_market import Recorded, SeenMarket, at_cap, reaches, read_market
from fleetc.lower.market_words import recorded_text
from tests.rollout.odd_answers import JSON, places, with_other
from tests.rollout.verify.healthy import OTHERS, seller
from tests.support import compile_text, compiled_example, example_text

MODELS = [(27, "stabilityai/sd-turbo"), (27, "ByteDance/SDXL-Lightning"), (35, "streamdiffusion"), (33, "a/b")]
NAMES = {27: "text-to-image", 35: "live-video-to-video", 33: "llm"}
DEFAULT = [*range(13), 14, 26]
"""DefaultCapabilities of core/capabilities.go."""


def market(chance: Random, size: int) -> list[dict[str, Any]]:
    """An answer: shared accounts, equal prices, zeros, fractions, negative prices, and what the node does not ask."""
    found = []
    for at in range(size):
        amounts = [*range(0, 3000, 100), 1200, 1200, -5, Fraction(1, 3), Fraction(2401, 2)]
        models = {model: chance.choice([None, 0, 7, 1500, -1]) for model in MODELS if chance.random() < 0.4}
        one = seller(
            f"https://o{at}.example.net:8935", chance.choice(amounts), f"0x{chance.randrange(60):040X}", models
        )
        for own in one["capabilities"]["constraints"]["PerCapability"].values():
            for model in own["models"].values():
                model["warm"] = chance.random() < 0.5
        if chance.random() < 0.1:
            one["price_info"] = chance.choice([None, {"pricePerUnit": 5}, {"pixelsPerUnit": 1}])
        if chance.random() < 0.1:
            one["address"] = ""
        if chance.random() < 0.1:
            one["capabilities"] = chance.choice(
                [None, {"bitstring": [0]}, {**one["capabilities"], "bitstring": [4113]}]
            )
        if chance.random() < 0.1:
            one["capabilities_prices"] = [
                *one["capabilities_prices"],
                *({**own, "pricePerUnit": 9} for own in one["capabilities_prices"]),
            ] or None
        found.append({name: value for name, value in one.items() if value is not None or chance.random() < 0.5})
    return found


def by_the_node(orchestrators: list[dict[str, Any]], goods: tuple[int, str] | None, cap: Fraction | None) -> list[str]:
    """The node's selection at v0.9.1, by the names of its functions; a job is H.264 video, or one model."""

    def rat_price_info(info: dict[str, Any] | None) -> Fraction | None:  # common/util.go: RatPriceInfo
        if info is None or info.get("pixelsPerUnit", 0) == 0:
            return None
        return Fraction(info.get("pricePerUnit", 0), info["pixelsPerUnit"])

    def capability_price(one: dict[str, Any]) -> Fraction | None:  # server/remote_discovery.go: capabilityPrice
        if goods is None:
            return rat_price_info(one.get("price_info"))
        for price in one.get("capabilities_prices") or []:
            if price.get("pixelsPerUnit", 0) <= 0 or price.get("capability", 0) != goods[0]:
                continue
            if price.get("constraint", "") == goods[1]:
                return Fraction(price.get("pricePerUnit", 0), price["pixelsPerUnit"])
        return rat_price_info(one.get("price_info"))

    def model_of(one: dict[str, Any]) -> dict[str, Any] | None:  # server/ai_session.go: Refresh
        assert goods is not None
        per_capability = ((one.get("capabilities") or {}).get("constraints") or {}).get("PerCapability") or {}
        models: dict[str, dict[str, Any]] = per_capability.get(str(goods[0]), {}).get("models", {})
        return models.get(goods[1])

    def compatible(one: dict[str, Any]) -> bool:  # core/capabilities.go: CompatibleWith; AuthToken is no legacy
        if one.get("capabilities") is None:
            return False
        bits = [0, 1, 4, 12] if goods is None else [*DEFAULT, goods[0]]
        mine, its = sum(1 << bit for bit in bits), one["capabilities"].get("bitstring", [])
        return bool(its) and mine & its[0] == mine and (goods is None or model_of(one) is not None)

    def pred(one: dict[str, Any]) -> bool:  # discovery/db_discovery.go: GetOrchestrators
        price = capability_price(one)
        return price is not None and price >= 0

    def filter_by_max_price(addresses: list[str], prices: dict[str, Fraction]) -> list[str]:
        if cap is None or not prices:
            return addresses
        return [address for address in addresses if address in prices and prices[address] <= cap]

    def select(sessions: list[dict[str, Any]]) -> list[str]:  # server/selection.go: selectUnknownSession
        addresses: list[str] = []
        prices: dict[str, Fraction] = {}
        for one in sessions:
            if not one.get("address"):  # no ticket parameters
                continue
            if one["address"] not in addresses:
                addresses.append(one["address"])
            price = capability_price(one)
            if price is not None:
                prices[one["address"]] = price
        kept = filter_by_max_price(addresses, prices)
        return [one["orch_uri"] for one in sessions if one.get("address") in kept and one["address"]]

    found = [one for one in orchestrators if compatible(one) and pred(one)]
    if goods is None:
        return select(found)
    warm = [one for one in found if (model_of(one) or {})["warm"]]
    return [*select(warm), *select([one for one in found if one not in warm])]


LISTED = {"goods": VIDEO, "known": True, "offers": 4}


def read(orchestrators: list[Any]) -> SeenMarket:
    return read_market("gate", {"orchestrators": orchestrators})


def test_selection_is_that_of_the_node_for_a_thousand_caps() -> None:
    chance = Random(36)
    counts = set()
    for number in range(1000):
        if number % 50 == 0:
            answer = market(chance, 100)
            sellers = read(json.loads(json.dumps(answer), parse_int=str)).orchestrators
            assert len(sellers) == 100
        cap = chance.choice([None, Fraction(chance.randrange(0, 3200)), Fraction(chance.randrange(1, 9000), 3)])
        model = chance.choice([None, *MODELS])
        goods = VIDEO if model is None else (NAMES[model[0]], model[1])
        own = [one.orch_uri for one in at_cap(sellers, goods, cap)]
        assert own == by_the_node(answer, model, cap)
        counts.add(len(own))
    assert len(counts) > 30, "caps cut in many places"


def test_the_dearest_within_and_the_cheapest_above_frame_a_cap() -> None:
    fleet = compiled_example("dual-onchain").checked.fleet
    assert fleet is not None
    answer = [
        seller(f"https://o{n}.example.net", price, f"0x{n:040x}") for n, price in enumerate((900, 1500, 1501, 9000))
    ]
    seen = read(answer)
    (video,) = [reach for reach in reaches(fleet, seen) if reach.goods == VIDEO]
    assert video.model_dump() == {**LISTED, "cap": "1500", "sell": 2, "nearest": "1501"}
    (live,) = [reach for reach in reaches(fleet, seen, Fraction(899)) if reach.goods == VIDEO]
    assert live.model_dump() == {**LISTED, "cap": "899", "sell": 0, "nearest": "900"}


def test_gateway_that_ignores_its_cap_buys_at_any_price_but_live_video() -> None:
    text = example_text("dual-onchain").replace(
        "[gateways.gate]\n", "[gateways.gate]\nignore_max_price_if_needed = true\n"
    )
    fleet = compile_text(text).checked.fleet
    assert fleet is not None
    seen = read([seller("https://o.example.net", 9000, models=dict.fromkeys(MODELS))])
    found = {reach.goods[0]: (reach.known, reach.cap, reach.sell) for reach in reaches(fleet, seen, Fraction(1))}
    assert found["video"] == found["llm"] == (True, None, 1)
    assert not found["live-video-to-video"][0]


@pytest.mark.parametrize("answer", [{}, {"orchestrators": None}, {"orchestrators": {}}, {"orchestrators": 1}])
def test_another_shape_is_no_market(answer: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="without a list of orchestrators"):
        read_market("gate", answer)


@pytest.mark.parametrize(
    "price",
    [
        {"pricePerUnit": 2**63, "pixelsPerUnit": 1}, {"pricePerUnit": "1e400", "pixelsPerUnit": 1}, "1200", 1200, [],
        {"pricePerUnit": "NaN", "pixelsPerUnit": 1}, {"pricePerUnit": 1.5, "pixelsPerUnit": 1}, {"pricePerUnit": {}},
        {"pricePerUnit": "9" * 5000, "pixelsPerUnit": 1}, {"pricePerUnit": float("inf"), "pixelsPerUnit": 1},
    ],
)  # fmt: skip
def test_an_absurd_price_is_no_offer(price: object) -> None:
    good, odd = seller("https://good.example.net", 5), {**seller("https://odd.example.net", 5), "price_info": price}
    seen = read([odd, good])
    assert ([one.orch_uri for one in seen.orchestrators], seen.unreadable) == (["https://good.example.net"], 1)


@pytest.mark.parametrize(("amount", "pixels"), [(-5, 1), (5, -1), (-5, -1), (5, 0)])
def test_a_negative_price_sells_nothing(amount: int, pixels: int) -> None:
    odd = {**seller("https://odd.example.net", 5), "price_info": {"pricePerUnit": amount, "pixelsPerUnit": pixels}}
    assert at_cap(read([odd]).orchestrators, VIDEO, None) == []


def test_numbers_as_text_are_understood() -> None:
    odd = {**seller("https://odd.example.net", 5), "price_info": {"pricePerUnit": "1200", "pixelsPerUnit": "7"}}
    assert read([odd]).orchestrators[0].price(VIDEO) == Fraction(1200, 7)


@given(st.data())
def test_no_part_of_an_answer_breaks_the_reader(data: st.DataObject) -> None:
    fleet = compiled_example("dual-onchain").checked.fleet
    assert fleet is not None
    answer: Any = [seller("https://o.example.net", 5, models={MODELS[0]: 7, MODELS[2]: None}), seller(OTHERS, 1)]
    path = data.draw(st.sampled_from([path for path in places(answer[0]) if path]))
    seen = read([with_other(answer[0], path, data.draw(JSON)), answer[1]])
    assert len(seen.orchestrators) + seen.unreadable == 2
    seen = seen.model_copy(update={"reaches": reaches(fleet, seen)})
    text = json.dumps(
        {"verify": {"time": "2026-11-28T13:00:00Z", "market": [seen.model_dump(mode="json", by_alias=True)]}}
    )
    again = Recorded.model_validate(json.loads(text, parse_int=str)["verify"]).market
    assert again == [seen], "what is recorded is read as it was"
    assert "\x1b" not in recorded_text(fleet, Recorded(time="2026-11-28T13:00:00Z", market=again))
