"""A service address that was copied from the table of another host."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, host, onchain, orchestrator, printed

CODE = "service-address-of-another-host"
BOX = host("box", address='"203.0.113.40"', public='"box.example.net"')


def test_public_name_of_another_host(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(BOX, orchestrator(service='"Box.example.net:8935"')), CODE, Severity.WARNING) == snapshot


def test_address_of_another_host() -> None:
    assert "host box" in flagged(onchain(BOX, orchestrator(service='"203.0.113.40:8935"')), CODE, Severity.WARNING)


@pytest.mark.parametrize("name", ["orch.example.net", "elsewhere.example.net", "203.0.113.77"])
def test_own_name_and_names_of_no_host_are_fine(name: str) -> None:
    assert CODE not in printed(onchain(BOX, orchestrator(service=f'"{name}:8935"')), CODE)


def test_a_name_that_two_hosts_share_is_its_own_too() -> None:
    twin = host("twin", address='"203.0.113.41"', public='"orch.example.net"')
    assert CODE not in printed(onchain(twin, orchestrator(service='"orch.example.net:8935"')), CODE)
