"""Reserves that are too small for a ticket."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, gateway, model, onchain, orchestrator, printed, signer, silent

CODE = "reserve-backs-no-ticket"
LISTED = gateway(orchestrators='["orch"]')


def _with(reserve: str, *tables: str, **fleet: str) -> str:
    return onchain(*(tables or (LISTED, orchestrator())), **fleet).replace(
        'reserve = "0.3 ETH"', f'reserve = "{reserve}"'
    )


def test_too_small_at_the_assumed_gas_price(snapshot: SnapshotAssertion) -> None:
    assert flagged(_with("0.005 ETH"), CODE, Severity.WARNING) == snapshot


def test_what_the_help_says_is_enough_and_the_last_wei_counts() -> None:
    assert '"0.0061 ETH"' in flagged(_with("0.005 ETH"), CODE, Severity.WARNING)
    silent(_with("0.0061 ETH"))
    at_cost = _with("0.006 ETH")  # 100 x the 0.00006 ETH of redeeming at 0.05 gwei
    assert printed(at_cost, CODE) == "no problems\n"
    assert "tickets-not-redeemed" in printed(at_cost)
    assert flagged(_with("0.0059999999999999 ETH"), CODE, Severity.WARNING)


def test_gas_price_and_lowest_gas_price_count() -> None:
    silent(_with("0.005 ETH", gas_price='"0.04 gwei"'))
    assert flagged(_with("0.3 ETH", gas_price='"2.6 gwei"'), CODE, Severity.WARNING)
    dear = orchestrator(min_gas_price='"2.6 gwei"')
    assert "0.32 ETH" in flagged(_with("0.3 ETH", LISTED, dear), CODE, Severity.WARNING)


def test_reserve_below_one_ticket_is_an_error_whatever_the_chain_does() -> None:
    rich = orchestrator(ticket_ev='"100 gwei"')
    assert flagged(_with("100 gwei", LISTED, rich), CODE)
    assert flagged(_with("100 gwei", gateway(), rich), CODE, Severity.WARNING)
    assert flagged(_with("1199 gwei"), CODE)  # redeeming at 0.001 gwei, were there one orchestrator alone
    assert flagged(_with("1200 gwei"), CODE, Severity.WARNING)


def test_reserve_of_a_signer_counts() -> None:
    behind = gateway(wallet=None, max_price=None, mode='"ai"', orchestrators='["orch"]')
    behind += 'remote_signer = { signer = "signer" }\n'
    live = model(pipeline='"live-video-to-video"', id='"scope"')
    seller = orchestrator(mode='"ai"', gpus="[0]", models='[{ use = "realvis" }]')
    text = _with("0.005 ETH", live, behind, signer(max_price='"any"'), seller)
    assert "wallet payer" in printed(text, CODE)


def test_no_tickets_no_warning() -> None:
    assert printed(_with("0.005 ETH", LISTED, orchestrator(price='"0 wei / pixel"')), CODE) == "no problems\n"
    blocked = gateway(selection='{ blocked = ["0x2222222222222222222222222222222222222222"] }')
    assert "ticket of an orchestrator with default settings" in flagged(
        _with("0.005 ETH", blocked, orchestrator()), CODE, Severity.WARNING
    )  # nobody here sells to it, but it may find others
