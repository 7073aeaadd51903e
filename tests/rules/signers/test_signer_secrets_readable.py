"""Headers for a signer that cross the internet without TLS."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, gateway, onchain, printed, signer

CODE = "signer-secrets-readable"
WITH_HEADERS = '{ signer = "signer", headers = { env = "HEADERS" } }'


def fleet(http: str, remote: str = WITH_HEADERS, host: str = "gpu") -> str:
    """A signer on host edge, and a gateway behind it."""
    behind = gateway(mode='"ai"', wallet=None, max_price=None, host=f'"{host}"', http='"127.0.0.1:9000"')
    behind = behind.replace("[gateways.gate]", f"[gateways.gate]\nremote_signer = {remote}")
    found = signer(http=f'"{http}"', auth_webhook='"https://auth.example.net/signer"', remote_discovery="true")
    return onchain(behind, found)


def test_signer_at_the_public_name_of_its_host(snapshot: SnapshotAssertion) -> None:
    assert flagged(fleet("0.0.0.0:8935"), CODE, Severity.WARNING) == snapshot


@pytest.mark.parametrize("http", ["203.0.113.10:8935", "[2001:db8::1]:8935", "172.32.0.1:8935"])
def test_address_that_the_internet_reaches(http: str) -> None:
    assert flagged(fleet(http), CODE, Severity.WARNING)


@pytest.mark.parametrize(
    "http", ["10.20.0.1:8935", "100.64.1.1:8935", "192.168.1.1:8935", "172.31.0.1:8935", "[fd00::1]:8935"]
)
def test_private_network_is_fine(http: str) -> None:
    assert CODE not in printed(fleet(http))


def test_the_same_host_and_a_gateway_without_headers_are_fine() -> None:
    assert CODE not in printed(fleet("0.0.0.0:8935", host="edge"))
    assert CODE not in printed(fleet("0.0.0.0:8935", '{ signer = "signer" }'))
