"""Tags that are too long."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import broadcast, flagged, silent, stream

CODE = "stream-tags-too-long"


def _tagged(length: int, char: str = "x") -> str:
    """Tags that are `length` characters as compact JSON: {"t":"..."}."""
    return broadcast(stream(userTags=f'{{ t = "{char * (length - 8)}" }}'))


def test_one_too_many(snapshot: SnapshotAssertion) -> None:
    assert "are 2049 characters" in flagged(_tagged(2049), CODE)
    assert flagged(broadcast(stream("b", userTags=f"{{ a = [{', '.join(['1234.5'] * 300)}] }}")), CODE) == snapshot


def test_two_units_for_a_character_beyond_the_first_plane() -> None:
    wide = "\N{GRINNING FACE}"
    silent(broadcast(stream(userTags=f'{{ t = "{wide * 1020}" }}')))
    assert "are 2050 characters" in flagged(broadcast(stream(userTags=f'{{ t = "{wide * 1021}" }}')), CODE)


def test_limit_is_fine() -> None:
    silent(_tagged(2048))
    silent(_tagged(2048, "ü"))
