"""Targets that lead nowhere, or to two places."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import broadcast, flagged, silent, stream

CODE = "stream-target-id-or-spec"


SPEC = '{ url = { env = "TARGET_URL" } }'


def _target(more: str) -> str:
    return broadcast(stream(multistream=f'{{ targets = [{{ profile = "source"{more} }}] }}'))


def test_neither(snapshot: SnapshotAssertion) -> None:
    assert flagged(_target(""), CODE) == snapshot


def test_both(snapshot: SnapshotAssertion) -> None:
    assert flagged(_target(f', id = "5a1b", spec = {SPEC}'), CODE) == snapshot


def test_one_of_them_is_fine() -> None:
    silent(_target(', id = "5a1b"'))
    silent(_target(f", spec = {SPEC}"))
