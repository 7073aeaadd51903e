"""Fills the capabilities (BYOC) of orchestrators from the documents beside them, as a tree of fleetc has them.

In: documents among the sources, and the tables of orchestrators. Out: capabilities in these tables.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from typing import Any

from fleetc.adopt.found.ledger import Fate, Ledger
from fleetc.adopt.found.questions import Ask
from fleetc.adopt.node.documents import DocumentError, currency, parsed_json
from fleetc.adopt.node.settings import Running
from fleetc.adopt.tables.session import Table
from fleetc.language.quantities import RUNNER_UNITS, WEI_IN_ETHER, QuantityError, RunnerPrice, canonical_number
from fleetc.places.diagnostic import Span
from fleetc.toml.document import Source

_EXACT = Context(prec=60, traps=[Inexact])


def fill_capabilities(
    documents: Iterable[Source], nodes: Iterable[Running], tables: Mapping[str, Mapping[str, Table]], ledger: Ledger
) -> None:
    """Give each orchestrator the documents in the folder of its own source; others belong to nobody who is known."""
    homes = {posixpath.dirname(node.process.span.source): node for node in nodes if node.table == "orchestrators"}
    for source in documents:
        span = Span(source.name, 0, 1)
        node = homes.get(posixpath.dirname(source.name))
        if node is None:
            ledger.note(span, "a capability", Fate.DROPPED, "no source says with which orchestrator it is registered")
            continue
        table = tables[node.table][node.name]
        try:
            name, values = _capability(source.text)
        except DocumentError as problem:
            ledger.mistake("adopt-document-unread", span, "a capability", f"no spec has it: {problem}", "repair it")
            continue
        ledger.note(span, "a capability", Fate.UNDERSTOOD, f"capabilities.{name}")
        table.values.setdefault("capabilities", {})[name] = values
        if "price" not in values:
            table.put(Ask.CAPABILITY_PRICE, f"capabilities.{name}.price")


def _capability(text: str) -> tuple[str, dict[str, Any]]:
    """The name and the fields of a capability. Raises DocumentError for a document that the node does not take."""
    document = {str(key).lower(): item for key, item in parsed_json(text).items() if item is not None}
    for key in ("name", "url"):
        if not isinstance(document.get(key), str):
            raise DocumentError(f"{key} is not text")
    for key in ("capacity", "price_per_unit", "price_scaling"):
        if type(document.get(key, 0)) is not int:
            raise DocumentError(f"{key} is not a whole number")
    values: dict[str, Any] = {"url": document["url"]}
    price = _price(document)
    if price is not None:
        values["price"] = str(price)
    if document.get("capacity", 0) > 1:
        values["capacity"] = document["capacity"]
    return document["name"], values


def _price(document: Mapping[str, Any]) -> RunnerPrice | None:
    """The price as a spec has it, by the hour or by the minute; None for one that it cannot have."""
    kind = {"wei": "ETH", "USD": "USD"}.get(currency(str(document.get("currency", ""))))
    if kind is None:
        return None
    second = Fraction(document.get("price_per_unit", 0), document.get("price_scaling", 0) or 1)
    for unit in ("hour", "minute"):
        amount = second * 3600 / RUNNER_UNITS[unit].times / (1 if kind == "USD" else WEI_IN_ETHER)
        try:
            exact = _EXACT.divide(Decimal(amount.numerator), Decimal(amount.denominator))
            return RunnerPrice(canonical_number(exact), kind, unit)
        except (Inexact, QuantityError):
            continue
    return None
