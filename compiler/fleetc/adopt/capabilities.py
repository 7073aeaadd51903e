"""Fills the capabilities (BYOC) of orchestrators from the documents with which somebody registers them.

In: documents among the sources, and the tables of orchestrators. Out: capabilities in these tables. A document names no
orchestrator: it belongs to the one beside it, as in the tree that fleetc writes, or to the only one that there is.
Source: what the node's /capability/register reads at release v0.9.1, byoc/job_orchestrator.go.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Mapping, Sequence
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from typing import Any

from fleetc.adopt.documents import DocumentError, currency, parsed_json
from fleetc.adopt.filling import Filling
from fleetc.adopt.reading import Running
from fleetc.adopt.session import Session, Table
from fleetc.adopt.words import Fate, Ledger
from fleetc.language.quantities import (
    RUNNER_UNITS,
    WEI_IN_ETHER,
    QuantityError,
    RunnerPrice,
    canonical_number,
    parse_url,
)
from fleetc.places.diagnostic import Span
from fleetc.text import leaks
from fleetc.toml.document import Source

_KEYS = {"name": "", "url": "url", "capacity": "capacity", "price_per_unit": "price", "price_scaling": "price",
         "currency": "price"}  # fmt: skip
"""The keys of a document, with the fields that have them."""
_EXACT = Context(prec=60, traps=[Inexact])


def is_capability(value: object) -> bool:
    """Whether a JSON value is the document of a capability."""
    if not isinstance(value, dict) or not {"name", "url"} <= value.keys():
        return False
    return "capacity" in value or "price_per_unit" in value


def by_orchestrator(
    documents: Sequence[Source], nodes: Sequence[Running], ledger: Ledger
) -> dict[str, tuple[Source, ...]]:
    """The documents of each orchestrator, by its name."""
    found: dict[str, tuple[Source, ...]] = {}
    orchestrators = [one for one in nodes if one.table == "orchestrators"]
    for source in documents:
        folder = posixpath.dirname(source.name)
        beside = [one for one in orchestrators if posixpath.dirname(one.process.span.source) == folder]
        whose = beside if len(beside) == 1 else orchestrators
        if len(whose) == 1:
            found[whose[0].name] = (*found.get(whose[0].name, ()), source)
        else:
            why = "no source says which orchestrator it is registered with"
            ledger.note(Span(source.name, 0, 1), "a capability", Fate.DROPPED, why)
    return found


def fill_capabilities(work: Filling) -> None:
    """The capabilities that somebody registers with an orchestrator."""
    for source in work.facts.capabilities.get(work.running.name, ()):
        span = Span(source.name, 0, 1)
        try:
            said = _read(source.text)
        except DocumentError as problem:
            message = f"the node does not register it: {problem}"
            work.session.ledger.mistake("adopt-document-unread", span, "a capability", message, "repair it")
            continue
        _fill(said, span, work.table, work.session)


def _read(text: str) -> dict[str, Any]:
    """The keys of a document, in lower case. Raises DocumentError where the node's decoder gives up."""
    value = parsed_json(text)
    said = {str(key).lower(): item for key, item in value.items() if item is not None}
    for key in ("name", "url", "currency"):
        if not isinstance(said.get(key, ""), str):
            raise DocumentError(f"{key} is not text")
    for key in ("capacity", "price_per_unit", "price_scaling"):
        if type(said.get(key, 0)) is not int:
            raise DocumentError(f"{key} is not a whole number")
    return said


def _fill(said: dict[str, Any], span: Span, table: Table, session: Session) -> None:
    """Say a capability in the table of its orchestrator, or ask for what a spec cannot have."""
    name = session.name_for(said["name"], "capability", set(table.values.get("capabilities", {})))
    values: dict[str, Any] = {}
    problems = [] if name == said["name"] else ["its name is none of a spec"]
    try:
        values["url"] = str(parse_url(said["url"], ("http", "https")))
    except QuantityError as problem:
        problems.append(problem.message)
    price = _price(said)
    if price is None:
        problems.append("its price is none of a spec, in which a capability costs USD or ether for a time")
    else:
        values["price"] = str(price)
    if said.get("capacity", 0) > 1:
        values["capacity"] = said["capacity"]
    for key in said:
        where = _KEYS.get(key)
        why = "fleetc writes none" if key == "token" else "it says nothing to the node"
        session.ledger.note(
            span, leaks.shown(key)[:60],
            Fate.DROPPED if where is None else Fate.UNDERSTOOD,
            why if where is None else f"capabilities.{name}{where and '.' + where}",
        )  # fmt: skip
    if not problems:
        table.values.setdefault("capabilities", {})[name] = values
        return
    example = {"url": "http://127.0.0.1:9000", "price": "0.36 USD / hour"} | values
    written = ", ".join(f"{key} = {json.dumps(value)}" for key, value in example.items())
    table.ask(f"TODO capabilities.{name} = {{ {written} }}: {'; '.join(problems)}")


def _price(said: Mapping[str, Any]) -> RunnerPrice | None:
    """The price as a spec has it, by the hour or by the minute; None for one that it cannot have."""
    kind = {"wei": "ETH", "USD": "USD"}.get(currency(said.get("currency", "")))
    if kind is None:
        return None
    second = Fraction(said.get("price_per_unit", 0), said.get("price_scaling", 0) or 1)
    for unit in ("hour", "minute"):
        amount = second * 3600 / RUNNER_UNITS[unit].times / (1 if kind == "USD" else WEI_IN_ETHER)
        try:
            exact = _EXACT.divide(Decimal(amount.numerator), Decimal(amount.denominator))
            return RunnerPrice(canonical_number(exact), kind, unit)
        except (Inexact, QuantityError):
            continue
    return None
