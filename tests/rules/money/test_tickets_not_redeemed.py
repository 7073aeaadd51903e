"""Tickets that cost more to redeem than they pay."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, gateway, onchain, orchestrator, printed, silent

CODE = "tickets-not-redeemed"


def _reserve(reserve: str, gas: str = "5 gwei", **settings: str) -> str:
    text = onchain(gateway(orchestrators='["orch"]'), orchestrator(**settings), gas_price=f'"{gas}"')
    return text.replace('reserve = "0.3 ETH"', f'reserve = "{reserve}"')


def test_above_3_gwei_tickets_are_issued_and_not_redeemed(snapshot: SnapshotAssertion) -> None:
    assert flagged(_reserve("0.4 ETH"), CODE, Severity.WARNING) == snapshot


def test_what_the_help_says_is_enough_and_the_cost_itself_is_not() -> None:
    assert '"0.61 ETH"' in flagged(_reserve("0.6 ETH"), CODE, Severity.WARNING)
    silent(_reserve("0.61 ETH"))
    silent(_reserve("0.6000000000000001 ETH"))


def test_reserve_that_backs_no_ticket_is_reported_instead() -> None:
    assert printed(_reserve("0.3 ETH"), CODE) == "no problems\n"
    assert "reserve-backs-no-ticket" in printed(_reserve("0.3 ETH"))


def test_low_face_value_is_reported_instead() -> None:
    low = _reserve("1 ETH", max_face_value='"0.004 ETH"')
    assert printed(low, CODE) == "no problems\n"
    assert "max-face-value-too-low" in printed(low)
