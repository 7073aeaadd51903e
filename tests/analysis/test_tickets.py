"""The node's formulas about tickets: against results of its own functions, and against going through gas prices."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from typing import Any

import pytest

from fleetc.analysis import tickets
from fleetc.analysis.tickets import Backing, Chain, PricePair, Terms
from tests.support import ROOT

GWEI = 10**9
DATA: dict[str, Any] = json.loads((ROOT / "tests/data/node_payments.json").read_text(encoding="utf-8"))
CHAIN_STATE = ("blocks_left", "withdraw_round")
"""What no spec knows, so that fleetc does not look at it."""


def cases(kind: str) -> list[dict[str, Any]]:
    return [{**DATA[kind]["defaults"], **case} for case in DATA[kind]["cases"]]


def wei(gwei: str) -> int:
    amount = Fraction(gwei) * GWEI
    assert amount.denominator == 1
    return amount.numerator


@pytest.mark.parametrize("case", cases("prices"), ids=json.dumps)
def test_price_that_is_sent_is_that_of_the_node(case: dict[str, Any]) -> None:
    chain = Chain(wei(case["gas_price"]), case["redemption_gas"], case["pool"])
    terms = Terms(case["adjusts"], wei(case["ticket_ev"]), wei(case["max_face_value"]))
    base = Fraction(case["base_wei"])
    state = [wei(case[key]) for key in ("claimed", "pending", "deposit")]
    part = tickets.share(wei(case["reserve"]), case["pool"], *state)
    if not base:
        assert (case["overhead"], case["price_wei"]) == ("1", "0")  # a price of nothing needs no ticket
        return
    face = tickets.face_value(terms, chain, part)
    assert tickets.issues(terms, chain, face) is not case.get("refused", False)
    if "refused" in case:
        return
    overhead = 1 + Fraction(tickets.cost(terms, chain), face) if terms.adjusts else Fraction(1)
    assert overhead == Fraction(case["overhead"])
    assert tickets.sent(base, overhead, terms.adjusts) == Fraction(case["price_wei"])
    if not any(state):
        found = tickets.ticket(terms, Backing(wei(case["reserve"]), None, None, None), chain)
        assert (found.face, found.overhead, found.refusal) == (face, overhead, "")


ANSWERS = {
    "ok": "",
    "EV": tickets.VALUE,
    "total EV": tickets.TOTAL,
    "face>max": tickets.DEPOSIT,
    "face<=EV": tickets.FACE,
    "no deposit": tickets.NO_DEPOSIT,
    "no reserve": tickets.NO_RESERVE,
}


@pytest.mark.parametrize(
    "case",
    [case for case in cases("payments") if all(case[k] == DATA["payments"]["defaults"][k] for k in CHAIN_STATE)],
    ids=json.dumps,
)
def test_payment_is_refused_as_the_node_refuses_it(case: dict[str, Any]) -> None:
    backing = Backing(
        wei(case["reserve"]), wei(case["deposit"]), wei(case["max_ev"]), wei(case["max_total_ev"]), case["multiplier"]
    )
    found = tickets.objection(wei(case["ticket_ev"]), wei(case["face"]), backing, case["tickets"])
    assert found == ANSWERS[case["answer"]]


def test_only_chain_state_is_left_out_of_the_results() -> None:
    left = [c for c in DATA["payments"]["cases"] if any(key in c for key in CHAIN_STATE)]
    assert [case["answer"] for case in left] == ["unlock", "ok", "expired", "ok"]
    assert (len(DATA["prices"]["cases"]), len(DATA["payments"]["cases"])) == (30, 20)


def _pair(chance: random.Random) -> tuple[PricePair, Chain]:
    """Two sides with small numbers, so that every gas price can be tried."""
    terms = Terms(
        chance.random() < 0.8, chance.choice((1, 7, 50, 1000)), chance.choice((0, 0, 40, 900)), chance.choice((0, 0, 3))
    )
    backing = Backing(chance.randrange(1, 9000), chance.randrange(0, 3000), 2000, 5000, chance.choice((1, 2)))
    chain = Chain(chance.randrange(0, 60), chance.choice((1, 3, 12)), chance.choice((1, 3, 10)))
    base = Fraction(chance.randrange(1, 4000), chance.choice((1, 1000, 7)))
    cap = None if chance.random() < 0.1 else base * Fraction(chance.randrange(95, 160), 100)
    return PricePair(base, cap, terms, backing, chance.random() < 0.7), chain


def test_turning_point_is_where_going_through_gas_prices_finds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tickets, "LEAST_GAS_PRICE", 2)
    above = below = never = 0
    for seed in range(250):
        pair, chain = _pair(random.Random(seed))
        answers = [
            tickets.trades(pair, chain._replace(gas_price=gas)) for gas in range(0, 500)
        ]  # fmt: skip
        now = max(chain.gas_price, pair.terms.min_gas_price)
        lowest = max(2, pair.terms.min_gas_price)
        if answers[now]:
            expected = next((gas for gas in range(now + 1, 500) if not answers[gas]), None)
            above += expected is not None
        else:
            falls = (gas for gas in range(now, lowest, -1) if answers[gas - 1] and not answers[gas])
            expected = next(falls, None)
            below += expected is not None
        never += expected is None
        found = tickets.turning_point(pair, chain)
        assert (found if found is None or found < 500 else None) == expected, seed
    assert min(above, below, never) > 15, (above, below, never)


def test_limit_of_a_cap_admits_exactly_the_prices_that_are_sent_within_it() -> None:
    chance = random.Random(5)
    for _ in range(4000):
        cap = Fraction(chance.randrange(1, 10**6), chance.choice((1, 3, 1000)))
        overhead = 1 + Fraction(chance.randrange(0, 100), chance.randrange(100, 900))
        bound = tickets.limit(cap, overhead, True)
        assert bound is not None and not bound.inclusive
        for base in (Fraction(bound.worth), bound.worth - Fraction(1, 10**9), cap / overhead, cap):
            asked = tickets.sent(base, overhead, True)
            assert asked is not None and (asked <= cap) == (base < bound.worth)
    assert tickets.limit(Fraction(2**63 - 1, 1000), Fraction(2), True) is None
    assert tickets.sent(10**30, Fraction(2), True) == Fraction(2**63 - 1, 1000)


def test_payment_holds_600_tickets_and_100_through_a_signer() -> None:
    face = 6 * 10**15
    funded = Backing(10**18, 10**18)
    assert tickets.holds(Terms(), funded, face) == 600 * 8 * GWEI
    assert tickets.holds(Terms(), funded._replace(nonces=tickets.SIGNED_NONCES), face) == 100 * 8 * GWEI
    assert tickets.holds(Terms(ticket_ev=100 * GWEI), funded, face) == 199 * 100 * GWEI  # 200 are rounded above 2e13
    live = 1658880000
    assert 600 * 8 * GWEI // live == 2893 and 100 * 8 * GWEI // live == 482


def test_gas_limit_is_said_only_near_the_gas_price_of_the_chain() -> None:
    """A limit of 25000 wei, or of a thousand times what gas costs, is where no chain is."""
    pair = PricePair(Fraction(1000), Fraction(1020), Terms(), Backing(3 * 10**17, 10**18))
    exact = tickets.turning_point(pair, Chain(GWEI // 20, 1_200_000, 100))
    assert exact is not None
    said = {
        at: tickets.gas_limit(pair, Chain(exact * at // 1000, 1_200_000, 100)) for at in (9, 11, 900, 99_000, 101_000)
    }
    assert said == {9: None, 11: exact, 900: exact, 99_000: exact, 101_000: None}
