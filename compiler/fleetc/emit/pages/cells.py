"""Text of the spec in the cell of a table.

In: text. Out: Markdown text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from fleetc.blueprint.tasks import NAMED
from fleetc.emit.templates import Encoded, Word
from fleetc.text.encoders import markdown_cell

_PLAIN = re.compile(r"[A-Za-z0-9._/:-]+(?: [A-Za-z0-9._/:-]+)*")
_WORDS = re.compile(r"[A-Za-z0-9 ,.'_-]+")


@lru_cache(maxsize=65536)
def cell(text: str) -> Encoded:
    """Text of the spec as code in a cell. Plain text needs no character references and stays readable in the source."""
    return Encoded(f"`{text}`" if _PLAIN.fullmatch(text) else markdown_cell(text))


@lru_cache(maxsize=65536)
def text(words: str) -> Encoded:
    """Words of fleetc's own, which may name a release or an account; as code where they hold anything else.

    An address among them is code by itself.
    """
    if "://" in words and " " in words:
        return Encoded(" ".join(map(text, words.split(" "))))
    return Encoded(words) if _WORDS.fullmatch(words) else cell(words)


@lru_cache(maxsize=65536)
def word(text: str) -> Word:
    """A bare word; cached, because thousands of rows have the same few."""
    return Word(text)


def named(names: Sequence[str]) -> Encoded:
    """The first few names; a number of the others would change with each of them."""
    return Encoded(", ".join(map(cell, names[:NAMED])) + (" and others" if len(names) > NAMED else ""))
