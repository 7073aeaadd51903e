"""Who can buy which live runner, and why not: the offers of a fleet against the caps of its signers.

In: a sound `Fleet` on a chain. Out: `RunnerOffer` and `RunnerDecision` values. Called by rules and by
`lower/market.py`.

Clients buy runners through a remote signer; a gateway has no way to. A signer refuses a payment of more than 100
tickets. It compares the number in max_price with the wei of every price, for a pixel, a second or a request. Its
tickets have a gateway's bounds and funds; only the price excludes the cost of redeeming. Source: the node's own code at
release v0.9.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import NamedTuple

from fleetc.analysis import runner_prices, tickets
from fleetc.analysis.acceptance import (
    BUYS,
    NO_FUNDS,
    NO_RATE,
    REFUSED,
    TOO_EXPENSIVE,
    UNKNOWN,
    backing_of,
    chain_of,
    terms_of,
)
from fleetc.analysis.runner_prices import RunnerWorth
from fleetc.analysis.tickets import Backing, Chain, PricePair, Terms
from fleetc.language.answers import once_for_all
from fleetc.language.effective_runners import Offer, offers
from fleetc.language.fleet import Fleet, Node
from fleetc.language.quantities import Price
from fleetc.language.signer import Signer

TOTAL_TOO_LOW = "a payment in advance is worth more than its tickets.max_total_ev"
TOO_MANY_TICKETS = "a payment in advance needs more than 100 tickets of its ticket_ev"


class RunnerOffer(NamedTuple):
    """A runner that an orchestrator sells: its price in wei (None without a rate), and the terms of tickets."""

    offer: Offer
    worth: RunnerWorth | None
    terms: Terms

    @property
    def ticket_ev(self) -> int:
        """The expected value of a ticket of the orchestrator, in wei."""
        return self.terms.ticket_ev

    @property
    def in_advance(self) -> int | None:
        """How many tickets a signer pays in advance; None if unknown, or if no number would do."""
        return -(-self.worth.prepaid // self.ticket_ev) if self.worth is not None and self.ticket_ev else None

    @property
    def payable(self) -> bool:
        """Whether a signer can pay for it in advance; true if unknown."""
        return self.worth is None or self.worth.ticket_ev_needed <= self.ticket_ev


class RunnerDecision(NamedTuple):
    """What comes of a signer and an offer, in the words of `acceptance.py`; `why` is the reason, or "".

    `until` is the gas price in wei below which the two trade, if gas decides.
    """

    signer: Node
    sold: RunnerOffer
    outcome: str
    why: str = ""
    until: int | None = None


def sold(fleet: Fleet) -> Iterator[RunnerOffer]:
    """The offers with a price; none off-chain."""
    for of_seller in sold_by(fleet).values():
        yield from of_seller


@once_for_all
def sold_by(fleet: Fleet) -> dict[str, list[RunnerOffer]]:
    """The same by orchestrator."""
    found: dict[str, list[RunnerOffer]] = {}
    for offer in offers(fleet) if fleet.on_chain else ():
        if offer.runner.price is not None:
            worth, seller = runner_prices.worth(offer.runner.price, fleet.rates), offer.orchestrator.name
            one = RunnerOffer(offer, worth, terms_of(fleet, fleet.orchestrators[seller]))
            found.setdefault(seller, []).append(one)
    return found


def buyers(fleet: Fleet) -> Iterator[tuple[Node, Signer]]:
    """The signers for clients of runners: with buys_runners, or finding orchestrators for them."""
    for name, signer in sorted(fleet.remote_signers.items()):
        if signer.buys_runners or signer.remote_discovery:
            yield Node("remote_signers", name, signer), signer


def found_by(signer: Signer, found: Iterable[RunnerOffer]) -> Iterator[RunnerOffer]:
    """The offers that the clients of a signer may find."""
    for one in found:
        if not signer.orchestrators or one.offer.orchestrator.name in signer.orchestrators:
            yield one


def backing_of_clients(fleet: Fleet, signer: Node) -> Backing:
    """The funds and limits behind the tickets that a signer signs for its clients."""
    return backing_of(fleet, signer)._replace(nonces=tickets.SIGNED_NONCES)


def decisions(fleet: Fleet) -> Iterator[RunnerDecision]:
    """Each signer against each offer that its clients may find."""
    found = tuple(sold(fleet))
    chain = chain_of(fleet)
    for node, signer in buyers(fleet):
        backing = backing_of_clients(fleet, node)
        for one in found_by(signer, found):
            outcome, why = decide(fleet, signer, one, backing, chain)
            yield RunnerDecision(node, one, outcome, why, _until(outcome, why, one, backing, chain))


def decide(fleet: Fleet, signer: Signer, one: RunnerOffer, backing: Backing, chain: Chain) -> tuple[str, str]:
    """The outcome of a signer's cap and funds and an offer, and why."""
    if one.worth is None:
        return UNKNOWN, NO_RATE
    if one.worth.refusal:
        return REFUSED, f"its price is {one.worth.refusal}"
    if not one.payable:
        return REFUSED, TOO_MANY_TICKETS
    cap = cap_in_wei(fleet, signer.max_price) if isinstance(signer.max_price, Price) else None
    if cap is not None and one.worth.wei > cap:
        return TOO_EXPENSIVE, ""
    refusal = refusal_of(one, backing, chain)
    if refusal:
        return REFUSED, refusal
    if isinstance(signer.max_price, Price) and cap is None:
        return UNKNOWN, NO_RATE
    return (BUYS, "") if backing.known else (UNKNOWN, NO_FUNDS)


def refusal_of(one: RunnerOffer, backing: Backing, chain: Chain) -> str:
    """Why a signer with these funds and limits makes no payment in advance for an offer, or nothing."""
    ticket = tickets.ticket(one.terms, backing, chain)
    if ticket.refusal or one.in_advance is None:
        return ticket.refusal
    whole = tickets.objection(one.ticket_ev, ticket.face, backing, one.in_advance)
    return TOTAL_TOO_LOW if whole == tickets.TOTAL else whole


def _until(outcome: str, why: str, one: RunnerOffer, backing: Backing, chain: Chain) -> int | None:
    """The gas price in wei below which a signer can pay, if only its funds are the limit."""
    gas_decides = outcome == BUYS or (outcome == REFUSED and why in (tickets.RESERVE, tickets.DEPOSIT))
    if not gas_decides or not backing.known or one.worth is None:
        return None
    return tickets.gas_limit(PricePair(one.worth.wei, None, one.terms._replace(adjusts=False), backing), chain)


def cap_in_wei(fleet: Fleet, cap: Price) -> Fraction | None:
    """The number that a signer compares with every price; None without a rate."""
    if cap.currency == "wei":
        return cap.per_pixel
    rate = fleet.rates.get(cap.currency)
    return None if rate is None else cap.per_pixel * rate.wei
