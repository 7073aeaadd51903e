"""What a check of the texts in an editor found, kept until the next one: the snapshot that answers are taken from.

In: the sources of a spec, and the rules beside it. Out: `Snapshot`. A text that cannot be read still has diagnostics;
names and values then come from the last one that could be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from fleetc import fixes
from fleetc.analysis.capacity import capacity
from fleetc.analysis.demand import GpuLoad
from fleetc.blueprint.market import MarketTables
from fleetc.language.fleet import Fleet
from fleetc.lower.market import lower_market
from fleetc.messages.locate import Located, locate
from fleetc.pipeline import check_spec
from fleetc.places.diagnostic import Fix, Path
from fleetc.policy.judging import Policies
from fleetc.text import leaks
from fleetc.toml.document import Document, Source
from fleetc.toml.edits import TextEdit


@dataclass(frozen=True)
class Snapshot:
    """One check. `sources` are the texts that `located` and `repairs` are about.

    `document` and `fleet` are those of the last texts that could be read, or were sound; so are `loads`, by the path of
    the GPU, and `market`. `sound` says that `fleet` is that of `sources`.
    """

    sources: tuple[Source, ...] = ()
    located: tuple[Located, ...] = ()
    repairs: Mapping[Fix, tuple[TextEdit, ...]] = field(default_factory=dict)
    document: Document | None = None
    fleet: Fleet | None = None
    loads: Mapping[Path, GpuLoad] = field(default_factory=dict)
    market: MarketTables | None = None
    sound: bool = False

    @property
    def raw(self) -> Mapping[str, Any]:
        """The spec with everything written out; empty before the first text that could be read."""
        return self.document.raw if self.document is not None else {}

    @property
    def written(self) -> Mapping[str, Any]:
        """The spec as its sources say it."""
        return self.document.written if self.document is not None else {}


def check(sources: Sequence[Source], policies: Policies | None, today: date, before: Snapshot) -> Snapshot:
    """Check the texts as `fleetc check` does, and calculate what answers need. `before` is the last snapshot."""
    found = check_spec(sources, policies, today)
    located = tuple(locate(found.diagnostics, found.texts, found.document))
    fleet, loads, market = before.fleet, before.loads, before.market
    if found.fleet is not None:
        fleet = found.fleet
        loads = {load.path: load for load in capacity(fleet)}
        market = lower_market(fleet)
    document = found.document or before.document
    repairs = _repairs(sources, found.document, located) if found.document is not None else {}
    return Snapshot(tuple(sources), located, repairs, document, fleet, loads, market, found.fleet is not None)


def _repairs(
    sources: Sequence[Source], document: Document, located: Sequence[Located]
) -> Mapping[Fix, tuple[TextEdit, ...]]:
    """The certain fixes that may be shown: none that stands beside a secret, or that would write one."""
    wanted = [
        item.diagnostic.fix
        for item in located
        if item.diagnostic.fix is not None and not item.withheld and not item.primary.hidden
    ]
    found = fixes.replacements(sources, document, wanted) if wanted else {}
    return {fix: pieces for fix, pieces in found.items() if all(leaks.may_show(piece.text) for piece in pieces)}
