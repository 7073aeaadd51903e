"""Data directories that are keystores."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

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
)

CODE = "data-dir-is-keystore"
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


def test_keystore_inside_the_data_directory_is_fine() -> None:
    silent(onchain(gateway(data_dir='"/var/lib/livepeer"')))


def test_keystore_on_another_host_is_fine() -> None:
    silent(onchain(orchestrator(secret=SECRET), transcoder("keystore", host='"edge"', secret=SECRET)))


def test_no_keystore_is_used_offchain() -> None:
    silent(offchain(free_gateway("keystore"), free_orchestrator()))
