"""Lines of a journal come back as they were written, and no change of them goes unnoticed."""

from __future__ import annotations

import json

import pytest

from fleetc.rollout.journal.lines import JournalEntry, JournalLineError, decode, encode

ENTRIES = tuple(
    JournalEntry("2026-01-31T09:00:00Z", "run", what, {"hosts": ["a"], "reason": f'{number} "\n\u2028 \ud800 é'})
    for number, what in enumerate(("begin", "batch", "host", "end"))
)


def written(fleet: str = "demo") -> bytes:
    chain, found = "0" * 64, b""
    for entry in ENTRIES:
        line, chain = encode(entry, fleet, chain)
        found += line
    return found


def test_entries_come_back() -> None:
    decoded = decode(written(), "demo")
    assert decoded.entries == ENTRIES
    assert decoded.size == len(written())
    line, _ = encode(ENTRIES[0], "demo", decoded.chain)
    assert len(decode(written() + line, "demo").entries) == 5


def test_only_the_last_line_may_be_torn() -> None:
    whole = written()
    starts = [0] + [at + 1 for at, byte in enumerate(whole) if byte == 10]
    for size in range(len(whole)):
        decoded = decode(whole[:size], "demo")
        assert decoded.size == max(start for start in starts if start <= size)
        assert decoded.entries == ENTRIES[: len(decoded.entries)]


def test_every_change_of_a_byte_is_noticed() -> None:
    whole = written()
    for at in range(0, len(whole) - 1):
        changed = bytearray(whole)
        changed[at] = ord("x") if changed[at] != ord("x") else ord("y")
        with pytest.raises(JournalLineError):
            decode(bytes(changed), "demo")


def test_removed_moved_and_repeated_lines_are_noticed() -> None:
    lines = written().splitlines(keepends=True)
    for changed in (lines[1:], [lines[0], *lines[2:]], [lines[1], lines[0], *lines[2:]], [*lines, lines[-1]]):
        with pytest.raises(JournalLineError) as failure:
            decode(b"".join(changed), "demo")
        assert failure.value.code == "journal-damaged"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (written("other"), "journal-other-fleet"),
        (b'{"format": 2}\n', "journal-newer"),
        (b"[1]\n", "journal-damaged"),
        (b"\xff\xfe\n", "journal-damaged"),
        (b"[" * 100_000 + b"\n", "journal-damaged"),
        (json.dumps({"format": 1, "fleet": "demo"}).encode() + b"\n", "journal-damaged"),
    ],
)
def test_lines_of_others(content: bytes, code: str) -> None:
    with pytest.raises(JournalLineError) as failure:
        decode(content, "demo")
    assert (failure.value.code, failure.value.line) == (code, 1)
