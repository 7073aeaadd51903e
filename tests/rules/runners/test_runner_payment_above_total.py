"""Runners whose payment in advance is more than a signer allows for one payment."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, printed, renting, runner, signer, silent

CODE = "runner-payment-above-total"


def selling(price: str, buys: str | None = '["echo"]', **buyer: str) -> str:
    pays = signer(buys_runners=buys, max_price='"any"', allow_no_auth="true", **buyer)
    return renting(runner(price=f'"{price} USD / request"'), ticket_ev='"1000 gwei"', tables=(pays,))


def test_a_dear_request_and_what_it_says_to_write(snapshot: SnapshotAssertion) -> None:
    found = flagged(selling("0.10"), CODE)
    assert found == snapshot
    assert 'max_total_ev = "40001 gwei"' in found
    silent(selling("0.10", tickets='{ max_total_ev = "40001 gwei" }'))
    flagged(selling("0.10", tickets='{ max_total_ev = "40000 gwei" }'), CODE)


def test_as_much_as_the_limit_is_too_much_because_the_node_rounds_tickets_up() -> None:
    silent(selling("0.0475"))
    assert "20000 gwei and what the node rounds up" in flagged(selling("0.05"), CODE)


def test_signer_that_may_find_it_without_naming_it_is_warned() -> None:
    found = printed(selling("0.10", buys=None, remote_discovery="true"))
    assert f"warning[{CODE}]" in found


def test_a_signer_with_default_settings_stands_where_nobody_buys() -> None:
    alone = renting(runner(price='"0.10 USD / request"'), ticket_ev='"1000 gwei"')
    found = flagged(alone, CODE, Severity.WARNING)
    assert "clients of a signer with default settings cannot pay for runner echo" in found
    assert 'write price = "0.0475 USD / request" or less' in found
    silent(alone.replace("0.10 USD / request", "0.0475 USD / request"))
