"""A review says that the token of the stream API goes elsewhere, at the line that sends it there."""

from __future__ import annotations

import pytest

from tests.review.support import classes, review
from tests.rules.support import broadcast, stream

API = '\n[stream_api]\nbase_url = "https://streams.example.net/api"\ntoken = { env = "STREAM_TOKEN" }\n'
SPEC = broadcast(stream()) + API


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("streams.example.net", "streams.example.org", "stream API: base_url"),
        ("STREAM_TOKEN", "ANOTHER_TOKEN", "stream API: token"),
    ],
)
def test_token_that_goes_elsewhere_is_exposure(old: str, new: str, what: str) -> None:
    found = review(SPEC, SPEC.replace(old, new))
    (change,) = [change for change in found.changes if change.kind == "stream_api"]
    assert change.what == what
    assert new in str(change.new) and old in str(change.old)
    assert "exposure" in classes(found)


def test_new_api_is_told() -> None:
    found = review(broadcast(stream()), SPEC)
    assert {change.what for change in found.changes if change.kind == "stream_api"} == {
        "stream API: base_url",
        "stream API: token",
    }


@pytest.mark.parametrize(
    ("field", "becomes"),
    [
        ({"userTags": "{ seats = 1 }"}, "--apply brings back the service's default"),
        ({"suspended": "true"}, "--apply brings back the service's default"),
        ({"record": "true"}, "--apply brings back the service's default"),
        ({"creatorId": '"user-1"'}, "the service never takes it away"),
    ],
)
def test_removed_field_says_what_it_becomes(field: dict[str, str], becomes: str) -> None:
    found = review(broadcast(stream(**field)), broadcast(stream()))
    (change,) = [change for change in found.changes if change.kind == "stream"]
    assert [effect.text for effect in change.effects] == [becomes]
