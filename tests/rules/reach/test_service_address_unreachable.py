"""Addresses at which gateways cannot reach an orchestrator."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import (
    SECRET,
    flagged,
    free_gateway,
    free_orchestrator,
    host,
    offchain,
    onchain,
    orchestrator,
    silent,
    transcoder,
)

CODE = "service-address-unreachable"


def test_wildcard(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(free_orchestrator(service='"0.0.0.0:8935"')), CODE) == snapshot


def test_public_name_is_fine() -> None:
    silent(onchain(orchestrator(service='"orch.example.net:8935"')))


@pytest.mark.parametrize("where", ["127.0.0.1", "10.1.2.3", "[::1]", "[fc00::1]", "orch.internal", "localhost"])
def test_private_addresses_mean_nothing_on_a_chain(where: str) -> None:
    assert "a public network" in flagged(onchain(orchestrator(service=f'"{where}:8935"')), CODE)


def test_a_name_of_one_label_may_be_known_to_those_who_need_it(snapshot: SnapshotAssertion) -> None:
    text = onchain(orchestrator(service='"orch:8935"', http='"0.0.0.0:8935"'))
    assert flagged(text, CODE, Severity.WARNING) == snapshot
    silent(offchain(free_orchestrator(service='"orch:8935"')))


def test_private_address_of_the_host_is_one_too() -> None:
    text = onchain(host("lan", public='"192.168.1.5"'), orchestrator(host='"lan"'))
    assert 'public = "192.168.1.5"' in flagged(text, CODE)


def test_private_address_offchain_is_fine() -> None:
    silent(offchain(free_orchestrator(service='"10.1.2.3:8935"'), free_gateway()))


def test_loopback_with_a_gateway_elsewhere(snapshot: SnapshotAssertion) -> None:
    text = offchain(free_orchestrator(service='"127.0.0.1:8935"'), free_gateway())
    assert flagged(text, CODE) == snapshot


def test_loopback_with_all_on_one_host_is_fine() -> None:
    near = free_gateway(host='"gpu"', http='"127.0.0.1:9935"')
    silent(offchain(free_orchestrator(service='"localhost:8935"'), near))


def test_worker_elsewhere_needs_a_real_address_too() -> None:
    far = transcoder(host='"edge"')
    assert "worker runs on host edge" in flagged(
        offchain(free_orchestrator(service='"127.0.0.1:8935"', secret=SECRET), far), CODE
    )


def test_wildcard_is_wrong_whatever_the_spelling() -> None:
    assert flagged(offchain(free_orchestrator(service='"http://[::]:8935"')), CODE)


CONTROLLER = '"0x4444444444444444444444444444444444444444"'


@pytest.mark.parametrize("where", ["10.1.2.3", "orch.internal", "127.0.0.1"])
def test_private_address_on_a_network_of_ones_own_is_fine(where: str) -> None:
    silent(onchain(orchestrator(service=f'"{where}:8935"'), network='"devnet"', controller=CONTROLLER))


def test_wildcard_and_far_loopback_are_wrong_on_a_network_of_ones_own() -> None:
    devnet = {"network": '"devnet"', "controller": CONTROLLER}
    assert "all addresses" in flagged(onchain(orchestrator(service='"0.0.0.0:8935"'), **devnet), CODE)
    far = transcoder(host='"edge"', secret=SECRET)
    text = onchain(orchestrator(service='"127.0.0.1:8935"', secret=SECRET), far, **devnet)
    assert "worker runs on host edge" in flagged(text, CODE)
