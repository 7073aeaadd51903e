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
