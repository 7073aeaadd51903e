"""Gateways that name a signer of their fleet by its address."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, gateway, onchain, printed, signer

CODE = "signer-named-by-address"


def fleet(url: str, host: str = "gpu", **settings: str) -> str:
    """A signer on host edge, and a gateway that names this address, with a list of its own."""
    own = {"mode": '"ai"', "wallet": None, "max_price": None, "orchestrators": '["orch.example.net:8935"]'}
    behind = gateway(host=f'"{host}"', http='"127.0.0.1:9000"', remote_signer=f'{{ url = "{url}" }}', **own)
    return onchain(behind, signer(**{"auth_webhook": '"https://auth.example.net/signer"', **settings}))


def test_address_of_the_fleets_own_signer(snapshot: SnapshotAssertion) -> None:
    assert flagged(fleet("http://10.20.0.1:8935", http='"10.20.0.1:8935"'), CODE, Severity.WARNING) == snapshot


def test_with_https_the_gateway_never_starts(snapshot: SnapshotAssertion) -> None:
    assert flagged(fleet("https://edge.example.net:8935", http='"0.0.0.0:8935"'), CODE) == snapshot


@pytest.mark.parametrize("url", ["http://203.0.113.10:8935", "http://edge.example.net:8935"])
def test_all_addresses_of_a_host_are_those_of_a_signer_that_listens_on_all(url: str) -> None:
    assert flagged(fleet(url, http='"0.0.0.0:8935"'), CODE, Severity.WARNING)


def test_loopback_is_that_of_the_own_host() -> None:
    assert flagged(fleet("http://localhost:8935", host="edge"), CODE, Severity.WARNING)
    assert CODE not in printed(fleet("http://localhost:8935", host="gpu"))


def test_a_proxy_in_front_of_it_and_a_signer_elsewhere_are_fine() -> None:
    for url in ("https://edge.example.net", "http://10.20.0.1:8936", "http://signer.example.org:8935"):
        assert CODE not in printed(fleet(url, http='"10.20.0.1:8935"'))
