"""Tickets that a gateway refuses for their value."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, gateway, onchain, orchestrator, silent

CODE = "ticket-value-above-limit"
LISTED = gateway(orchestrators='["orch"]')


def _worth(value: str, buyer: str = LISTED) -> str:
    return onchain(buyer, orchestrator(ticket_ev=f'"{value}"'))


def test_value_that_equals_the_bound_is_refused_by_rounding(snapshot: SnapshotAssertion) -> None:
    assert flagged(_worth("3000 gwei"), CODE) == snapshot
    silent(_worth("2999.999999999 gwei"))


def test_bound_of_one_ticket_and_of_a_payment(snapshot: SnapshotAssertion) -> None:
    strict = gateway(orchestrators='["orch"]', tickets='{ max_ev = "100 gwei" }')
    assert flagged(_worth("101 gwei", strict), CODE) == snapshot
    silent(_worth("99 gwei", strict))
    whole = gateway(orchestrators='["orch"]', tickets='{ max_total_ev = "100 gwei" }')
    assert "allows for a payment" in flagged(_worth("100 gwei", whole), CODE)
    silent(_worth("99 gwei", whole))


def test_bounds_of_zero_refuse_every_ticket() -> None:
    nothing = gateway(orchestrators='["orch"]', tickets='{ max_ev = "0 wei" }')
    assert 'raise tickets.max_ev of gate to "8.800000001 gwei"' in flagged(_worth("8 gwei", nothing), CODE)


def test_gateway_that_searches_may_find_others() -> None:
    assert flagged(_worth("3000 gwei", gateway()), CODE, Severity.WARNING)
