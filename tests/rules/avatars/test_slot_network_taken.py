"""Addresses inside the networks of slots."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import avatars, checked, flagged, host, silent, staged

CODE = "slot-network-taken"


def test_address_of_the_host(snapshot: SnapshotAssertion) -> None:
    text = staged(avatars()).replace('address = "203.0.113.20"', 'address = "172.30.1.20"')
    assert flagged(text, CODE) == snapshot
    silent(text.replace("gpu = 1", 'slot_networks = "172.29.0.0/16"\ngpu = 1'))


def test_caller_and_edge(snapshot: SnapshotAssertion) -> None:
    text = staged(avatars(allow='["payments", "172.30.0.0/24"]', edge='{ addresses = ["172.30.1.9"] }'))
    assert flagged(text, CODE) == snapshot


def test_addresses_in_urls_of_services() -> None:
    payments = '{ addresses = ["203.0.113.90"], url = "http://172.30.1.9:8081" }'
    assert "172.30.1.9 belongs to the payments service" in flagged(staged(avatars(payments=payments)), CODE)
    edge = '{ url = "https://172.30.0.9/config", token = { env = "EDGE_TOKEN" } }'
    assert "172.30.0.9 belongs to the control plane" in flagged(staged(avatars(edge=edge)), CODE)
    assert "172.30.0.9 belongs to the STUN server" in flagged(staged(avatars(stun='"172.30.0.9:3478"')), CODE)
    silent(staged(avatars(stun='"172.30.2.9:3478"', payments=payments.replace("172.30.1.9", "payments.example.net"))))


def test_payments_service_is_named_once() -> None:
    found = flagged(staged(avatars(payments='{ addresses = ["172.30.1.9"] }')), CODE)
    assert "172.30.1.9 belongs to the payments service" in found
    assert "1 error\n" in found


def test_address_of_another_host_is_a_warning(snapshot: SnapshotAssertion) -> None:
    text = staged(avatars(), host("other", address='"172.30.1.30"'))
    assert flagged(text, CODE, Severity.WARNING) == snapshot
    silent(text.replace("172.30.1.30", "172.30.2.30"))
    silent(text.replace("172.30.1.30", "other.example.net"))


def test_address_that_the_stack_names_too_is_reported_once() -> None:
    text = staged(avatars(edge='{ addresses = ["172.30.1.30"] }'), host("other", address='"172.30.1.30"'))
    assert "belongs to an edge" in flagged(text, CODE)


def test_network_that_is_offered_is_free() -> None:
    wide = flagged(staged(avatars(allow='["payments", "172.16.0.0/12"]')), CODE)
    assert 'slot_networks = "10.200.0.0/16"' in wide
    moved = staged(avatars(allow='["payments", "172.16.0.0/12"]', slot_networks='"10.200.0.0/16"'))
    assert {d.code for d in checked(moved).diagnostics} == {"allowlist-unfit"}
    near = staged(avatars(allow='["payments", "172.30.0.0/24"]'), host("other", address='"172.29.7.1"'))
    assert 'slot_networks = "172.28.0.0/16"' in flagged(near, CODE)
    everything = staged(avatars(allow='["payments", "10.0.0.0/8", "172.16.0.0/12", "100.64.0.0/10"]'))
    assert "a private network where nothing else has an address" in flagged(everything, CODE)


def test_bridge_of_docker() -> None:
    assert "a bridge of Docker" in flagged(staged(avatars(slot_networks='"172.18.0.0/16"')), CODE)
    assert "a bridge of Docker" in flagged(staged(avatars(docker_gateways='["172.30.0.1"]')), CODE)


def test_network_of_a_slot_that_does_not_exist_is_fine() -> None:
    silent(staged(avatars(allow='["payments", "172.30.7.0/24"]')))
