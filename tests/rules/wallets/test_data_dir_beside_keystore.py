"""Data directories beside, above and in a keystore."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import (
    SECRET,
    flagged,
    free_gateway,
    free_orchestrator,
    gateway,
    offchain,
    onchain,
    orchestrator,
    silent,
    transcoder,
    wallet,
)

CODE = "data-dir-beside-keystore"


KEYSTORE = '"/var/lib/livepeer/keystore"'


def test_directory_that_is_written_out(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(gateway(data_dir=KEYSTORE)), CODE) == snapshot
    silent(onchain(gateway()))


def test_default_directory_of_a_node_named_keystore(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(gateway("keystore")), CODE) == snapshot
    silent(onchain(gateway("keystore", data_dir='"/var/lib/livepeer/keystore-node"')))


def test_keystore_of_another_node_of_the_host() -> None:
    text = onchain(orchestrator(secret=SECRET), transcoder("keystore", secret=SECRET))
    assert "data directory of keystore on host gpu" in flagged(text, CODE)


def test_sound_specs_are_silent() -> None:
    # Keystore inside the data directory is fine.
    silent(onchain(gateway(data_dir='"/var/lib/livepeer"')))
    silent(onchain(orchestrator(secret=SECRET), transcoder("keystore", host='"edge"', secret=SECRET)))
    # No keystore is used offchain.
    silent(offchain(free_gateway("keystore"), free_orchestrator()))
    # Directory with the keystore in it is fine.
    silent(_fleet(BELOW))
    silent(_fleet("/srv/lp", "/srv/lp/keys/keystore"))
    silent(_fleet("/srv/lp", BELOW))


BELOW = "/srv/lp/arbitrum-one-mainnet"


def _fleet(data_dir: str, keystore: str = f"{BELOW}/keystore") -> str:
    own = gateway(data_dir=f'"{data_dir}"', wallet='"third"')
    return onchain(own, wallet(keystore=f'"{keystore}"', deposit='"1 ETH"', reserve='"1 ETH"'))


def test_directory_above_that_of_the_network(snapshot: SnapshotAssertion) -> None:
    assert flagged(_fleet("/srv/lp"), CODE, Severity.WARNING) == snapshot


def test_directory_of_another_network_counts_too() -> None:
    shown = flagged(_fleet("/srv/lp", "/srv/lp/mainnet/keystore"), CODE, Severity.WARNING)
    assert "the keystore of gate is in /srv/lp/mainnet" in shown
