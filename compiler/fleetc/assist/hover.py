"""Hover texts for a key, a value or a header: the field, the value in force with its origin, the meaning.

In: a page, an offset and the last snapshot. Out: Markdown with escaped text of the spec, without secrets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from fleetc.analysis.demand import GpuLoad
from fleetc.assist.names import gpu_at
from fleetc.assist.page import Page
from fleetc.assist.state import Snapshot
from fleetc.blueprint.market import MarketTables
from fleetc.language.editor import WORDS
from fleetc.language.quantities import Bytes
from fleetc.language.sharing import CLASSES, DEFAULTS, LIKE, in_the_language, tables
from fleetc.messages.related import codes_by_field
from fleetc.messages.setters import flags_of_field
from fleetc.messages.tables import Field, find, inline, plain_name
from fleetc.places.diagnostic import Path
from fleetc.text import leaks
from fleetc.text.counting import first_of
from fleetc.text.encoders import markdown_span, markdown_text
from fleetc.toml.document import Document, value_at
from fleetc.toml.edits import toml_key

_SHOWN = 12
_LONGEST = 200
_BEFORE = "From before the latest changes:"
_PRICES = ("price", "max_price", "max_model_prices", "gateway_prices")


class Hover(NamedTuple):
    """What is shown, as Markdown, for a stretch of the text."""

    text: str
    start: int
    end: int


def hover(page: Page, offset: int, snapshot: Snapshot, rests: bool = True) -> Hover | None:
    """The page at an offset; None if unknown. `rests`: the snapshot is of the texts as they are."""
    spot = page.at(offset)
    if spot is None:
        return None
    in_force = [*_in_force(spot.path, snapshot.document)]
    meant = [*_market(spot.path, snapshot), *_gpu(gpu_at(page, offset, snapshot.document), snapshot)]
    if in_force and not (rests and snapshot.read):
        in_force.insert(0, _BEFORE)
    elif meant and not (rests and snapshot.whole):
        meant.insert(0, _BEFORE)
    parts = [*_field(spot.path), *in_force, *meant]
    return Hover("\n\n".join(parts), spot.start, spot.end) if parts else None


def field_at(path: Path) -> tuple[str, Field] | None:
    """The field of the language at a path, with its dotted name."""
    here = in_the_language(path)
    if not here:
        return None
    named = [str(part) or "name" for part in here]
    return find(".".join(map(toml_key, named)))


def _field(path: Path) -> Iterator[str]:
    """The page of a field, as `fleetc explain` has it."""
    word = WORDS.get(str(path[-1])) or (WORDS[str(path[0])] if path[0] in (CLASSES, DEFAULTS) and not path[3:] else "")
    if word:
        yield f"**{path[-1] if str(path[-1]) in WORDS else path[0]}**"
        yield word
        return
    known = field_at(path)
    above = field_at(path[:-1]) if known is None else None
    if above is not None and (len(in_the_language(path)) == 2 or isinstance(path[-1], int) or not above[1].target):
        known = above
    if known is None:
        return
    title, field = known
    name = plain_name(title)
    kind = kind_words(field, single=above is not None)
    yield f"**{name}**" + (f": {kind}" if kind else "")
    yield " ".join(field.sentence.split())
    facts = [f"Unit: {field.unit}" if field.unit else ""]
    if above is None and field.default:
        facts.append("Required" if field.required else f"Default: {field.default_words}")
    flags = flags_of_field(name)
    facts.append(f"Sets: {', '.join(f'-{flag}' for flag in flags)}" if flags else "")
    codes = codes_by_field().get(name, ())
    facts.append(f"Codes: {', '.join(codes[:_SHOWN])}" if codes else "")
    shown = "  \n".join(filter(None, facts))
    if shown:
        yield shown


def kind_words(field: Field, single: bool = False) -> str:
    """The type of a field, in plain text; `single`: of one entry of a table of names."""
    kind = field.kind.replace("`", "")
    by_name = "table by name: "
    if not kind.startswith(by_name):
        return kind
    inner = kind.removeprefix(by_name)
    if inner == "table":
        return "" if single else "tables by name"
    return inner if single else kind


# ------------------------------------------------------------------------------------------------ what is in force


def _in_force(path: Path, document: Document | None) -> Iterator[str]:
    """The value in force with its origin; for a class or defaults, how many tables take it."""
    if document is None:
        return
    if path[:1] in ((CLASSES,), (DEFAULTS,)):
        yield from _taken(path, document)
        return
    if LIKE in path[2:]:
        path = path[:2]
    value = value_at(document.raw, path)
    if value is None:
        return
    if len(path) == 2 and path[0] in tables():
        yield from _inherited(path, value, document)
    elif len(path) > 1 or not isinstance(value, dict):
        yield f"In force: {code(value)}{_origin(path, document)}"


def code(value: Any) -> str:
    """A value of a spec as code in Markdown, without secrets and not too long."""
    text = inline(value)
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
    return markdown_span(leaks.shown(text))


def _origin(path: Path, document: Document) -> str:
    """The origin of a value if it is elsewhere: a class, defaults, another file."""
    at, span = document.said_at(path), document.span(path)
    where = "" if span is None else f", {markdown_span(span.source)}:{document.position(span.source, span.start)[0]}"
    if at[:2] == path[:2]:
        return f" (said here{where})" if where else ""
    return f" (from {markdown_span('.'.join(map(str, at[:-1])))}{where})"


def _inherited(path: Path, value: dict[str, Any], document: Document) -> Iterator[str]:
    """The values of a table that it takes from elsewhere."""
    taken = [key for key in value if document.said_at((*path, key))[:2] not in ((), path)]
    lines = [f"- {markdown_span(key)} = {code(value[key])}{_origin((*path, key), document)}" for key in taken]
    if lines:
        more = [f"- and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
        yield "\n".join(["Taken from elsewhere:", "", *lines[:_SHOWN], *more])


def _taken(path: Path, document: Document) -> Iterator[str]:
    """The tables that take their values from a class or from defaults."""
    layer = path[:3] if path[0] == CLASSES else path[:2]
    members = [".".join(map(str, member)) for member, layers in document.layers.items() if layer in layers]
    if members:
        shown = first_of([*map(markdown_span, members)], _SHOWN)
        yield f"{len(members)} tables take their values from here: {shown}"


# ------------------------------------------------------------------------------------------------ what it means


def _market(path: Path, snapshot: Snapshot) -> Iterator[str]:
    """Who buys at a price, or sells at a cap."""
    here = in_the_language(path)
    if snapshot.market is None or len(here) < 3 or not {*map(str, here[2:])}.intersection(_PRICES):
        return
    if here[0] == "models":
        yield from _sold(snapshot.market, "work", f"model {here[1]}", "")
    elif here[0] in ("gateways", "orchestrators"):
        yield from _sold(snapshot.market, str(here[0]).removesuffix("s"), str(here[1]), str(here[-1]))


def _sold(market: MarketTables, column: str, name: str, only: str) -> Iterator[str]:
    """The trades of a node or of a model; for a named price, only its trades."""
    rows = [row for row in market.rows if getattr(row, column) == name]
    rows = [row for row in rows if only in (row.gateway, row.work.removeprefix("model "))] or rows
    lines = [
        f"- {markdown_span(row.gateway)} from {markdown_span(row.orchestrator)}, {markdown_span(row.work)}: "
        f"{markdown_text(row.outcome)}; offer {markdown_span(row.asks)}, cap {markdown_span(row.pays)}"
        for row in sorted(rows, key=lambda row: not row.outcome.startswith("buys"))
    ]
    if not market.whole and column == "gateway":
        lines = [
            f"- {markdown_span(total.work)}: {total.within} of {total.offers} offers within the cap, {total.above} too "
            f"expensive, {total.refused} refused, {total.unknown} unknown"
            for total in market.summaries
            if total.gateway == name
        ]
    if lines:
        more = [f"- and {len(lines) - _SHOWN} more: fleetc check --explain-prices"] if len(lines) > _SHOWN else []
        yield "\n".join(["What it buys:" if column == "gateway" else "Who buys:", "", *lines[:_SHOWN], *more])


def _gpu(path: Path | None, snapshot: Snapshot) -> Iterator[str]:
    """What is left on a GPU."""
    load = snapshot.loads.get(path) if path is not None else None
    if load is None:
        return
    which = f"GPU {load.gpu} of {markdown_span(load.host)}, {markdown_span(load.model)}"
    yield f"{which}: {_memory(load)}; {_sessions(load)}"
    users = dict.fromkeys(demand.name for demand in load.demands)
    if users:
        yield f"Used by {', '.join(map(markdown_span, list(users)[:_SHOWN]))}"


def _memory(load: GpuLoad) -> str:
    if load.memory_total is None:
        return f"{Bytes(load.memory_used)} of memory used, and how much there is is not known"
    left = load.memory_total - load.memory_used
    return f"{Bytes(max(0, left))} of {Bytes(load.memory_total)} memory left" + (" (exceeded)" if left < 0 else "")


def _sessions(load: GpuLoad) -> str:
    total = load.sessions_total
    if not isinstance(total, int):
        return f"{load.sessions_used} encode sessions used of {total or 'an unknown number'}"
    return f"{max(0, total - load.sessions_used)} of {total} encode sessions left"
