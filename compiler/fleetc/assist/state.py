"""The result of the last check of an editor's texts: the snapshot for answers.

In: the sources of a spec, and the rules beside it. Out: `Snapshot`. An unreadable text still has diagnostics; names and
values then come from its last readable state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
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

    `document` is that of `readable`, the last texts that could be read, and `fleet` that of the last sound ones.
    `loads`, by the path of the GPU, and `market` are of the last texts that made a fleet, even one with errors of
    rules. Which of them are of `sources` themselves: `read` is about `document`, `sound` about `fleet`, `whole`
    about the others.
    """

    sources: tuple[Source, ...] = ()
    located: tuple[Located, ...] = ()
    repairs: Mapping[Fix, tuple[TextEdit, ...]] = field(default_factory=dict)
    readable: tuple[Source, ...] = ()
    document: Document | None = None
    fleet: Fleet | None = None
    loads: Mapping[Path, GpuLoad] = field(default_factory=dict)
    market: MarketTables | None = None
    read: bool = False
    sound: bool = False
    whole: bool = False

    @property
    def raw(self) -> Mapping[str, Any]:
        """The spec with everything written out; empty before the first text that could be read."""
        return self.document.raw if self.document is not None else {}

    @property
    def written(self) -> Mapping[str, Any]:
        """The spec in its source form."""
        return self.document.written if self.document is not None else {}


def check(sources: Sequence[Source], policies: Policies | None, today: date, before: Snapshot) -> Snapshot:
    """Check the texts as `fleetc check` does, and calculate what answers need. `before` is the last snapshot.

    While a text cannot be read, what is wrong elsewhere still is: it comes from a check with the last readable lines in
    place of those that were changed since.
    """
    checked = check_spec(sources, policies, today)
    located = tuple(locate(checked.diagnostics, checked.texts, checked.document))
    if checked.document is None and before.readable:
        located += _elsewhere(sources, policies, today, before.readable)
    loads, market, typed = before.loads, before.market, checked.typed
    if typed is not None:
        loads = {load.path: load for load in capacity(typed)}
        market = lower_market(typed)
    return Snapshot(
        tuple(sources),
        located,
        _repairs(sources, checked.document, located) if checked.document is not None else {},
        tuple(sources) if checked.document is not None else before.readable,
        checked.document or before.document,
        checked.fleet or before.fleet,
        loads,
        market,
        read=checked.document is not None,
        sound=checked.fleet is not None,
        whole=typed is not None,
    )


def _elsewhere(
    sources: Sequence[Source], policies: Policies | None, today: date, readable: Sequence[Source]
) -> tuple[Located, ...]:
    """What is wrong outside of the lines that were changed since all texts could be read; places stay true."""
    old = {source.name: source.text.split("\n") for source in readable}
    mended, changed = [], dict[str, range]()
    for source in sources:
        lines = source.text.split("\n")
        was = old.get(source.name, lines)
        start = _alike(lines, was)
        end = _alike(lines[start:][::-1], was[start:][::-1])
        size = len(lines) - end - start
        filled = (was[start : len(was) - end] + [""] * size)[:size]
        changed[source.name] = range(start + 1, start + size + 1)
        mended.append(replace(source, text="\n".join([*lines[:start], *filled, *lines[start + size :]])))
    checked = check_spec(mended, policies, today)
    if checked.document is None:
        return ()
    located = locate(checked.diagnostics, checked.texts, checked.document)
    return tuple(item for item in located if item.primary.line not in changed.get(item.primary.file, ()))


def _alike(lines: Sequence[str], others: Sequence[str]) -> int:
    """How many lines are equal from the first on."""
    pairs = zip(lines, others, strict=False)
    return next((number for number, (line, other) in enumerate(pairs) if line != other), min(len(lines), len(others)))


def _repairs(
    sources: Sequence[Source], document: Document, located: Sequence[Located]
) -> Mapping[Fix, tuple[TextEdit, ...]]:
    """The certain fixes that may be shown: none that stands beside a secret, or that would write one."""
    wanted = [
        item.diagnostic.fix
        for item in located
        if item.diagnostic.fix is not None and not item.withheld and not item.primary.hidden
    ]
    replacements = fixes.replacements(sources, document, wanted) if wanted else {}
    return {fix: pieces for fix, pieces in replacements.items() if all(leaks.may_show(piece.text) for piece in pieces)}
