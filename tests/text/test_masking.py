"""Known secrets are found in every spelling that a text may give them."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleetc.text.masking import HIDDEN, Mask

SECRET = 'a/b+c d"e\\ü%é&=0123456789'


@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        quote(SECRET, safe=""),
        quote(SECRET),
        quote_plus(SECRET),
        json.dumps(SECRET),
        json.dumps(SECRET, ensure_ascii=False),
        base64.b64encode(SECRET.encode()).decode(),
        base64.urlsafe_b64encode(SECRET.encode()).decode(),
    ],
)
def test_spelling_is_masked(text: str) -> None:
    mask = Mask([SECRET, "other-0123456789"])
    shown = mask.masked(f"before {text} after {text}")
    assert mask.finds(text)
    assert HIDDEN in shown and "0123456789" not in shown
    assert shown.startswith("before ") and " after " in shown


@given(st.text(alphabet="abcXYZ019/+ .-_=%", max_size=60))
def test_only_the_secret_is_taken_out(text: str) -> None:
    mask = Mask(["q/ü"])
    assert mask.masked(text) == text and not mask.finds(text)
    assert mask.masked(f"{text}q/ü{text}q%2F%C3%BC") == f"{text}{HIDDEN}{text}{HIDDEN}"


def test_longer_secret_is_masked_as_a_whole() -> None:
    assert Mask(["abcdef", "abcdef-and-more"]).masked("abcdef-and-more") == HIDDEN
