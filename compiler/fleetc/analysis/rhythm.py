"""How often tickets pay for what an orchestrator sells: not so many at once that no payment holds them, nor so few that
one pays for minutes.

In: a sound `Fleet` on a chain and one of its orchestrators. Out: its `Sale` values, and the ticket_ev that suits them
all. Called by the rules about payments.

What the node does (v0.9.1): a payment makes up for what the credit of a session lacks, at least one ticket. When a
session starts, that is what it pays in advance; then it is what it took since the last payment. A signer makes at most
100 tickets at once, and none while the credit is enough, so with valuable tickets most requests get status 482. When
the next payment is due, the orchestrator's credit lasts as long as what was paid in advance
(`server/remote_signer.go`, `core/accounting.go`, `server/live_payment.go`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from fleetc.analysis import tickets
from fleetc.analysis.acceptance import WEI, PriceEntry, chain_of, quoted
from fleetc.analysis.economics import market_of
from fleetc.analysis.runner_offers import sold_by
from fleetc.analysis.runner_prices import PREPAID
from fleetc.language.fleet import Fleet
from fleetc.language.quantities import Duration
from fleetc.language.signing import SIGNED_PIPELINE
from fleetc.places.diagnostic import Path

_IMAGE = (1024 * 1024, "an image of 1024 x 1024 pixels")
REQUESTS = {
    "text-to-image": _IMAGE,
    "image-to-image": _IMAGE,
    "upscale": _IMAGE,
    SIGNED_PIPELINE: (PREPAID["720p"], f"live AI video, paid for {PREPAID['720p']} pixels in advance,"),
}
"""Pixels of a common request by pipeline, and what it is called."""
SECONDS = {"hour": 10, "720p": 60}
"""For how long a session pays in advance, by the node's unit of its price."""
_INTERVAL, _MINUTE = 5, 60
"""How many seconds pass between two payments by default, and for how many a ticket should pay at most."""


class Sale(NamedTuple):
    """What an orchestrator sells: what it is called, where its price is, and the `fee` of a payment in wei.

    `most` is with how many tickets that can be paid at most. A session pays for `ahead` seconds in advance; 0 is a
    single request.
    """

    what: str
    path: Path
    fee: int
    most: int
    ahead: int

    @property
    def highest(self) -> int | None:
        """The highest ticket_ev in wei that pays for no more than a minute of a session; None for a single request."""
        return self.fee * _MINUTE // self.ahead if self.ahead else None

    def lasts(self, ticket_ev: int) -> Duration:
        """For how long one ticket pays, in whole seconds."""
        return Duration(ticket_ev * self.ahead // self.fee * 1_000_000)


def sales(fleet: Fleet, seller: str) -> Iterator[Sale]:
    """What an orchestrator sells at a price in wei, as a payer with a large reserve pays it."""
    for goods, offer in sorted(market_of(fleet).offers[seller].items()):
        fee = fee_of(quoted(offer, tickets.ticket(offer.terms, tickets.STRANGER, chain_of(fleet))))
        live = goods[0] == SIGNED_PIPELINE
        if fee:
            most = tickets.SIGNED_NONCES if live else tickets.NONCES
            yield Sale(f"live AI video with {goods[1]}", offer.path, fee, most, SECONDS["720p"] if live else 0)
    for one in sold_by(fleet).get(seller, ()):
        if one.worth is not None and not one.worth.refusal:
            path, ahead = (*one.offer.of_runner, "price"), SECONDS.get(one.worth.unit, 0)
            yield Sale(f"runner {one.offer.name}", path, one.worth.prepaid, tickets.SIGNED_NONCES, ahead)


def fee_of(offer: PriceEntry) -> int:
    """What a common request costs in wei, at an offer as it reaches the payer; 0 where nobody knows."""
    pixels = REQUESTS.get(offer.goods[0], (0, ""))[0]
    return -(-offer.sent * pixels // 1) if offer.sent and offer.unit == WEI else 0


def fitting(found: list[Sale], sale: Sale) -> int | None:
    """The ticket_ev in wei that pays for one interval of a session and suits all other sales; None if none does."""
    least = max(-(-one.fee // one.most) for one in found)
    wanted = max(least, -(-sale.fee * _INTERVAL // sale.ahead))
    return wanted if all(one.highest is None or wanted <= one.highest for one in found) else None
