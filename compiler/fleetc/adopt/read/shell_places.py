"""Finds where each character of a text stands that a shell makes of a quoted word, as in `sh -c "text"`.

In: the text, and the word as the script has it. Out: a place in the word for each character of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from fleetc.adopt.found.words import Word
from fleetc.places.diagnostic import Span

_VARIABLE = re.compile(r"\$(?:\{[^}]*\}|\([^)]*\)|[A-Za-z0-9_@*#?!-]+)")
_PLAIN = re.compile(r"[^$\"'\\]{1,40}")


def places(text: str, raw: str) -> list[int]:
    """The place of each character of `text` in `raw`; what stands for a variable is at its `$`."""
    verbatim = raw.find(text) if text else 0
    if verbatim >= 0:
        return list(range(verbatim, verbatim + len(text) + 1))
    found: list[int] = []
    at = 0
    while at < len(raw) and len(found) < len(text):
        variable = _VARIABLE.match(raw, at)
        if variable is not None:
            behind = _PLAIN.match(raw, variable.end())
            end = text.find(behind[0], len(found)) if behind is not None else -1
            found += [at] * max(0, end - len(found))
            at = variable.end()
            continue
        if raw[at] == text[len(found)]:
            found.append(at)
        at += 1
    return found + [found[-1] if found else 0] * (len(text) + 1 - len(found))


def mover(word: Word, inside: str, scripts: Mapping[str, str]) -> Callable[[Span], Span]:
    """What moves places in the text of a word, a source called `inside`, to where they are in its script."""
    script = scripts.get(word.span.source)
    raw = script[word.span.start : word.span.end] if script is not None else ""
    where = places(word.text, raw) if script is not None else [0] * (len(word.text) + 1)

    def move(span: Span) -> Span:
        if span.source != inside:
            return span
        start = where[min(span.start, len(where) - 1)]
        end = max(start, where[max(0, min(span.end, len(where) - 1) - 1)]) + 1
        return Span(word.span.source, word.span.start + start, min(word.span.start + end, word.span.end))

    return move
