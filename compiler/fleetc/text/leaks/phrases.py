"""Recognises recovery phrases: 12 to 24 English words of the list that wallets use (BIP-39).

In: a text. Out: whether it holds such words in a row, with any case and separators, and a right checksum (`find`).
Phrases in other languages are not recognised.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence

from fleetc.upstream.secret_forms import recovery_words

_WORD = re.compile(r"[A-Za-z]+")
_FEWEST = 12
_LENGTHS = (12, 15, 18, 21, 24)
SHORTEST = 47
"""Length of 12 words of three letters with separators."""


def find(text: str) -> tuple[bool, bool]:
    """Whether a text seems to hold a recovery phrase, and whether that is certain, by the checksum of the words."""
    if len(text) < SHORTEST:
        return False, False
    seems = False
    for row in _rows(text):
        seems = seems or len(row) in _LENGTHS
        if any(
            _is_row(row[start : start + size]) and _is_phrase(row[start : start + size])
            for size in _LENGTHS
            for start in range(len(row) - size + 1)
        ):
            return True, True
    return seems, False


def _rows(text: str) -> Iterator[list[int]]:
    """Rows of 12 and more words of the list, as their numbers."""
    numbers, row = recovery_words(), list[int]()
    for word in _WORD.finditer(text):
        number = numbers.get(word[0].lower())
        if number is not None:
            row.append(number)
            continue
        if _is_row(row):
            yield row
        row = []
    if _is_row(row):
        yield row


def _is_row(words: Sequence[int]) -> bool:
    """Whether there are enough words; a repeated word, as in numbered names, is not a phrase."""
    return len(words) >= _FEWEST and len(set(words)) > 1


def _is_phrase(words: Sequence[int]) -> bool:
    """Whether the last bits of the words match the SHA-256 of the bits before."""
    bits = len(words) * 11
    check = bits // 33
    number = 0
    for word in words:
        number = number << 11 | word
    entropy = (number >> check).to_bytes((bits - check) // 8, "big")
    return hashlib.sha256(entropy).digest()[0] >> (8 - check) == number & ((1 << check) - 1)
