"""Tickets that pay for minutes of a session."""

from __future__ import annotations

import re

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import SECRET, flagged, model, onchain, orchestrator, printed, renting, runner, silent

CODE = "ticket-pays-far-ahead"


def _live(price: str, ticket_ev: str | None = None, **settings: str | None) -> str:
    selling = {"mode": '"ai"', "models": '[{ use = "realvis" }]', "gpus": "[0]", "secret": SECRET, **settings}
    priced = model(price=f'"{price} wei / pixel"', pipeline='"live-video-to-video"', id='"noop"')
    return onchain(priced, orchestrator(ticket_ev=ticket_ev and f'"{ticket_ev}"', **selling))


def test_a_session_that_is_paid_twice_an_hour(snapshot: SnapshotAssertion) -> None:
    found = flagged(renting(runner(), ticket_ev='"2000 gwei"'), CODE, Severity.WARNING)
    assert found == snapshot
    silent(renting(runner(), ticket_ev='"56 gwei"'))  # as the help says


def test_up_to_a_minute() -> None:
    """0.10 USD an hour are 11111111111 wei a second."""
    silent(renting(runner(), ticket_ev='"666666666660 wei"'))
    assert flagged(renting(runner(), ticket_ev='"666666666661 wei"'), CODE, Severity.WARNING)


def test_live_video_counts_also_without_a_payer_in_the_spec() -> None:
    plain = {"auto_adjust_price": "false"}
    silent(_live("4.83", **plain))  # 60 s of it cost 8012390400 wei, and a ticket is worth 8 gwei by default
    assert "pays for 1m1s of live AI video" in flagged(_live("4.7", **plain), CODE, Severity.WARNING)


CHEAP = [("0.001", None), ("4.7", None), ("1", "2 gwei"), ("99", "2900 gwei")]


@pytest.mark.parametrize(("price", "ticket_ev"), CHEAP)
def test_what_the_help_says_brings_nothing_new(price: str, ticket_ev: str | None) -> None:
    told = flagged(_live(price, ticket_ev), CODE, Severity.WARNING)
    found = re.search(r'ticket_ev = "([^"]+)"', told.rpartition("help")[2])
    assert found is not None
    silent(_live(price, found[1]))


def test_one_ticket_for_all_that_it_sells() -> None:
    """A cheap and a dear one: a ticket for the cheap one alone is too small for the dear one."""
    cheap, dear = runner(price='"0.01 USD / hour"'), runner("dear", port="8990", price='"1 USD / hour"')
    found = printed(renting(cheap, dear, runners='["echo", "dear"]', ticket_ev='"100 gwei"'), CODE)
    assert 'write ticket_ev = "12 gwei" for orch' in found
    assert printed(renting(cheap, dear, runners='["echo", "dear"]', ticket_ev='"12 gwei"')) == "no problems\n"
    dear = runner("dear", port="8990", price='"10 USD / hour"')
    found = printed(renting(cheap, dear, runners='["echo", "dear"]', ticket_ev='"100 gwei"'), CODE)
    assert "no ticket_ev suits all that orch sells" in found


def test_single_requests_have_no_rhythm() -> None:
    silent(renting(runner(price='"0.001 USD / request"'), ticket_ev='"2000 gwei"'))
