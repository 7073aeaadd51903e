"""Answers that TODO comments offer: `# TODO key = value  # why` becomes `key = value`.

In: a text and a part of it. Out: for each such line there, where the edit is and its text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import tomli

_OFFER = re.compile(r"^[ \t]*#[ \t]*TODO ([A-Za-z_][A-Za-z0-9_.]* = .*)$", re.MULTILINE)


def offered(text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    """The lines from `start` to `end` whose comment is an answer as it stands: begin, end, and the answer."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    for line in _OFFER.finditer(text, first, len(text) if last < 0 else last):
        place = line[1].find("  # ")
        while place >= 0 and not _is_answer(line[1][:place]):
            place = line[1].find("  # ", place + 1)
        if place >= 0:
            yield line.start(), line.end(), line[1][:place]


def _is_answer(text: str) -> bool:
    """Whether a text is one key with a ready value; dots are for you to fill in."""
    try:
        tomli.loads(text)
    except tomli.TOMLDecodeError:
        return False
    return "..." not in text
