"""Finds signatures in the text of a line.

In: the text of a line, without its wrappings but behind its source. Out: the codes it matches, with what stood for
each {}.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Generic, NamedTuple, TypeVar

from fleetc.observe.shapes import without_ids
from fleetc.upstream.signatures import Signature

_TEXT_LIMIT = 120
"""Characters that are kept of what stood for a {}."""

_PIECE = 5


class Hit(NamedTuple):
    """A signature in a line: its code, the text that gave it away, and what stood for each {}."""

    code: str
    literal: str
    parts: tuple[str, ...] = ()


class _Pattern(NamedTuple):
    """A pattern: the longest text that it needs, and the whole of it where it has a {}."""

    code: str
    general: bool
    literal: str
    whole: re.Pattern[str] | None


class Matcher:
    """All signatures, ready to be looked for."""

    def __init__(self, signatures: Iterable[Signature]) -> None:
        patterns = [_pattern(signature, text) for signature in signatures for text in signature.patterns]
        self._patterns = Candidates([(pattern.literal, pattern) for pattern in patterns])
        self.literals = tuple(sorted({pattern.literal for pattern in patterns}))

    def find(self, text: str) -> tuple[Hit, ...]:
        """The signatures in a text, each once; general ones only where there is no other. Ids have no meaning."""
        text = without_ids(text)
        special: dict[str, Hit] = {}
        general: dict[str, Hit] = {}
        for code, is_general, literal, whole in self._patterns.of(text):
            match = whole.search(text) if whole else None
            if whole and not match:
                continue
            parts = tuple(part[:_TEXT_LIMIT] for part in match.groups()) if match else ()
            kept = general if is_general else special
            if code not in kept or (parts and not kept[code].parts):
                kept[code] = Hit(code, literal, parts)
        return tuple((special or general).values())


T = TypeVar("T")


class Candidates(Generic[T]):
    """Values by their texts: quickly finds those with a text that is part of another.

    A few short pieces cover many texts, so that one search for a piece excludes most texts.
    """

    def __init__(self, needed: Iterable[tuple[str, T]]) -> None:
        left = list(needed)
        self._groups: list[tuple[str, list[tuple[str, T]]]] = []
        while left:
            common = Counter(piece for text, _ in left for piece in _pieces(text))
            piece = max(common, key=lambda piece: (common[piece], piece))
            self._groups.append((piece, [pair for pair in left if piece in pair[0]]))
            left = [pair for pair in left if piece not in pair[0]]

    def of(self, text: str) -> list[T]:
        """The values with a text that is part of this one, by group in their given order."""
        groups = [group for piece, group in self._groups if piece in text]
        return [value for group in groups for needed, value in group if needed in text]


def _pieces(text: str) -> set[str]:
    return {text[start : start + _PIECE] for start in range(max(1, len(text) - _PIECE + 1))}


def _pattern(signature: Signature, text: str) -> _Pattern:
    """A leading ^ is the beginning of the text, a letter at the end is the end of a word, and {} at the end takes one
    word."""
    start = r"\A" if text.startswith("^") else ""
    pieces = text.removeprefix("^").split("{}")
    end = r"([^\s\"\\]{1,400})" if not pieces[-1] else r"(?![A-Za-z])" if pieces[-1][-1].isalpha() else ""
    fixed = pieces if pieces[-1] else pieces[:-1]
    between = "(.{0,400}?)".join(map(re.escape, fixed))
    whole = re.compile(start + between + end) if start or end or len(fixed) > 1 else None
    return _Pattern(signature.code, signature.general, max(pieces, key=len), whole)
