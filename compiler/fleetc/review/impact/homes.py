"""Finds the change that brings a fact, so that each fact is told once.

In: deltas, a `Fact`. Out: the delta that it belongs to. Called by `effects.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from fleetc.review.impact.facts import Fact
from fleetc.review.impact.meanings import meaning
from fleetc.review.items.deltas import Delta


class Homes:
    """Finds the change that brings a fact."""

    def __init__(self, deltas: Sequence[Delta]) -> None:
        self._all = list(deltas)
        self._of_node: dict[str, list[Delta]] = {}
        for delta in self._all:
            self._of_node.setdefault(delta.item.node or delta.item.host, []).append(delta)

    def of(self, fact: Fact) -> Delta | None:
        """What the fact hints at on its node or of who else is concerned, or what comes and goes; else anywhere."""
        own = self._of_node.get(fact.node, [])
        others = [delta for name in fact.who for delta in self._of_node.get(name, ())]
        likely = [d for d in own if fact.impact in meaning(d.item, "").computed or d.item.presence]
        near = _hinted(own, fact.hints) or _hinted(others, fact.hints) or next(iter(likely), None)
        return near or _hinted(self._all, fact.hints) or next(iter((*own, *self._all)), None)


def _hinted(deltas: Sequence[Delta], hints: Sequence[str]) -> Delta | None:
    """The change with the likeliest name: what comes or goes as a whole, then any, then one that others follow from."""
    named = [delta for hint in hints for delta in deltas if delta.item.what.startswith(hint)]
    whole = [delta for delta in named if delta.item.presence]
    followed = (d for hint in hints for d in deltas if any(part.item.what.startswith(hint) for part in d.follows))
    return next(iter(whole or named or followed), None)
