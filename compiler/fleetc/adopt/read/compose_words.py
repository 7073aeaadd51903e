"""Cuts the command of a Compose file into words, as a shell does but without comments, and finds where each stands.

In: the text of a command, before and after variables are filled in. Out: pieces, their texts, and their places.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

VARIABLE = re.compile(
    r"\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)(?:(:?[-?+])((?:[^{}]|\{[^{}]*\})*))?\}|\$([A-Za-z_][A-Za-z0-9_]*)"
)
"""A variable of Compose: its name, and what stands for it without a value."""

_WORD = re.compile(r"(?:\"(?:\\.|[^\"\\])*\"|'[^']*'|\\.|[^\s\"'\\])+", re.DOTALL)
_PIECE = re.compile(r"\"((?:\\.|[^\"\\])*)\"|'([^']*)'|\\(.)|([^\"'\\]+)", re.DOTALL)
_RAW_WORD = re.compile(r"[^\s\"'>|]\S*")


def lone_variable(raw: str) -> tuple[str, int]:
    """The variable that a text is, or that follows its last sign `=`, and how many characters stand before it."""
    if "$" not in raw:
        return "", 0
    behind = raw.rfind("=", 0, raw.find("$") + 1) + 1
    lone = VARIABLE.fullmatch(raw, behind)
    return ((lone[1] or lone[4] or ""), behind) if lone is not None else ("", 0)


def names_in(raw: str) -> set[str]:
    """The variables in a text."""
    return {found[1] or found[4] for found in VARIABLE.finditer(raw) if found[0] != "$$"} if "$" in raw else set()


def place_of(piece: str, raw: str, place: int) -> tuple[int, int]:
    """Where a word stands in the text of a command; nowhere is an empty place."""
    at = raw.find(piece, place)
    following = _RAW_WORD.search(raw, place)
    if following is not None and "$" in following[0] and (at < 0 or following.start() < at):
        return following.start(), following.end()
    return (at, at + len(piece)) if at >= 0 else (place, place)


_HOLE_WITH_SPACES = re.compile(r"<[A-Za-z][^<>\n]{0,80}>")


def spaced_holes(text: str) -> Iterator[str]:
    """The words of a command; a placeholder with spaces, such as <YOUR ARB RPC>, is one word."""
    kept = _HOLE_WITH_SPACES.sub(lambda found: found[0].replace(" ", "\x00"), text)
    for match in _WORD.finditer(kept):
        yield match[0].replace("\x00", " ")


def unquoted(text: str) -> str:
    """A word without its quotes and backslashes."""
    if not re.search(r"[\"'\\]", text):
        return text

    def one(found: re.Match[str]) -> str:
        if found[1] is not None:
            return re.sub(r"\\([\"\\$`\n])", r"\1", found[1])
        return next(group for group in (found[2], found[3], found[4]) if group is not None)

    return _PIECE.sub(one, text)
