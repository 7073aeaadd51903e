"""The market that a gateway sees: who sells what at which price, and who of them sells at a cap.

In: the answer of a node to `/getNetworkCapabilities`, as JSON whose numbers may be texts; a fleet. Out: `Seller`s in
the order of the answer, and the `Reach`es of a gateway.

Source (v0.9.1): `discovery/db_discovery.go` asks all orchestrators without naming work, every 25 minutes. Prices of
models in the answer lack the cost of redeeming tickets (`core/orchestrator.go`). `discovery/discovery.go` and
`core/capabilities.go` choose who can do some work, `server/selection.go` and `selection_algorithm.go` cut at the cap.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from fleetc.analysis.acceptance import VIDEO, WEI, Goods
from fleetc.analysis.discovery import release_in, wanted_release
from fleetc.analysis.economics import market_of
from fleetc.language.fleet import Fleet
from fleetc.language.signing import SIGNED_PIPELINE
from fleetc.text.counting import counted
from fleetc.upstream import PIPELINES

_Int64 = Annotated[int, Field(ge=-(2**63), lt=2**63)]
_Word = Annotated[int, Field(ge=0, lt=2**64)]
_ACCOUNT = "0x[0-9a-fA-F]{40}"
_PIPELINE_OF = {pipeline.capability: name for name, pipeline in PIPELINES.items()}
_DEFAULT_BITS = sum(1 << bit for bit in (*range(13), 14, 26))
_VIDEO_BITS = sum(1 << bit for bit in (0, 1, 4, 12))
"""What the node asks of an orchestrator for any model, and for H.264 video in MPEG-TS without object storage."""


class _Price(BaseModel):
    amount: _Int64 = Field(0, alias="pricePerUnit")
    pixels: _Int64 = Field(0, alias="pixelsPerUnit")
    capability: int = 0
    constraint: str = ""


class _Model(BaseModel):
    warm: bool = False


class _Constraints(BaseModel):
    offered: dict[int, dict[str, dict[str, _Model]]] = Field({}, alias="PerCapability")


class _Capabilities(BaseModel):
    bitstring: list[_Word] = Field([], max_length=16)
    version: str = ""
    constraints: _Constraints = _Constraints()


class Seller(BaseModel):
    """An orchestrator that answered, as far as it counts. `address` is paid, "" without tickets; `local_address` is the
    account of its process."""

    orch_uri: str = Field(pattern="^https?://[!-~]{1,250}$")
    address: str = Field("", pattern=f"^({_ACCOUNT})?$")
    local_address: str = Field(pattern=f"^{_ACCOUNT}$")
    price_info: _Price | None = None
    capabilities_prices: list[_Price] | None = None
    capabilities: _Capabilities | None = None

    @cached_property
    def models(self) -> dict[Goods, bool]:
        """Its models, and whether each is warm."""
        offered = self.capabilities.constraints.offered.items() if self.capabilities else ()
        return {
            (_PIPELINE_OF[number], model): about.warm
            for number, own in offered
            if number in _PIPELINE_OF
            for model, about in own.get("models", {}).items()
        }

    @cached_property
    def _prices(self) -> dict[Goods, Fraction]:
        every = [(_PIPELINE_OF.get(p.capability, ""), p.constraint, p) for p in self.capabilities_prices or ()]
        every += [(*VIDEO, self.price_info)] if self.price_info else []
        return {(name, model): Fraction(p.amount, p.pixels) for name, model, p in reversed(every) if p.pixels > 0}

    def price(self, goods: Goods) -> Fraction | None:
        """What it asks for a pixel of some goods in wei; a model without a price has the base price."""
        return self._prices.get(goods, self._prices.get(VIDEO))

    def sells(self, goods: Goods) -> bool:
        """Whether the node takes it for such work at any price."""
        wanted = _VIDEO_BITS if goods == VIDEO else _DEFAULT_BITS | 1 << PIPELINES[goods[0]].capability
        bits = sum(word << 64 * at for at, word in enumerate(self.capabilities.bitstring if self.capabilities else ()))
        price = self.price(goods)
        able = not wanted & ~bits and (goods == VIDEO or goods in self.models)
        return able and self.address != "" and price is not None and price >= 0


class Reach(BaseModel):
    """Some goods at the cap of a gateway: how many offer them and sell; `nearest` is the lowest price above the cap.

    The cap is None if the gateway pays any price; `known` says whether it is known in wei.
    """

    goods: Goods
    known: bool
    cap: Fraction | None
    offers: int
    sell: int
    nearest: Fraction | None


class SeenMarket(BaseModel):
    """What a gateway saw: who answered, how many entries nobody can read, and what it reached then."""

    gateway: str
    orchestrators: list[Seller]
    unreadable: int = 0
    reaches: tuple[Reach, ...] = ()

    @cached_property
    def at(self) -> dict[str, list[Seller]]:
        """Those at each host and port."""
        found: dict[str, list[Seller]] = {}
        for one in self.orchestrators:
            found.setdefault(one.orch_uri.rstrip("/").rpartition("://")[2], []).append(one)
        return found


class Recorded(BaseModel):
    """What gateways saw when `verify` asked them."""

    time: str = Field(pattern=r"^2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
    market: list[SeenMarket]


def read_market(gateway: str, answer: Mapping[str, Any]) -> SeenMarket:
    """The market in the answer of a gateway. Raises ValueError."""
    entries = answer.get("orchestrators")
    if not isinstance(entries, list):
        raise ValueError("without a list of orchestrators")
    seen = SeenMarket(gateway=gateway, orchestrators=[], unreadable=len(entries))
    for entry in entries:
        with suppress(ValidationError):
            seen.orchestrators.append(Seller.model_validate(entry))
            seen.unreadable -= 1
    if seen.unreadable and not seen.orchestrators:
        raise ValueError(f"of which none of {counted(seen.unreadable, 'orchestrator')} has the form of the node")
    return seen


def at_cap(sellers: Iterable[Seller], goods: Goods, cap: Fraction | None) -> list[Seller]:
    """Who can sell some goods at a cap, in the order in which the node tries them: warm models first.

    The node has one price for each account: of several nodes of an account, that of the last one in the answer counts.
    """
    able, found = [one for one in sellers if one.sells(goods)], []
    for warm in (True, False):
        pool = [one for one in able if one.models.get(goods, True) is warm]
        prices = {one.address.lower(): one.price(goods) or 0 for one in pool}
        found += [one for one in pool if cap is None or prices[one.address.lower()] <= cap]
    return found


def reaches(fleet: Fleet, seen: SeenMarket, cap: Fraction | None = None) -> tuple[Reach, ...]:
    """What a gateway on a chain reaches of all goods that it asks for; `cap` is that for video, if the node says so.

    Other caps are those of the spec, in wei if it has a rate.
    """
    market, gateway = market_of(fleet), fleet.gateways[seen.gateway]
    caps, wanted = market.caps[seen.gateway], wanted_release(gateway)
    soft = gateway.ignore_max_price_if_needed is True  # the node ignores it for live video
    blocked = {str(account).lower() for account in gateway.selection.blocked}
    asked = [one for one in seen.orchestrators if one.local_address.lower() not in blocked]
    if wanted is not None:
        asked = [one for one in asked if one.capabilities and (release_in(one.capabilities.version) or ()) >= wanted]
    able: dict[Goods, list[Seller]] = {VIDEO: asked, **{goods: [] for goods in caps.models}}
    for one in asked:
        for goods in one.models:
            able.setdefault(goods, []).append(one)
    found = []
    for goods in sorted(goods for goods in able if market.wants(seen.gateway, goods)):
        own, live = caps.of(goods), cap if goods == VIDEO and not soft else None
        known = live is not None or own.unit == WEI or (own.unbounded and not (soft and goods[0] == SIGNED_PIPELINE))
        most = live if live is not None else Fraction(own.worth) if own.unit == WEI else None
        offers = at_cap(able[goods], goods, None)
        within = at_cap(able[goods], goods, most)
        above = [price for one in offers if most is not None and (price := one.price(goods) or Fraction(0)) > most]
        if offers or goods == VIDEO or goods in caps.models:
            counts = {"offers": len(offers), "sell": len(within)}
            found.append(Reach(goods=goods, known=known, cap=most, nearest=min(above, default=None), **counts))
    return tuple(found)
