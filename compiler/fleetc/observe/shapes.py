"""The shape of a text that no signature knows: what stays when ids and numbers are left out.

In: what a line says. Out: its shape, in which <n> is a number, <address> an account, <hex>, <id>, <ip> and <url> what
their names say. Lines of one shape are one kind of message.
"""

from __future__ import annotations

import re
from itertools import pairwise

LIMIT = 300
"""Most characters of a shape."""

_PARTS = re.compile(
    r"(?P<url>\b[a-z][a-z0-9+.-]{1,15}://[^\s\"'<>]{1,400})"
    r"|(?P<address>\b0x[0-9a-fA-F]{40}\b)"
    r"|(?P<hex>\b0x[0-9a-fA-F]+\b)"
    r"|(?P<uuid>\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b)"
    r"|(?P<ip>\b[0-9]{1,3}(?:\.[0-9]{1,3}){3}\b)"
    r"|(?P<id>\b(?=[A-Za-z_+-]{0,40}[0-9])(?=[0-9_+-]{0,40}[A-Za-z])[A-Za-z0-9_+-]{8,200}\b)"
    r"|(?P<n>[0-9]+(?:\.[0-9]+)*)"
)
_HEX = re.compile(r"[0-9a-f]{8,}")
_RENDITION = re.compile(r"P[0-9]+p[0-9]+fps[0-9]+x[0-9]+")


def shape_of(text: str) -> str:
    """The shape of a text, cut to `LIMIT` characters."""
    return _PARTS.sub(_word, text[: 4 * LIMIT]).strip()[:LIMIT]


def _word(match: re.Match[str]) -> str:
    kind = match.lastgroup
    if kind == "id" and not _is_id(match[0]):
        return re.sub("[0-9]+", "<n>", match[0])
    return "<id>" if kind == "uuid" else f"<{kind}>"


def _is_id(word: str) -> bool:
    """Whether a word of letters and digits is an id, and not a name with a number, such as P240p30fps16x9."""
    if _HEX.fullmatch(word):
        return True
    changes = sum(a.isdigit() != b.isdigit() for a, b in pairwise(word))
    return changes >= 3 and not _RENDITION.fullmatch(word)
