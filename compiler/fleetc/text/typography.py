"""Quotes and spaces that word processors and chat programs put in place of plain ones.

In: pasted text. Out: the text as a keyboard writes it. Called by messages that suggest text.
"""

from __future__ import annotations

TYPED: dict[str, str] = {
    **dict.fromkeys("\u00a0\u2007\u202f", " "),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"'),
    **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
}
"""The plain character for each of them."""
_PLAIN = str.maketrans(TYPED)


def typed_plainly(text: str) -> str:
    """The text with plain quotes and spaces."""
    return text.translate(_PLAIN)
