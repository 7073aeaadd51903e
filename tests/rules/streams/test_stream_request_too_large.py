"""Requests and tags that are too long."""

from __future__ import annotations

import json

from syrupy.assertion import SnapshotAssertion

from fleetc.emit.artifacts import json_document
from tests.rules.support import broadcast, flagged, listed, rung, silent, stream
from tests.support import compile_text

CODE = "stream-request-too-large"


LIMIT = 102_400


def _told(length: int, char: str = "x") -> str:
    """A stream whose request has `length` bytes as short JSON; lines of a spec are shorter than that."""
    start = '{"name":"main","playbackPolicy":{"type":"webhook","webhookId":"w","webhookContext":{"a":"","b":""}}}'
    count, rest = divmod(length - len(start), len(char.encode()))
    half = count // 2
    texts = f'a = "{char * half}"\nb = "{char * (count - half)}{"x" * rest}"\n'
    policy = '[streams.main.playbackPolicy]\ntype = "webhook"\nwebhookId = "w"\n'
    return broadcast(stream(), f"{policy}[streams.main.playbackPolicy.webhookContext]\n{texts}")


def test_one_byte_too_many(snapshot: SnapshotAssertion) -> None:
    assert f"has {LIMIT + 1} bytes as JSON, more than {LIMIT}" in flagged(_told(LIMIT + 1), CODE)
    rungs = listed(*(rung(f"{'n' * 490}-{place}") for place in range(200)))
    found = flagged(broadcast(stream(record="true", profiles=rungs)), CODE)
    assert "help: shorten profiles, which has" in found
    assert found == snapshot


def test_sound_specs_are_silent() -> None:
    silent(_told(LIMIT))
    silent(_tagged(2048))
    silent(_tagged(2048, "ü"))


def test_bytes_are_counted_and_not_characters() -> None:
    silent(_told(LIMIT, "ü"))
    assert f"has {LIMIT + 2} bytes" in flagged(_told(LIMIT + 2, "ü"), CODE)


def test_placeholders_count_as_they_stand() -> None:
    def pulled(count: int) -> str:
        headers = "\n".join(f'X-{place:04} = {{ env = "HEADER_{place:04}" }}' for place in range(count))
        pull = '[streams.main.pull]\nsource = "https://a.example/x"\n'
        return broadcast(stream(), f"{pull}[streams.main.pull.headers]\n{headers}\n")

    one = len('"X-0000":{"$secret":{"env":"HEADER_0000"}},')
    rest = len('{"name":"main","pull":{"source":"https://a.example/x","headers":{}}}')
    most = (LIMIT - rest + 1) // one  # no comma behind the last
    silent(pulled(most))
    assert "shorten pull" in flagged(pulled(most + 1), CODE)


def test_measure_is_that_of_the_file_without_spaces() -> None:
    plan = compile_text(_told(LIMIT)).blueprint
    assert plan is not None
    (planned,) = plan.streams
    short = json.dumps(json.loads(json_document(planned.request.content)), ensure_ascii=False, separators=(",", ":"))
    assert len(short.encode()) == LIMIT


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
