"""What the avatar stack says of itself, compared with its release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.host_program.program import loaded

COMMIT = "0123456789abcdef0123456789abcdef01234567"
STACK = {"services": ["orchestrator-health"], "prefix": "AVATAR", "commit": COMMIT}
TAG = {"AVATAR_SERVICE_IMAGE_TAG": "v1.3.6"}

WELL: dict[str, tuple[int, Any]] = {
    "as it should be": (200, {"env": TAG, "git": {"mode": "detached", "ref": "", "sha": COMMIT}}),
    "a short commit": (200, {"env": TAG, "git": {"sha": COMMIT[:7].upper()}}),
    "no git": (200, {"env": TAG, "git": None}),
    "no tag": (200, {"env": {"AVATAR_SERVICE_IMAGE_TAG": None}}),
    "another shape": (200, {"env": ["v1.3.5"], "git": "main"}),
    "no object": (200, [1, 2]),
    "not allowed": (403, None),
    "an old one": (404, {"detail": "Not Found"}),
}
ILL: dict[str, tuple[int, Any, str, str]] = {
    "no answer": (0, None, "unanswered", "orchestrator-health does not answer"),
    "another tag": (
        200,
        {"env": {"AVATAR_SERVICE_IMAGE_TAG": "v1.3.5"}},
        "ill",
        "images of v1.3.5 instead of v1.3.6",
    ),
    "another commit": (
        200,
        {"env": TAG, "git": {"sha": "f" * 40}},
        "ill",
        "the checkout is at ffffffffffff instead",
    ),
}


def said(root: Path, answer: tuple[int, Any]) -> dict[str, list[str]]:
    program = loaded(root)
    program |= {"get": lambda *_: answer, "settings_in": lambda _path: TAG}
    found: dict[str, list[str]] = program["judged_by_meta"](STACK)
    return found


@pytest.mark.parametrize("case", WELL)
def test_what_is_as_it_should_be_or_unknown_is_well(tmp_path: Path, case: str) -> None:
    assert said(tmp_path, WELL[case]) == {}


@pytest.mark.parametrize("case", ILL)
def test_what_differs_is_named(tmp_path: Path, case: str) -> None:
    status, body, kind, words = ILL[case]
    ((found, (text,)),) = said(tmp_path, (status, body)).items()
    assert found == kind and words in text
