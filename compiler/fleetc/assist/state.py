"""The result of the last check of an editor's texts: the snapshot for answers.

In: the sources of a spec, and the rules beside it. Out: `Snapshot`. An unreadable text still has diagnostics; names and
values then come from its last readable state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import takewhile
from typing import Any

from fleetc.analysis.capacity import capacity
from fleetc.analysis.demand import GpuLoad
from fleetc.assist.page import Page
from fleetc.blueprint.market import MarketTables
from fleetc.language.fleet import Fleet
from fleetc.lower.market import lower_market
from fleetc.messages.locate import Located, locate
from fleetc.messages.repairs import Repair, repairs
from fleetc.pipeline import check_spec
from fleetc.places.diagnostic import Path
from fleetc.policy.judging import Policies
from fleetc.toml.document import REMOVE, Document, Source
from fleetc.toml.scan import parse_key


@dataclass(frozen=True)
class Snapshot:
    """One check. `sources` are the texts that `located` is about, and `repairs` those of each.

    `document` is that of `readable`, the last texts that could be read, and `fleet` that of the last sound ones.
    `loads`, by the path of the GPU, and `market` are of the last texts that made a fleet, even one with errors of
    rules. Which of them are of `sources` themselves: `read` is about `document`, `sound` about `fleet`, `whole`
    about the others.
    """

    sources: tuple[Source, ...] = ()
    located: tuple[Located, ...] = ()
    repairs: tuple[tuple[Repair, ...], ...] = ()
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
    broken = {item.primary.file for item in located}
    rest = [sources[0], *(source for source in sources[1:] if source.name not in broken)]
    if checked.document is None and before.document is None and len(rest) < len(sources):  # for names at least
        before = check(rest, policies, today, before)
    elif checked.document is None and before.readable:
        located += _elsewhere(sources, policies, today, before.readable)
    loads, market, typed = before.loads, before.market, checked.typed
    if typed is not None:
        loads = {load.path: load for load in capacity(typed)}
        market = lower_market(typed)
    return Snapshot(
        tuple(sources),
        located,
        tuple(repairs(located, sources, checked.document)),
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
        start = alike(lines, was)
        end = alike(lines[start:][::-1], was[start:][::-1])
        size = len(lines) - end - start
        filled = (was[start : len(was) - end] + [""] * size)[:size]
        changed[source.name] = range(start + 1, start + size + 1)
        mended.append(replace(source, text="\n".join([*lines[:start], *filled, *lines[start + size :]])))
    checked = check_spec(mended, policies, today)
    if checked.document is None:
        return ()
    located = locate(checked.diagnostics, checked.texts, checked.document)
    return tuple(item for item in located if item.primary.line not in changed.get(item.primary.file, ()))


def alike(some: Sequence[object], others: Sequence[object]) -> int:
    """How many items, such as lines, are equal from the first on."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(some, others, strict=False)))


def caused(item: Located, overlay: str, page: Page) -> Located:
    """A problem that stands elsewhere, at the place of an overlay that has most in common with it; else at its top."""
    words, best, start, end = item.diagnostic.message, 1, 0, 0
    named = [label.place for label in (item.diagnostic.primary, *item.diagnostic.related)]
    for path, block, mark in page.leaves():
        first, last = block.body + mark.start, block.body + mark.end
        removed = (parse_key(page.text[first + 1 : last - 1]) or ()) if path[0] == REMOVE and path[1:] else ()
        common = max(alike(removed or path, place) if isinstance(place, tuple) else 0 for place in named)
        common += 2 * (removed[-1:] != () and f'"{removed[-1]}"' in words)
        if common > best:
            best, start, end = common, first, last
    (line, column), (end_line, end_column) = map(page.lines.position, (start, end))
    note = f"at {item.primary.file}:{item.primary.line}" if item.primary.line else item.primary.file
    place = item.primary._replace(
        file=overlay, line=line * (best > 1), column=column, end_line=end_line, end_column=end_column, note=note
    )
    return item._replace(primary=place, related=(item.primary, *item.related))
