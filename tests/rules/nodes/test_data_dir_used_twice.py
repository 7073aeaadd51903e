"""Data directories that are one, or one inside the other."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, free_gateway, free_orchestrator, host, offchain, silent, transcoder

CODE = "data-dir-used-twice"
OTHER = 'http = "127.0.0.1:9935"\n'


def test_same_directory(snapshot: SnapshotAssertion) -> None:
    one = free_gateway(data_dir='"/srv/node"')
    assert (
        flagged(
            offchain(
                one,
                free_orchestrator(host='"edge"', data_dir='"/srv/node"'),
            ),
            CODE,
        )
        == snapshot
    )


def test_sound_specs_are_silent() -> None:
    silent(offchain(free_gateway(http='"127.0.0.1:9935"'), free_orchestrator(host='"edge"')))
    # Directory with the same beginning is another one.
    second = free_gateway(data_dir='"/var/lib/livepeer/orch-2"', http='"127.0.0.1:9935"')
    silent(offchain(second, free_orchestrator(host='"edge"')))
    # Same directory on two hosts is fine.
    silent(offchain(free_gateway(data_dir='"/srv/node"'), free_orchestrator(data_dir='"/srv/node"')))


def test_directory_inside_another(snapshot: SnapshotAssertion) -> None:
    inner = free_gateway(data_dir='"/var/lib/livepeer/orch/gate"')
    assert flagged(offchain(inner, free_orchestrator(host='"edge"')), CODE) == snapshot


def test_each_directory_inside_is_reported() -> None:
    outer = free_gateway(data_dir='"/srv"', host='"other"')
    nodes = [
        transcoder(
            "a", host='"other"', data_dir='"/srv/a"', orchestrator='"x.example.net:8935"', secret='{ env = "S" }'
        ),
        transcoder(
            "b", host='"other"', data_dir='"/srv/b"', orchestrator='"x.example.net:8935"', secret='{ env = "S" }'
        ),
    ]
    found = flagged(offchain(host("other"), free_orchestrator(), outer, *nodes), CODE)
    assert "the data directory of a" in found
    assert "the data directory of b" in found
