"""One account with several service addresses."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, gateway, host, onchain, orchestrator, printed, wallet

CODE = "service-address-not-registered"


BOX = host("box", address='"203.0.113.40"', public='"orch-2.example.net"')


def _fleet(*tables: str, first: str | None = None, **second: str | None) -> str:
    return onchain(BOX, orchestrator(instances=first), orchestrator("orch-2", host='"box"', **second), *tables)


def test_one_account_and_two_addresses(snapshot: SnapshotAssertion) -> None:
    assert flagged(_fleet(), CODE, Severity.WARNING) == snapshot


def test_an_advertised_instance_is_fine() -> None:
    assert printed(_fleet(first='["https://orch-2.example.net:8935"]'), CODE) == "no problems\n"


def test_one_that_a_gateway_lists_is_fine() -> None:
    assert printed(_fleet(gateway(orchestrators='["orch", "orch-2"]')), CODE) == "no problems\n"
    assert (
        printed(_fleet(gateway(orchestrators='["orch", "https://orch-2.example.net:8935"]')), CODE) == "no problems\n"
    )


def test_an_account_for_each_is_fine() -> None:
    assert printed(_fleet(wallet(), wallet='"third"'), CODE) == "no problems\n"


def test_the_registered_account_counts() -> None:
    account = '"0x4444444444444444444444444444444444444444"'
    assert flagged(
        onchain(BOX, wallet(), orchestrator(orchestrator_address=account),
                orchestrator("orch-2", host='"box"', wallet='"third"', orchestrator_address=account)),
        CODE, Severity.WARNING,
    )  # fmt: skip


LISTED = gateway(orchestrators='["orch"]')


def test_one_that_is_left_out_of_the_lists(snapshot: SnapshotAssertion) -> None:
    """The others are listed, so one address would do: if it is its own."""
    assert flagged(_fleet(LISTED), CODE, Severity.WARNING) == snapshot


def test_the_one_that_advertises_the_others_is_the_registered_one() -> None:
    third = orchestrator("orch-3", host='"box"', service='"orch-3.example.net:9035"', cli='"127.0.0.1:7936"')
    assert printed(_fleet(LISTED, third, instances='["https://orch-3.example.net:9035"]'), CODE) == "no problems\n"


def test_an_orchestrator_does_not_name_itself() -> None:
    assert flagged(_fleet(LISTED, instances='["https://orch-2.example.net:8935"]'), CODE, Severity.WARNING)


def test_a_webhook_may_name_it() -> None:
    webhook = gateway("other", discovery='{ webhook = { env = "LIST" } }', cli='"127.0.0.1:5936"')
    assert printed(_fleet(LISTED, webhook), CODE) == "no problems\n"
