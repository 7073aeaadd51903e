"""Takes known secret values out of text, in every spelling that a text may give them.

In: a text, and values. Out: the text with `HIDDEN` in their places. `leaks/` finds text that looks like a secret; this
finds known secrets of any form.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable

HIDDEN = "[secret]"
_RESERVED = re.compile(r"[^A-Za-z0-9._~-]")
_NOT_IN_PATHS = re.compile(r"[^A-Za-z0-9._~/-]")


class Mask:
    """Secret values, and their spellings in addresses, JSON and base64."""

    def __init__(self, values: Iterable[str]) -> None:
        spellings = {spelling for value in values for spelling in _spellings(value)}
        self._spellings = sorted(spellings, key=lambda text: (-len(text), text))

    def masked(self, text: str) -> str:
        """The text without any of them."""
        for spelling in self._spellings:
            text = text.replace(spelling, HIDDEN)
        return text

    def finds(self, text: str) -> bool:
        """Whether one of them is in a text."""
        return any(spelling in text for spelling in self._spellings)


def _spellings(value: str) -> Iterable[str]:
    coded = base64.b64encode(value.encode()).decode().rstrip("=")
    quoted = _RESERVED.sub(_percent, value)
    yield from (value, quoted, quoted.replace("%20", "+"), _NOT_IN_PATHS.sub(_percent, value))
    yield from (json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1])
    yield from (coded, coded.replace("+", "-").replace("/", "_"))


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode())
