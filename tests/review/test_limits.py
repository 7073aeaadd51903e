"""Limits on the impact: what they mean, what is refused, and which changes are named."""

from __future__ import annotations

from decimal import Decimal

import pytest

from fleetc.review.limits import LimitError, amount_text, breaches, parse_limits
from tests.review.support import example, review

DUAL, DEMO = example("dual-onchain"), example("demo")
PRICE = DUAL.replace('"1200 wei', '"1260 wei')  # 5 percent
NARROW = DEMO.replace('rtmp = "0.0.0.0:1935"', 'rtmp = "127.0.0.1:1935"')


def broken(old: str, new: str, limits: str) -> list[str]:
    return [str(breach) for breach in breaches(review(old, new), parse_limits(limits))]


def test_price_is_judged_by_the_largest_change_exactly() -> None:
    assert broken(DUAL, PRICE, "price=5%") == []
    assert broken(DUAL, PRICE, "price=4.999999%") == ["price=4.999999% is broken (it comes to 5%)"]
    assert broken(DUAL, PRICE, "price=none") == ["price=none is broken"]
    assert broken(DUAL, DUAL.replace('"1500 wei', '"1500.0 wei'), "price=none") == []


def test_cap_that_falls_away_breaks_every_percentage() -> None:
    assert broken(DUAL, DUAL.replace('"1500 wei / pixel"', '"any"'), "price=99%") == [
        "price=99% is broken (it comes to 100%)"
    ]


def test_none_admits_no_exposure_and_zero_admits_those_that_close() -> None:
    assert broken(DEMO, NARROW, "exposure=none") == ["exposure=none is broken"]
    assert broken(DEMO, NARROW, "exposure=0") == []
    assert broken(NARROW, DEMO, "exposure=0") == ["exposure=0 is broken (it comes to 1)"]


def test_restarts_count_processes_and_not_changes() -> None:
    both = DEMO.replace("max_sessions = 4", "max_sessions = 3\nverbosity = 6")
    assert broken(DEMO, both, "restart=1") == []
    assert broken(DEMO, both, "restart=0") == ["restart=0 is broken (it comes to 1)"]


def test_several_limits_are_judged_each_and_name_their_changes() -> None:
    found = review(DUAL, PRICE.replace("max_sessions = 12", "max_sessions = 10\ntest_gpu = false"))
    limits = parse_limits("price=1%, capacity=1, cold-start=none, identity=none")
    judged = list(breaches(found, limits))
    assert [(breach.limit.impact, breach.amount) for breach in judged] == [
        ("price", Decimal(5)),
        ("capacity", Decimal(2)),
        ("cold-start", Decimal(2)),
    ]
    assert [change.what for change in judged[0].changes] == ["-pricePerUnit"]
    assert [change.what for change in judged[1].changes] == ["-maxSessions"]


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("price", "write for example price=5%"),
        ("price=5", "write price=5% or price=none"),
        ("restart=5%", "must be a whole number"),
        ("restart=1.5", "must be a whole number"),
        ("prices=5%", "the classes are exposure, funds, price"),
        ("none=1", "the classes are exposure"),
        ("price=-5%", "write for example"),
        ("price=1%,price=2%", "two limits"),
        ("price=5%,,restart=1", "is not a limit"),
        ("price=5%;restart=1", "is not a limit"),
        ("", "is not a limit"),
        ("exposure=NONE", "write for example"),
        ("exposure=\x1b[31m", "is not a limit"),
    ],
)
def test_malformed_limit_says_what_to_write(text: str, advice: str) -> None:
    with pytest.raises(LimitError, match=advice.replace("(", r"\(")):
        parse_limits(text)


def test_amount_of_a_breach_has_two_decimals_and_is_never_too_low() -> None:
    shown = {"16.666667": "about 16.67", "5": "5", "0.000001": "about 0.01", "8.25": "8.25", "100": "100"}
    assert {amount: amount_text(Decimal(amount)) for amount in shown} == shown
