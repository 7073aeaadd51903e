"""Addresses inside the networks of slots."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import avatars, flagged, silent, staged

CODE = "slot-network-taken"


def test_address_of_the_host(snapshot: SnapshotAssertion) -> None:
    text = staged(avatars()).replace('address = "203.0.113.20"', 'address = "172.30.1.20"')
    assert flagged(text, CODE) == snapshot
    silent(text.replace("gpu = 1", 'slot_networks = "172.29.0.0/16"\ngpu = 1'))


def test_caller_and_edge(snapshot: SnapshotAssertion) -> None:
    text = staged(avatars(allow='["payments", "172.30.0.0/24"]', edge='{ addresses = ["172.30.1.9"] }'))
    assert flagged(text, CODE) == snapshot


def test_bridge_of_docker() -> None:
    assert "a bridge of Docker" in flagged(staged(avatars(slot_networks='"172.18.0.0/16"')), CODE)
    assert "a bridge of Docker" in flagged(staged(avatars(docker_gateways='["172.30.0.1"]')), CODE)


def test_network_of_a_slot_that_does_not_exist_is_fine() -> None:
    silent(staged(avatars(allow='["payments", "172.30.7.0/24"]')))
