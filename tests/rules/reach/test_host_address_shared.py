"""Hosts with one address."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, free_orchestrator, host, offchain, silent

CODE = "host-address-shared"


def test_two_hosts_with_one_address(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(host("copy", address='"203.0.113.10"')), CODE) == snapshot


def test_two_machines_are_fine() -> None:
    silent(offchain(host("other")))


def test_machines_behind_one_address_differ_by_ssh_port() -> None:
    silent(offchain(host("other", address='"203.0.113.10"', ssh_port="2222")))


def test_spelling_of_an_ipv6_address_does_not_hide_it() -> None:
    one = host("a", address='"2001:db8::1"')
    assert flagged(offchain(one, host("b", address='"2001:DB8:0:0::1"')), CODE)


def test_two_machines_with_one_name(snapshot: SnapshotAssertion) -> None:
    text = offchain(free_orchestrator(), host("gpu-2", public='"orch.example.net"'))
    assert flagged(text, CODE, Severity.WARNING) == snapshot
    silent(offchain(free_orchestrator(), host("gpu-2", public='"orch-2.example.net"')))
