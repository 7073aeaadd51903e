"""What the node computes about tickets: their face value, what they add to a price, and when one is refused.

In: whole amounts of wei, as plain numbers. Out: exact numbers and reasons. These formulas are only here; they are
called by `acceptance.py` and by the rules about payments. Source: release v0.9.1 of the node;
`tests/data/node_payments.json` has results of the node's own functions.

An orchestrator adds the cost of redeeming a ticket to its price: with `k = 1 + cost / face` it sends `price x k`, cut
to 0.001 wei. The cost is the gas of redeeming times the gas price. The face value is 100 times the cost or, if that is
below ticket_ev, 100 times ticket_ev. It never exceeds max_face_value, nor one orchestrator's share of the payer's
reserve: the reserve divided by the size of the active set. So k is 1.01 with a large reserve, and larger with a small
one.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil, floor
from typing import NamedTuple

from fleetc.upstream import FLAGS

Amount = Fraction | int
"""An exact amount; whole amounts are integers, which compare much faster."""

NO_RESERVE = "the payer has no reserve"
NO_DEPOSIT = "the payer has no deposit"
NO_VALUE = "ticket_ev is zero"
RESERVE = "the payer's reserve is too small for a ticket"
FACE = "max_face_value is too low for a ticket"
VALUE = "ticket_ev is above what the payer allows for a ticket"
TOTAL = "ticket_ev is above what the payer allows for a payment"
DEPOSIT = "the payer's deposit is below one face value"
"""Why there is no ticket."""

LEAST_GAS_PRICE = 10**6
"""0.001 gwei in wei: what fails at this gas price always fails. The least that Arbitrum One charges is ten times it."""
NONCES = 600
"""The most tickets that an orchestrator accepts with one set of parameters, and so in one payment."""
SIGNED_NONCES = 100
"""The most tickets that a remote signer puts into one payment."""

_FACTOR = 100
_NEAR = 100
_CAPPED_GAS_PRICE = 3 * 10**9
_DECIMALS = 1000
_INT64 = 2**63 - 1
_MAX_WIN_CHANCE = 2**256 - 1


class Chain(NamedTuple):
    """What a ticket depends on besides its two sides: gas price in wei, gas of redeeming, size of the active set."""

    gas_price: int
    redemption_gas: int
    pool: int


class Terms(NamedTuple):
    """The settings of an orchestrator: whether it adjusts prices, and the bounds of its tickets. 0 means no bound."""

    adjusts: bool = True
    ticket_ev: int = int(FLAGS["ticketEV"].default)
    max_face_value: int = 0
    min_gas_price: int = 0


class Backing(NamedTuple):
    """The funds behind a gateway's tickets, and its limits; None means unknown."""

    reserve: int | None
    deposit: int | None
    max_ev: int | None = int(FLAGS["maxTicketEV"].default)
    max_total_ev: int | None = int(FLAGS["maxTotalEV"].default)
    multiplier: int = int(FLAGS["depositMultiplier"].default)
    nonces: int = NONCES

    @property
    def known(self) -> bool:
        """Whether the funds are known."""
        return self.reserve is not None and self.deposit is not None


STRANGER = Backing(None, None)
"""A payer that no spec describes, with the defaults of the release."""


class Ticket(NamedTuple):
    """The ticket of a payer and an orchestrator: face value and overhead k, or why there is no ticket."""

    face: int
    overhead: Fraction
    refusal: str = ""


class PriceLimit(NamedTuple):
    """The base prices that a cap admits: those below `worth`, and `worth` itself if it is inclusive."""

    worth: Amount
    inclusive: bool

    def admits(self, base: Amount) -> bool:
        """Whether a base price is within the limit."""
        return base < self.worth or (self.inclusive and base == self.worth)


def quiet(chain: Chain) -> Chain:
    """The chain when gas costs almost nothing: what fails then always fails."""
    return chain._replace(gas_price=min(chain.gas_price, LEAST_GAS_PRICE))


