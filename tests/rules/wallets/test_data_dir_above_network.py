"""Data directories that end above the directory of their network."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, gateway, onchain, silent, wallet

CODE = "data-dir-above-network"
BELOW = "/srv/lp/arbitrum-one-mainnet"


def _fleet(data_dir: str, keystore: str = f"{BELOW}/keystore") -> str:
    own = gateway(data_dir=f'"{data_dir}"', wallet='"third"')
    return onchain(own, wallet(keystore=f'"{keystore}"', deposit='"1 ETH"', reserve='"1 ETH"'))


def test_directory_above_that_of_the_network(snapshot: SnapshotAssertion) -> None:
    assert flagged(_fleet("/srv/lp"), CODE, Severity.WARNING) == snapshot


def test_directory_of_another_network_counts_too() -> None:
    shown = flagged(_fleet("/srv/lp", "/srv/lp/mainnet/keystore"), CODE, Severity.WARNING)
    assert "the keystore of gate is in /srv/lp/mainnet" in shown


def test_directory_with_the_keystore_in_it_is_fine() -> None:
    silent(_fleet(BELOW))


def test_keystore_of_its_own_is_fine() -> None:
    silent(_fleet("/srv/lp", "/srv/lp/keys/keystore"))
    silent(_fleet("/srv/lp", BELOW))
