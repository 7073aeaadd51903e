"""One rendition pushed to one target twice."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import broadcast, flagged, silent, stream

CODE = "stream-target-twice"


def _targets(first: str, second: str) -> str:
    return broadcast(stream(multistream=f"{{ targets = [{first}, {second}] }}"))


def test_same_id(snapshot: SnapshotAssertion) -> None:
    one = '{ profile = "source", id = "5a1b" }'
    assert flagged(_targets(one, one.replace(" }", ", videoOnly = true }")), CODE) == snapshot


def test_same_address() -> None:
    one = '{ profile = "source", spec = { url = { env = "TARGET_URL" } } }'
    assert "twice" in flagged(_targets(one, one), CODE)


def test_another_rendition_or_target_is_fine() -> None:
    one = '{ profile = "source", id = "5a1b" }'
    silent(_targets(one, one.replace("source", "720p0")))
    silent(_targets(one, one.replace("5a1b", "5a1c")))
    silent(_targets(one, '{ profile = "source", spec = { url = { env = "A" } } }'))
