"""Takes secrets out of texts that others wrote: messages of the service, and values of an observed stream.

In: any text. Out: the text without what may be a key. A message about a refused credential can repeat the credential,
so that only plain words and short numbers of a message are kept.
"""

from __future__ import annotations

import re

from fleetc.text import leaks
from fleetc.text.encoders import visible

REMOVED = "[removed]"
HIDDEN = "[secret]"
_CHUNK = re.compile(r"[^\s\"'`{}\[\](),:;<>/\\.=&?|]+")
_PLAIN = re.compile(r"[A-Za-z]{1,18}|[0-9]{1,6}|[-+*!#%$_@^~]{1,3}|[A-Za-z]{1,14}(?:[-_'][A-Za-z]{1,14}){1,3}")
_LIMIT = 300


def message(text: str) -> str:
    """A message of the service: its words, without anything that may be a key or a token."""
    words = _CHUNK.sub(lambda found: found[0] if _PLAIN.fullmatch(found[0]) else REMOVED, text[:_LIMIT])
    return visible(leaks.masked(words) if leaks.find(words) is None else REMOVED)


def value(text: str) -> str:
    """A value of an observed stream that is no secret by its place; `HIDDEN` where it looks like one all the same."""
    return visible(leaks.masked(text)) if leaks.find(text) is None else HIDDEN
