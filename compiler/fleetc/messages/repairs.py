"""The edits that diagnostics carry, as pieces of text: certain ones, which `check --fix` makes, and suggested ones.

In: located diagnostics, the sources and the document. Out: the repairs of each diagnostic, without those that stand
beside a secret or would write one. Editors, JSON and SARIF show the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from fleetc import fixes
from fleetc.messages.locate import Located
from fleetc.messages.offers import offers
from fleetc.messages.text import deeds
from fleetc.places.diagnostic import Fix
from fleetc.text import leaks
from fleetc.toml.document import Document, Source
from fleetc.toml.edits import TextEdit


class Repair(NamedTuple):
    """One edit of a diagnostic: `deed` is what it does, as the end of a sentence."""

    fix: Fix
    certain: bool
    deed: str
    pieces: tuple[TextEdit, ...]


def repairs(
    located: Sequence[Located], sources: Sequence[Source], document: Document | None
) -> list[tuple[Repair, ...]]:
    """The repairs of each diagnostic, the best first."""
    if document is None:
        return [() for _ in located]
    shown = [_fixes(item, document) for item in located]
    ranks = [[some[rank] for some in shown if some[rank:]] for rank in range(max(map(len, shown), default=0))]
    pieces = fixes.replacements(sources, document, *ranks)
    pieces = {fix: some for fix, some in pieces.items() if all(leaks.may_show(piece.text) for piece in some)}
    return [
        tuple(Repair(fix, fix == item.diagnostic.fix, deeds(item, fix), pieces[fix]) for fix in some if fix in pieces)
        for item, some in zip(located, shown, strict=True)
    ]


def _fixes(item: Located, document: Document) -> tuple[Fix, ...]:
    if item.withheld or item.primary.hidden:
        return ()
    certain = item.diagnostic.fix
    return offers(item.diagnostic, document) if certain is None else (certain,)
