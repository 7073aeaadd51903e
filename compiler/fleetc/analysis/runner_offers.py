"""Who can buy which live runner, and why not: the offers of a fleet against the caps of its signers.

In: a sound `Fleet` on a chain. Out: `RunnerOffer` and `RunnerDecision` values. Called by rules and by
`lower/market.py`.

Clients buy runners through a remote signer; a gateway has no way to. A signer refuses a payment of more than 100
tickets, and compares the number in its max_price with the wei of every price, whether they are for a pixel, a second or
a request. Source: the node's own code at release v0.9.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from fleetc.analysis import runner_prices
from fleetc.analysis.acceptance import BUYS, NO_RATE, REFUSED, TOO_EXPENSIVE, UNKNOWN
from fleetc.analysis.runner_prices import RunnerWorth
from fleetc.language.effective_runners import Offer, offers
from fleetc.language.fleet import Fleet, Node
from fleetc.language.orchestrator import Orchestrator
from fleetc.language.quantities import Price
from fleetc.language.signer import Signer
from fleetc.upstream import FLAGS

DEFAULT_TICKET_EV = int(FLAGS["ticketEV"].default)
"""The expected value of a ticket, in wei, that a node has by itself."""

DEFAULT_TOTAL = int(FLAGS["maxTotalEV"].default)
"""The most wei that one payment of a signer may be worth by itself."""

TOTAL_TOO_LOW = "a payment in advance is worth more than its tickets.max_total_ev"
TOO_MANY_TICKETS = "a payment in advance needs more than 100 tickets of its ticket_ev"


class RunnerOffer(NamedTuple):
    """A runner that an orchestrator sells: what its price comes to (None without a rate), and the value of a ticket."""

    offer: Offer
    worth: RunnerWorth | None
    ticket_ev: int

    @property
    def payable(self) -> bool:
        """Whether a signer can pay for it in advance; also where nobody knows."""
        return self.worth is None or self.worth.ticket_ev_needed <= self.ticket_ev


class RunnerDecision(NamedTuple):
    """What comes of a signer and an offer, in the words of `acceptance.py`; `why` is the reason, or ""."""

    signer: Node
    sold: RunnerOffer
    outcome: str
    why: str = ""


def sold(fleet: Fleet) -> Iterator[RunnerOffer]:
    """The offers with a price; none off-chain, where nobody pays."""
    for offer in offers(fleet) if fleet.on_chain else ():
        if offer.runner.price is not None:
            worth = runner_prices.worth(offer.runner.price, fleet.rates)
            yield RunnerOffer(offer, worth, ticket_ev(offer))


def ticket_ev(offer: Offer) -> int:
    """The expected value of a ticket of the orchestrator, in wei."""
    settings = offer.orchestrator.settings
    own = settings.ticket_ev if isinstance(settings, Orchestrator) else None
    return DEFAULT_TICKET_EV if own is None else own.wei


def buyers(fleet: Fleet) -> Iterator[tuple[Node, Signer]]:
    """The signers whose clients buy runners: they say so, or find orchestrators for them."""
    for name, signer in sorted(fleet.remote_signers.items()):
        if signer.buys_runners or signer.remote_discovery:
            yield Node("remote_signers", name, signer), signer


def decisions(fleet: Fleet) -> Iterator[RunnerDecision]:
    """Each signer against each offer that its clients may find."""
    found = tuple(sold(fleet))
    for node, signer in buyers(fleet):
        for one in found:
            if not signer.orchestrators or one.offer.orchestrator.name in signer.orchestrators:
                yield RunnerDecision(node, one, *decide(fleet, signer, one))


def decide(fleet: Fleet, signer: Signer, one: RunnerOffer) -> tuple[str, str]:
    """The outcome of a signer's cap and an offer, and why."""
    if one.worth is None:
        return UNKNOWN, NO_RATE
    if one.worth.refusal:
        return REFUSED, f"its price is {one.worth.refusal}"
    if not one.payable:
        return REFUSED, TOO_MANY_TICKETS
    if not total_allows(signer, one):
        return REFUSED, TOTAL_TOO_LOW
    if not isinstance(signer.max_price, Price):
        return BUYS, ""
    cap = cap_in_wei(fleet, signer.max_price)
    if cap is None:
        return UNKNOWN, NO_RATE
    return (BUYS, "") if one.worth.wei <= cap else (TOO_EXPENSIVE, "")


def total_of(signer: Signer) -> int:
    """The most wei that one payment of a signer may be worth."""
    own = signer.tickets.max_total_ev
    return DEFAULT_TOTAL if own is None else own.wei


def total_allows(signer: Signer, one: RunnerOffer) -> bool:
    """Whether a signer signs as many tickets at once as it has to pay in advance; also where nobody knows."""
    if one.worth is None or not one.ticket_ev:
        return True
    return -(-one.worth.prepaid // one.ticket_ev) * one.ticket_ev <= total_of(signer)


def cap_in_wei(fleet: Fleet, cap: Price) -> Fraction | None:
    """The number that a signer compares with every price; None without a rate."""
    if cap.currency == "wei":
        return cap.per_pixel
    rate = fleet.rates.get(cap.currency)
    return None if rate is None else cap.per_pixel * rate.wei