def cost(terms: Terms, chain: Chain) -> int:
    """The cost of redeeming one ticket, in wei. The orchestrator never goes below its own lowest gas price."""
    return chain.redemption_gas * max(chain.gas_price, terms.min_gas_price)


def share(reserve: int, pool: int, claimed: int = 0, pending: int = 0, deposit: int = 0) -> int:
    """The part of a reserve that backs the tickets to one orchestrator.

    `claimed` is its claim in this round. `pending` are its unredeemed tickets, which count unless the deposit is three
    times as much.
    """
    covered = pending == 0 or deposit >= 3 * pending
    return reserve // pool - claimed - (0 if covered else pending)


def face_value(terms: Terms, chain: Chain, most: int | None) -> int:
    """The face value of a ticket; `most` is the share of the reserve, None if it is not known."""
    face = cost(terms, chain) * _FACTOR
    if face < terms.ticket_ev:
        face = terms.ticket_ev * _FACTOR
    bounds = [bound for bound in (most, terms.max_face_value or None) if bound is not None]
    return min([face, *bounds])


def issues(terms: Terms, chain: Chain, face: int) -> bool:
    """Whether the orchestrator issues parameters for tickets of this face value."""
    return face >= terms.ticket_ev and face >= min(cost(terms, chain), chain.redemption_gas * _CAPPED_GAS_PRICE)


