"""The shape of an unknown text: the text without ids and numbers.

In: the text of a line. Out: its shape: <n> is a number, <address> an account, and there are <hex>, <id>, <ip> and
<url>. Lines of one shape are one kind of message.
"""

from __future__ import annotations

import re
from functools import lru_cache

LIMIT = 300
"""Most characters of a shape."""

_URL = re.compile(r"(?<![A-Za-z0-9+.-])[a-z][a-z0-9+.-]{1,15}://[^\s\"'<>]{1,400}")
_WITH_DIGITS = re.compile(r"(?<![A-Za-z0-9_+-])[A-Za-z_+-]*+[0-9][A-Za-z0-9_+-]*(?:\.[A-Za-z0-9_+-]+)*")
_WHOLE = re.compile(
    r"(?P<n>[+-]?[0-9]+(?:\.[0-9]+)?)"
    r"|(?P<address>0x[0-9a-fA-F]{40})"
    r"|(?P<hex>0x[0-9a-fA-F]+)"
    r"|(?P<id>[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})"
    r"|(?P<ip>[0-9]{1,3}(?:\.[0-9]{1,3}){3})"
)
_NAMED_ID = re.compile(r"(?<=ID)=[^\s\"\\',;\]]+", re.ASCII)
_HEX = re.compile(r"[0-9a-f]{8,}")
_RUNS = re.compile(r"[a-z]+|[A-Z]+|[0-9]+")
_RENDITION = re.compile(r"P[0-9]+p[0-9]+fps[0-9]+x[0-9]+")
_DIGITS = re.compile(r"[0-9]+")


def shape_of(text: str) -> str:
    """The shape of a text, cut to `LIMIT` characters."""
    text = text[: 4 * LIMIT]
    if "://" in text:
        text = _URL.sub("<url>", text)
    text = without_ids(text)
    return _WITH_DIGITS.sub(_word, text).strip()[:LIMIT]


def without_ids(text: str) -> str:
    """A text with <id> for the value of each name that ends with ID."""
    return _NAMED_ID.sub("=<id>", text) if "ID=" in text else text


def _word(match: re.Match[str]) -> str:
    word = match[0]
    return "<n>" if word.isdecimal() else _shape_of_word(word)


@lru_cache(maxsize=4096)
def _shape_of_word(word: str) -> str:
    """The placeholder for a word with digits."""
    whole = _WHOLE.fullmatch(word)
    if whole:
        return f"<{whole.lastgroup}>"
    return ".".join("<id>" if _is_id(part) else _DIGITS.sub("<n>", part) for part in word.split("."))


def _is_id(word: str) -> bool:
    """Whether a word of letters and digits is an id, and not a name with a number, such as P240p30fps16x9."""
    if _HEX.fullmatch(word):
        return True
    return len(word) >= 8 and 3 * len(_RUNS.findall(word)) > len(word) and not _RENDITION.fullmatch(word)
