"""One request costs more than one payment can hold.

Why: a payment carries at most 600 tickets of ticket_ev each, or 100 from a remote signer. Their sum is at most the
payer's tickets.max_total_ev. With the default of 8 gwei it holds 4800 gwei. An image of 1024 x 1024 pixels costs more
than that above 4577636 wei / pixel. Live AI video pays for 1658880000 pixels in advance: too much above 2893 wei /
pixel, or 482 through a signer. Both include what the orchestrator adds. The orchestrator then refuses with
"Insufficient balance", and no log line names ticket_ev. For images it is a warning, because all requests may be for
smaller ones. For live video it is an error if the gateway lists the orchestrator and its price alone is already too
much. For an orchestrator that nobody of the fleet asks, the payer has the default limits and makes 100 tickets.

Example:

    [models.realvis]
    pipeline = "text-to-image"
    price = "12000000 wei / pixel"

    [orchestrators.orch]
    mode = "ai"

Instead:

    [models.realvis]
    pipeline = "text-to-image"
    price = "12000000 wei / pixel"

    [orchestrators.orch]
    mode = "ai"
    ticket_ev = "25 gwei"
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from fleetc.analysis import tickets
from fleetc.analysis.acceptance import TOO_EXPENSIVE, PriceEntry, coming_to, quoted
from fleetc.analysis.economics import Market, market_of
from fleetc.analysis.payments import bound, payer_path, round_up, ticket_value, unasked
from fleetc.analysis.ranking import Ranking
from fleetc.analysis.rhythm import REQUESTS, fee_of
from fleetc.analysis.tickets import Backing, Terms
from fleetc.language.fleet import Fleet
from fleetc.language.quantities import Wei
from fleetc.language.signing import SIGNED_PIPELINE
from fleetc.places.diagnostic import Diagnostic, Label, Path, error, warning


class PricedRequest(NamedTuple):
    """A request to a gateway for what an orchestrator offers; `fee` in wei. `bought` is whether its cap admits that.

    The gateway has no name if it is a stranger.
    """

    gateway: str
    offer: PriceEntry
    fee: int
    bought: bool


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the most expensive offers of each kind that a gateway buys; a shared price is reported once.

    Where its cap admits none, look at the cheapest, so that both problems are reported at once.
    """
    if not fleet.on_chain:
        return
    market = market_of(fleet)
    seen: set[tuple[Path, Terms, int]] = set()
    for name in market.caps:
        backing = market.backing[name]
        for goods, verdict in market.purchases(name):
            for offer in _looked_at(verdict) if goods[0] in REQUESTS else ():
                request = _request(market, name, offer, backing, verdict.outcome != TOO_EXPENSIVE)
                key = (offer.path, offer.terms, backing.nonces)
                if key not in seen and request is not None:
                    seen.add(key)
                    yield _too_much(fleet, market, request, backing)
    for seller in unasked(fleet):
        for goods, offer in sorted(market.offers[seller].items()):
            if goods[0] not in REQUESTS or (offer.path, offer.terms, 0) in seen:
                continue
            nonces = tickets.SIGNED_NONCES if goods[0] == SIGNED_PIPELINE else tickets.NONCES
            backing = tickets.STRANGER._replace(nonces=nonces)
            asked = quoted(offer, tickets.ticket(offer.terms, backing, market.chain))
            request = _request(market, "", asked, backing, False)
            if request is not None:
                seen.add((offer.path, offer.terms, 0))
                yield _too_much(fleet, market, request, backing)


def _request(market: Market, name: str, offer: PriceEntry, backing: Backing, bought: bool) -> PricedRequest | None:
    """A common request for an offer if one payment does not hold it."""
    if not offer.terms.ticket_ev:
        return None
    fee = fee_of(offer)
    face = tickets.ticket(offer.terms, backing, market.chain).face
    enough = fee <= tickets.holds(offer.terms, backing, face)
    return None if enough else PricedRequest(name, offer, fee, bought)


def _looked_at(verdict: Ranking) -> tuple[PriceEntry, ...]:
    """What is bought; if the cap admits nothing, the cheapest, which a higher cap would admit."""
    if verdict.outcome == TOO_EXPENSIVE and verdict.cheapest is not None:
        return (verdict.cheapest,)
    return verdict.best


def _too_much(fleet: Fleet, market: Market, request: PricedRequest, backing: Backing) -> Diagnostic:
    name, offer = request.gateway, request.offer
    terms = offer.terms
    face = tickets.ticket(terms, backing, market.chain).face
    most = tickets.holds(terms, backing, face)
    bare = offer.worth * REQUESTS[offer.goods[0]][0] > backing.nonces * terms.ticket_ev
    certain = request.bought and offer.goods[0] == SIGNED_PIPELINE and bare and market.searches[name].listed is not None
    payer = name or ("a signer" if backing.nonces == tickets.SIGNED_NONCES else "a gateway") + " with default settings"
    related = [Label(offer.path, f"the price{coming_to(offer, market.chain)}")]
    if name and backing.max_total_ev is not None and most < backing.nonces * terms.ticket_ev:
        related.append(bound(fleet, payer_path(fleet, name), "max_total_ev", backing.max_total_ev))
    return (error if certain else warning)(
        "payment-holds-too-little",
        f"{REQUESTS[offer.goods[0]][1]} from {offer.owner} costs {_short(request.fee)}, "
        f"but one payment of {payer} holds only {_short(most)}",
        ticket_value(fleet, offer.owner, terms),
        related,
        _advice(fleet, request, backing),
    )


def _advice(fleet: Fleet, request: PricedRequest, backing: Backing) -> str:
    """The ticket_ev that would be enough, and the limits of the payer if they are too low for it."""
    terms = request.offer.terms
    value = max(terms.ticket_ev, round_up(-(-request.fee // backing.nonces)).wei)
    total = -(-request.fee // value) * value + 1
    if not request.gateway and (value >= (backing.max_ev or 0) or total > (backing.max_total_ev or 0)):
        return "lower the price: no ticket_ev that payers with default settings accept is enough"
    steps = []
    if value != terms.ticket_ev:
        steps.append(f'write ticket_ev = "{Wei(value)}" for {request.offer.owner}')
    payer = payer_path(fleet, request.gateway)[1] if request.gateway else ""
    if backing.max_total_ev is not None and total > backing.max_total_ev:
        steps.append(f'raise tickets.max_total_ev of {payer} to "{round_up(total)}"')
    if backing.max_ev is not None and value >= backing.max_ev:
        steps.append(f'raise tickets.max_ev of {payer} to "{round_up(value + 1)}"')
    return f"{', and '.join(steps)}; or lower the price"


def _short(amount: int) -> str:
    """An amount rounded to gwei, the unit that people use."""
    whole, rest = divmod(amount, 10**9)
    return f"{'about ' if rest else ''}{whole} gwei" if whole else str(Wei(amount))
