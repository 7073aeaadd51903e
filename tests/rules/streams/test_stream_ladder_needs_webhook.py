"""Streams whose gateway would give them other renditions."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import broadcast, flagged, ladder, listed, rung, silent, small, stream

CODE = "stream-ladder-needs-webhook"


TWO = (ladder(small(), name="small"), ladder(rung(), name="large"))
WEBHOOK = '"https://hooks.example.net/streams"'


def _main(**settings: str) -> str:
    return stream("main", gateway='"gate"', **settings)


def _phone(**settings: str) -> str:
    return stream("phone", gateway='"gate"', **settings)


def test_two_streams_with_different_ladders(snapshot: SnapshotAssertion) -> None:
    text = broadcast(*TWO, _main(ladder='"large"'), _phone(ladder='"small"'))
    assert flagged(text, CODE) == snapshot


def test_gateway_with_another_ladder(snapshot: SnapshotAssertion) -> None:
    assert flagged(broadcast(*TWO, _main(ladder='"large"'), ladder='"small"'), CODE) == snapshot


def test_unsound_specs_are_flagged() -> None:
    # Gateway with built in renditions.
    text = broadcast(*TWO, _main(ladder='"large"'), renditions='["P360p30fps16x9"]')
    assert "those of the gateway" in flagged(text, CODE)
    # Default differs from a ladder.
    assert "different renditions" in flagged(broadcast(*TWO, _main(), _phone(ladder='"small"')), CODE)


def test_source_only_cannot_be_said_in_a_file(snapshot: SnapshotAssertion) -> None:
    assert flagged(broadcast(_main(profiles="[]")), CODE) == snapshot
    silent(broadcast(_main(profiles="[]"), auth_webhook=WEBHOOK))


def test_webhook_is_fine() -> None:
    silent(broadcast(*TWO, _main(ladder='"large"'), _phone(ladder='"small"'), auth_webhook=WEBHOOK))
    silent(broadcast(*TWO, _main(ladder='"large"'), ladder='"small"', auth_webhook=WEBHOOK))


def test_one_ladder_for_all_is_fine() -> None:
    silent(broadcast(*TWO, _main(ladder='"small"'), _phone(ladder='"small"')))
    silent(broadcast(*TWO, _main(ladder='"small"'), _phone(profiles=listed(small(fpsDen="1", quality="0")))))
    silent(broadcast(*TWO, _main(ladder='"small"'), ladder='"small"'))
    silent(broadcast(_main(), _phone()))
    silent(broadcast(stream(profiles="[]")))