def expected_value(ticket_ev: int, face: int) -> Fraction:
    """The payer's expected value of a ticket: the orchestrator rounds the chance of winning up."""
    return Fraction(ticket_ev * -(-_MAX_WIN_CHANCE // face) * face, _MAX_WIN_CHANCE)


def objection(ticket_ev: int, face: int, backing: Backing, tickets: int = 1) -> str:
    """Why a payer makes no payment of this many tickets with these parameters, or nothing.

    It checks in the node's order. A ticket_ev of zero passes here, but then no ticket can be made. It does not check
    how old the parameters are, or whether funds are about to be withdrawn.
    """
    if not ticket_ev:
        return ""
    if ticket_ev >= face:
        return FACE
    worth = expected_value(ticket_ev, face)
    if backing.max_ev is not None and worth > backing.max_ev:
        return VALUE
    if backing.reserve == 0:
        return NO_RESERVE
    if backing.deposit == 0:
        return NO_DEPOSIT
    if backing.max_total_ev is not None and tickets * worth > backing.max_total_ev:
        return TOTAL
    return DEPOSIT if backing.deposit is not None and face > backing.deposit // backing.multiplier else ""


@lru_cache(maxsize=4096)
def ticket(terms: Terms, backing: Backing, chain: Chain) -> Ticket:
    """The ticket between two sides. If the reserve is not known, the overhead is the lowest possible."""
    if backing.reserve == 0:
        return Ticket(0, Fraction(1), NO_RESERVE)
    most = None if backing.reserve is None else share(backing.reserve, chain.pool)
    face = face_value(terms, chain, most)
    if not issues(terms, chain, face):
        alone = face_value(terms, chain, None)
        return Ticket(face, Fraction(1), RESERVE if issues(terms, chain, alone) else FACE)
    if not terms.ticket_ev:
        return Ticket(face, Fraction(1), NO_VALUE)
    refusal = objection(terms.ticket_ev, face, backing)
    if refusal == FACE and face != terms.max_face_value:
        refusal = RESERVE
    return Ticket(face, 1 + Fraction(cost(terms, chain), face) if terms.adjusts else Fraction(1), refusal)


@lru_cache(maxsize=4096)  # orchestrators repeat their prices
def sent(base: Amount, overhead: Fraction, adjusts: bool) -> Amount | None:
    """The price in wei that reaches the payer, or None if the orchestrator cannot represent it as two numbers.

    Unless it adjusts, numerator and denominator must fit in 64 bits; else three decimals stay, and at most 2^63-1
    thousandths.
    """
    if not adjusts:
        return base if base.numerator <= _INT64 and base.denominator <= _INT64 else None
    return simple(Fraction(min(base * overhead * _DECIMALS // 1, _INT64), _DECIMALS))


def limit(cap: Amount, overhead: Fraction, adjusts: bool) -> PriceLimit | None:
    """The base prices in wei that are sent at the cap or below; None means all of them."""
    if not adjusts:
        return PriceLimit(cap, True)
    thousandths = cap * _DECIMALS // 1
    return None if thousandths >= _INT64 else PriceLimit(Fraction(thousandths + 1, _DECIMALS) / overhead, False)


class PricePair(NamedTuple):
    """A base price and a cap (None for no cap) in one unit: wei, or a currency without rounding."""

    base: Amount
    cap: Amount | None
    terms: Terms
    backing: Backing
    in_wei: bool = True


def trades(pair: PricePair, chain: Chain) -> bool:
    """Whether the payer of a pair pays the orchestrator."""
    found = ticket(pair.terms, pair.backing, chain)
    asked = sent(pair.base, found.overhead, pair.terms.adjusts) if pair.in_wei else pair.base * found.overhead
    return not found.refusal and asked is not None and (pair.cap is None or asked <= pair.cap)


def turning_point(pair: PricePair, chain: Chain) -> int | None:
    """The gas price in whole wei below which the two trade, and from which they do not.

    The next one above the chain's gas price if they trade now, else the last one below it; None if gas does not matter
    at realistic prices. Prices and face values only bend where a condition of a ticket changes, so these few gas prices
    are enough.
    """
    now = max(chain.gas_price, pair.terms.min_gas_price)

    def at(gas_price: int) -> bool:
        return trades(pair, chain._replace(gas_price=gas_price))

    points = sorted({whole for point in _turns(pair, chain) for whole in (ceil(point), floor(point) + 1)})
    if at(now):
        return next((point for point in points if point > now and not at(point)), None)
    lowest = max(pair.terms.min_gas_price, LEAST_GAS_PRICE)
    return next((point for point in reversed(points) if lowest < point <= now and at(point - 1)), None)


def gas_limit(pair: PricePair, chain: Chain) -> int | None:
    """The turning point if it is near the chain's gas price, within a hundredth and a hundred times."""
    found = turning_point(pair, chain)
    return (
        found if found is not None and chain.gas_price <= found * _NEAR and found <= chain.gas_price * _NEAR else None
    )


def _turns(pair: PricePair, chain: Chain) -> list[Fraction]:
    """The gas prices at which the price may pass the cap, or tickets may become possible or impossible."""
    base, cap, terms, backing, in_wei = pair
    gas = chain.redemption_gas
    bounds = [terms.max_face_value] if terms.max_face_value else []
    bounds += [share(backing.reserve, chain.pool)] if backing.reserve is not None else []
    most = min(bounds, default=None)
    found = [Fraction(terms.ticket_ev, _FACTOR * gas)]
    if most is not None:
        found.append(Fraction(most // gas))
    if backing.deposit is not None:
        found.append(Fraction(backing.deposit // backing.multiplier // (_FACTOR * gas)))
    allowed = limit(cap, Fraction(1), terms.adjusts) if in_wei and cap is not None else None
    most_asked = allowed.worth if allowed is not None else None if in_wei else cap
    if most_asked is not None and terms.adjusts:
        over = Fraction(most_asked) / base - 1
        flat = terms.ticket_ev * _FACTOR
        found += [over * face / gas for face in (flat, most) if face is not None]
    return [point for point in found if point >= 0]


def holds(terms: Terms, backing: Backing, face: int) -> int:
    """The highest fee in wei that one payment can carry: this many tickets of ticket_ev each."""
    tickets = backing.nonces
    if backing.max_total_ev is not None:
        tickets = min(tickets, int(backing.max_total_ev // expected_value(terms.ticket_ev, face)))
    return tickets * terms.ticket_ev


def simple(exact: Fraction) -> Amount:
    """A whole amount as an integer."""
    return exact.numerator if exact.denominator == 1 else exact
