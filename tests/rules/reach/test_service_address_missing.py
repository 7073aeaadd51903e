"""Orchestrators without a full address."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, free_gateway, free_orchestrator, host, offchain, silent

CODE = "service-address-missing"


def test_neither_node_nor_host_has_one(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(host("bare"), free_orchestrator(host='"bare"')), CODE) == snapshot


def test_address_of_the_host_is_enough() -> None:
    silent(offchain(free_orchestrator()))


def test_address_without_a_port(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(free_orchestrator(service='"orch.example.net"')), CODE) == snapshot


def test_address_with_a_port_is_fine() -> None:
    silent(offchain(host("bare"), free_orchestrator(host='"bare"', service='"bare.example.net:8935"')))


def test_the_node_starts_without_a_port_where_its_listener_is_stated(snapshot: SnapshotAssertion) -> None:
    orch = free_orchestrator(service='"https://orch.example.net"', http='"0.0.0.0:8935"')
    text = offchain(orch, free_gateway())
    assert flagged(text, CODE, Severity.WARNING) == snapshot


def test_plain_http_keeps_its_scheme_in_the_advice() -> None:
    orch = free_orchestrator(service='"http://orch.example.net"')
    assert 'write service = "http://orch.example.net:8935"' in flagged(offchain(orch), CODE)
