"""Runners whose price no signer can pay in advance."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, renting, runner, signer, silent

CODE = "runner-price-unpayable"


def test_documented_price_with_the_tickets_of_the_node(snapshot: SnapshotAssertion) -> None:
    assert flagged(renting(runner(price='"3.50 USD / hour"'), ticket_ev=None), CODE) == snapshot


def test_price_of_pictures_with_tickets_of_its_own(snapshot: SnapshotAssertion) -> None:
    assert flagged(renting(runner(price='"0.01 USD / 720p minute"'), ticket_ev='"8 gwei"'), CODE) == snapshot


@pytest.mark.parametrize(
    ("price", "fits", "tickets"),
    [
        ("0.72 USD / hour", True, None),
        ("0.7201 USD / hour", False, None),
        ("0.012 USD / minute", True, None),
        ("0.1199370 USD / 720p hour", True, None),
        ("0.1202 USD / 720p hour", False, None),
        ("0.002 USD / request", True, None),
        ("0.0021 USD / request", False, None),
        ("3.50 USD / hour", True, "39 gwei"),
        ("3.50 USD / hour", False, "38 gwei"),
        ("0.000288 ETH / hour", True, None),
        ("0.0003 ETH / hour", False, None),
    ],
)
def test_ceiling_at_2500_usd_for_an_eth(price: str, fits: bool, tickets: str | None) -> None:
    text = renting(runner(price=f'"{price}"'), ticket_ev=f'"{tickets}"' if tickets else None)
    if fits:
        silent(text)
    else:
        flagged(text, CODE)


def test_what_it_says_to_write_is_enough() -> None:
    text = renting(runner(price='"3.50 USD / hour"'), ticket_ev=None)
    assert '"39 gwei"' in flagged(text, CODE)
    silent(renting(runner(price='"3.50 USD / hour"'), ticket_ev='"39 gwei"'))
    assert 'price = "0.72 USD / hour"' in flagged(text, CODE)
    minutes = renting(runner(price='"1 USD / minute"'), ticket_ev=None)
    assert 'price = "0.012 USD / minute"' in flagged(minutes, CODE)
    ether = renting(runner(price='"0.0003 ETH / hour"'), ticket_ev=None)
    assert 'price = "0.000288 ETH / hour"' in flagged(ether, CODE)


def test_limits_of_a_signer_that_buys_it_are_named_in_the_same_message() -> None:
    """Above 18 USD an hour so many wei are paid in advance that the signer's own limits refuse them as well."""

    def selling(ticket_ev: str | None, tickets: str | None = None) -> str:
        pays = signer(buys_runners='["echo"]', allow_no_auth="true", tickets=tickets)
        return renting(runner(price='"400 USD / hour"'), ticket_ev=ticket_ev, tables=(pays,))

    limits = '{ max_ev = "4446 gwei", max_total_ev = "444501 gwei" }'
    found = flagged(selling(None), CODE)
    assert f'ticket_ev = "4445 gwei" or more in orchestrators.orch and tickets = {limits} in remote_signers' in found
    silent(selling('"4445 gwei"', limits))


def test_no_help_proposes_tickets_that_a_signer_with_default_settings_refuses() -> None:
    found = flagged(renting(runner(price='"400 USD / hour"'), ticket_ev=None), CODE)
    assert 'help: write price = "0.72 USD / hour" or less' in found
    silent(renting(runner(price='"0.72 USD / hour"'), ticket_ev=None))
