"""How two values of a change are shown beside each other: cut to a length, by element, and where they differ.

In: the old and the new value. Out: plain text that no target has encoded yet.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from fleetc.review.data import Change
from fleetc.review.lines import shared_ends
from fleetc.review.reports.wording import clip
from fleetc.text.counting import counted

_TOKEN = re.compile(r"[A-Za-z0-9_.-]+|.", re.DOTALL)


def clip_pair(old: str | None, new: str | None, limit: int) -> tuple[str | None, str | None]:
    """Both values cut so that the first difference between them is in sight."""
    if old is None or new is None or max(len(old), len(new)) <= limit + 20:
        return (None if old is None else clip(old, limit)), (None if new is None else clip(new, limit))
    same, _ = shared_ends(old, new)
    start = max(0, same - limit // 3) if same > limit // 2 else 0
    before = "..." if start else ""
    return before + clip(old[start:], limit), before + clip(new[start:], limit)


def values(change: Change, limit: int, arrow: str, shown: Callable[[str], str], listed: Callable[[str], str]) -> str:
    """What becomes of a value, as the end of a sentence: what a list loses and gains, or the value before and after.

    `shown` writes a value, which is cut already, and `listed` elements of a list, which are not.
    """
    differ = elements(change)
    if differ is not None:
        signed = (("-", differ.gone), ("+", differ.come), ("moved:", differ.moved))
        return ": " + " ".join(f"{sign} {listed(text)}" for sign, text in signed if text is not None)
    old, new = clip_pair(change.old, change.new, limit)
    before, after = (shown(text) if text else "(empty)" for text in (old, new))
    if old is None:
        return "" if new is None else f" added: {after}"
    return f" removed, was: {before}" if new is None else f": {before} {arrow} {after}"


class Elements(NamedTuple):
    """What a list loses and gains, and what stands elsewhere in it than before, as text; None where there is nothing.

    What is at another place only because others come or go has not moved.
    """

    gone: str | None
    come: str | None
    moved: str | None


_PROSE = ("text", "silence")
"""Kinds of changes whose values are sentences, in which a comma separates no elements."""


def elements(change: Change) -> Elements | None:
    """The elements in which two lists differ; None where there are no two lists with elements in common."""
    if change.old is None or change.new is None or change.kind in _PROSE:
        return None
    in_lines = change.kind == "order"  # the entries of a file by their names, one a line
    old, new = (text.split("\n") if in_lines else _listed(text) for text in (change.old, change.new))
    gone, come = Counter(old) - Counter(new), Counter(new) - Counter(old)
    kept, stay = ([part for part in parts if part not in other] for parts, other in ((old, gone), (new, come)))
    if not kept or not (gone or come or kept != stay):
        return None
    return Elements(
        ", ".join(gone.elements()) or None, ", ".join(come.elements()) or None, _moved(kept, stay, old, new)
    )


_COMPARED = 1_000
"""Up to so many elements each one that moved is found."""


def _moved(kept: Sequence[str], stay: Sequence[str], old: Sequence[str], new: Sequence[str]) -> str | None:
    """The elements of both lists whose order differs, as few as possible, each with its places counted from 1."""
    if kept == stay:
        return None
    if max(len(kept), len(stay)) > _COMPARED or len(set(kept)) < len(kept):
        return f"the order of {counted(len(kept), 'element')}"
    steps = SequenceMatcher(None, kept, stay, autojunk=False).get_opcodes()
    parts = [part for tag, first, last, _, _ in steps if tag != "equal" for part in kept[first:last]]
    return ", ".join(f"{part} from place {old.index(part) + 1} to {new.index(part) + 1}" for part in parts)


def _listed(text: str) -> list[str]:
    """The elements of a list, with commas between them and perhaps brackets around; none where it has other signs."""
    inner = text[1:-1] if text[:1] == "[" and text[-1:] == "]" else text
    parts = [part.strip() for part in inner.split(",")]
    return parts if all(parts) and not set(inner) & set("[]{}\n") else []


def differing(old: str, new: str) -> tuple[tuple[str, str, str], tuple[str, str, str]]:
    """Both texts as (same start, what differs, same end), cut between words and signs."""
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    start, end = shared_ends(before, after)
    return _thirds(before, start, end), _thirds(after, start, end)


def _thirds(tokens: Sequence[str], start: int, end: int) -> tuple[str, str, str]:
    stop = len(tokens) - end
    return "".join(tokens[:start]), "".join(tokens[start:stop]), "".join(tokens[stop:])
