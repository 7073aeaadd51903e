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


def test_unsound_specs_are_flagged() -> None:
    # Bounds of zero refuse every ticket.
    nothing = gateway(orchestrators='["orch"]', tickets='{ max_ev = "0 wei" }')
    assert 'raise tickets.max_ev of gate to "8.800000001 gwei"' in flagged(_worth("8 gwei", nothing), CODE)
    # Gateway that searches may find others.
    assert flagged(_worth("3000 gwei", gateway()), CODE, Severity.WARNING)


def test_a_payer_with_default_settings_stands_where_nobody_asks(snapshot: SnapshotAssertion) -> None:
    assert flagged(_worth("0.01 ETH", ""), CODE, Severity.WARNING) == snapshot
    assert flagged(_worth("3000 gwei", ""), CODE, Severity.WARNING)
    silent(_worth("2700 gwei", ""))  # as the help says
    silent(_worth("2999 gwei", ""))


def test_a_payer_of_the_fleet_that_takes_the_ticket_speaks_for_itself() -> None:
    raised = gateway(orchestrators='["orch"]', tickets='{ max_ev = "3300.000000001 gwei" }')
    silent(_worth("3000 gwei", raised))
    blocking = gateway(selection='{ blocked = ["0x2222222222222222222222222222222222222222"] }')
    assert "a payer with default settings allows" in flagged(_worth("3000 gwei", blocking), CODE, Severity.WARNING)
    listing = gateway(orchestrators='["https://203.0.113.99:8935"]')
    assert "a payer with default settings allows" in flagged(_worth("3000 gwei", listing), CODE, Severity.WARNING)


def test_an_orchestrator_with_default_settings_stands_where_a_payer_may_find_others() -> None:
    strict = '{ max_ev = "8 gwei" }'
    found = flagged(onchain(gateway(discovery='"registry"', tickets=strict)), CODE, Severity.WARNING)
    assert "a ticket of an orchestrator with default settings is worth 8 gwei" in found
    assert 'raise tickets.max_ev of gate to "8.800000001 gwei"' in found
    silent(onchain(gateway(discovery='"registry"', tickets='{ max_ev = "8.800000001 gwei" }')))
    silent(onchain(gateway(orchestrators='["orch"]', tickets=strict), orchestrator(ticket_ev='"7 gwei"')))
