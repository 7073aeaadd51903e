"""How long the deposit of a remote signer lasts at the load of live runners that its clients use."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from fleetc.analysis.funds import Funds, funds
from fleetc.language.quantities import QuantityError, RunnerLoad, parse_runner_load
from fleetc.lower import lower
from fleetc.pipeline import check_spec
from fleetc.toml.document import Source
from tests.rules.support import flagged, free_gateway, printed, renting, runner, signer, wallet

TILES = runner("tiles", port="8990", price='"0.0001 USD / request"')


def signing(load: str, *more: str, buys: str = '["echo", "tiles"]', price: str = "0.36 USD / hour") -> str:
    """A signer whose clients buy echo and tiles, with a deposit of 1 ETH."""
    pays = signer(wallet='"third"', buys_runners=buys, max_price='"any"', allow_no_auth="true", runner_load=load)
    tables = (TILES, wallet(deposit='"1 ETH"'), pays, *more)
    return renting(runner(price=f'"{price}"', capacity="20"), runners='["echo", "tiles"]', tables=tables)


def of(text: str) -> Funds:
    checked = check_spec([Source("fleet.toml", text)])
    assert checked.fleet is not None, printed(text)
    (found,) = [row for row in funds(checked.fleet) if row.node == "signer"]
    return found


def test_by_the_hour_and_by_request_in_whole_wei_of_the_node() -> None:
    """0.36 USD an hour at 2,500 USD is 40000000000 wei a second, 0.0001 USD is 40000000000 wei."""
    found = of(signing('{ echo = "2.5 sessions", tiles = "200 requests / hour" }'))
    cost = 40_000_000_000 * 3600 * Fraction(5, 2) + 40_000_000_000 * 200
    assert (found.cost, found.runway) == (cost, 10**18 / cost)
    by_minute = of(signing('{ echo = "2.5 sessions", tiles = "2 requests / minute" }'))
    assert by_minute.cost == 40_000_000_000 * 3600 * Fraction(5, 2) + 40_000_000_000 * 120


def test_by_pictures_the_node_counts_the_same_for_any_picture() -> None:
    found = of(signing('{ echo = "1 session" }', buys='["echo"]', price="0.25 USD / 720p hour"))
    assert found.cost == 1004 * 27_648_000 * 3600


@pytest.mark.parametrize(
    ("load", "old", "new"),
    [
        ('{ echo = "1 session" }', "", ""),
        ('{ echo = "1 session", tiles = "1 request / day" }', "[rates]\nUSD", "[rates]\nEUR"),
        ('{ tiles = "1 request / day" }', "", ""),
    ],
)
def test_a_load_or_a_rate_that_is_missing_makes_it_unknown(load: str, old: str, new: str) -> None:
    found = of(signing(load).replace(old, new))
    assert (found.cost, found.runway) == (None, None)


def test_gateways_of_the_signer_count_beside_runners() -> None:
    gate = free_gateway(
        "live",
        http='"127.0.0.1:8937"',
        mode='"ai"',
        remote_signer='{ signer = "signer" }',
        expected_load='"1 gigapixels / s"',
    )
    load = '{ echo = "1 session" }'
    alone = of(signing(load, buys='["echo"]').replace('max_price = "any"', 'max_price = "50000000000 wei / pixel"'))
    both = of(
        signing(load, gate, buys='["echo"]').replace('max_price = "any"', 'max_price = "50000000000 wei / pixel"')
    )
    assert alone.cost is not None and both.cost is not None
    assert both.cost - alone.cost == 10**9 * 3600 * 50_000_000_000
    unknown = of(signing(load, gate.replace("expected_load", "# expected_load"), buys='["echo"]'))
    assert unknown.cost is None, "a gateway without a load may buy anything"


def test_fleet_page_says_load_cost_and_runway() -> None:
    checked = check_spec([Source("fleet.toml", signing('{ echo = "2.5 sessions", tiles = "200 requests / hour" }'))])
    assert checked.fleet is not None
    market = lower(checked.fleet).market
    (row,) = [row for row in market.funds if row.node == "signer"]
    assert row.load == "echo: 2.5 sessions, tiles: 200 requests / hour"
    assert (row.cost, row.runway) == ("0.000368 ETH", "at least 113 d 5 h 23 min")


def test_load_of_what_the_signer_does_not_buy_is_refused() -> None:
    text = signing('{ tiles = "1 request / day" }', buys='["echo"]')
    assert "which buys_runners does not list" in flagged(text, "invalid-value")


def test_load_as_people_write_it() -> None:
    assert parse_runner_load("1 session") == RunnerLoad(Decimal(1), "")
    assert str(parse_runner_load("0.50 sessions")) == "0.5 sessions"
    assert parse_runner_load("90 requests/minute").in_an_hour == 5400
    assert parse_runner_load(str(parse_runner_load("12 requests / day"))).in_an_hour == Fraction(1, 2)
    for wrong in ("3", "3 hours", "0 sessions", "-1 sessions", "1 request / week", "1e3 sessions", "1,5 sessions", 3):
        with pytest.raises(QuantityError):
            parse_runner_load(wrong)
