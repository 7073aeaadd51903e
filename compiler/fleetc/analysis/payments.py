"""Who can pay which orchestrator: the bounds of both, and the funds between them.

In: a sound `Fleet` on a chain. Out: one `Meeting` for each gateway and each kind of terms among the orchestrators that
it asks, and for each signer among those whose live runners its clients may buy. The other side may be a stranger with
the node's default settings: an orchestrator, for those who may find others than the fleet has, and a payer, for the
orchestrators that nobody of the fleet asks. Called by the rules about payments. The formulas are in `tickets.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from fleetc.analysis import tickets
from fleetc.analysis.acceptance import VIDEO, Goods, at_gas, chain_of, terms_of
from fleetc.analysis.discovery import lists_unknown, searches
from fleetc.analysis.economics import View, market_of
from fleetc.analysis.runner_offers import backing_of_clients, buyers, found_by, sold
from fleetc.analysis.tickets import Backing, Chain, Terms, Ticket
from fleetc.language.answers import once_for_all
from fleetc.language.fleet import Fleet, Node
from fleetc.language.gateway import Buyer
from fleetc.language.quantities import Wei
from fleetc.language.signing import has_signer, payer
from fleetc.places.diagnostic import Label, Path

_GWEI = 10**9


class Meeting(NamedTuple):
    """A buyer and an orchestrator that it asks; it represents all orchestrators with these terms.

    The buyer is a gateway, or a signer whose clients buy live runners. `payer` is the path of the node that pays,
    `wallet` its wallet; `listed` says that the buyer names the orchestrator, or a runner of it, and so means this one.
    A stranger has no name and no path.
    """

    buyer: str
    seller: str
    payer: Path
    wallet: str
    listed: bool
    terms: Terms
    backing: Backing
    chain: Chain

    @property
    def ticket(self) -> Ticket:
        """The outcome for the two at the assumed gas price."""
        return tickets.ticket(self.terms, self.backing, self.chain)

    @property
    def whose(self) -> str:
        """The orchestrator, in words."""
        return self.seller or "an orchestrator with default settings"

    @property
    def at_least(self) -> str:
        """The assumed state of the chain, in words."""
        return f"{at_gas(self.chain)} and with {self.chain.pool} orchestrators that share each reserve"


@once_for_all
def meetings(fleet: Fleet) -> tuple[Meeting, ...]:
    """Every buyer with a known wallet, against each kind of terms that it meets; none off-chain."""
    return (*_of_gateways(fleet), *_of_clients(fleet), *_of_strangers(fleet)) if fleet.on_chain else ()


def _of_strangers(fleet: Fleet) -> Iterator[Meeting]:
    """A payer with default settings, against the orchestrators of this fleet that sell to strangers alone."""
    for seller in unasked(fleet):
        terms = terms_of(fleet, fleet.orchestrators[seller])
        yield Meeting("", seller, (), "", False, terms, tickets.STRANGER, chain_of(fleet))


@once_for_all
def unasked(fleet: Fleet) -> tuple[str, ...]:
    """The orchestrators that sell something at a price, but to no gateway or signer of this fleet."""
    found = {id(search.found): search for search in searches(fleet).values()}.values()
    asked = {seller for search in found for seller in search.found if seller not in search.dropped}
    offers = tuple(sold(fleet))
    asked |= {one.offer.orchestrator.name for _, signer in buyers(fleet) for one in found_by(signer, offers)}
    selling = {name for name, own in market_of(fleet).offers.items() if any(offer.worth for offer in own.values())}
    selling |= {one.offer.orchestrator.name for one in offers}
    return () if lists_unknown(fleet) else tuple(sorted(selling - asked))


def _of_gateways(fleet: Fleet) -> Iterator[Meeting]:
    market = market_of(fleet)
    met: dict[tuple[View, str, bool], list[tuple[str, Terms]]] = {}
    for name in market.caps:
        node, view = Node("gateways", name, fleet.gateways[name]), market.view(name)
        paying = payer(fleet, node)
        wallet = paying.settings.wallet if paying is not None and isinstance(paying.settings, Buyer) else None
        if paying is None or wallet is None:
            continue
        listed = market.searches[name].listed is not None
        asking = view, fleet.gateways[name].mode, has_signer(node)
        if asking not in met:
            met[asking] = list(_sellers(view, [goods for goods in (VIDEO, *view.models) if market.wants(name, goods)]))
        backing = market.backing[name]
        for seller, terms in met[asking]:
            yield Meeting(name, seller, paying.path, wallet, listed, terms, backing, market.chain)
        if not market.searches[name].closed and all(terms != Terms() for _, terms in met[asking]):
            yield Meeting(name, "", paying.path, wallet, False, Terms(), backing, market.chain)


def _of_clients(fleet: Fleet) -> Iterator[Meeting]:
    """Each signer with a known wallet, against the terms of the orchestrators that sell live runners to its clients."""
    offers, chain = tuple(sold(fleet)), chain_of(fleet)
    for node, signer in buyers(fleet):
        if signer.wallet is None:
            continue
        backing, seen = backing_of_clients(fleet, node), set()
        for one in sorted(found_by(signer, offers), key=lambda one: one.offer.name not in signer.buys_runners):
            if one.terms not in seen:  # named ones first
                seen.add(one.terms)
                seller, listed = one.offer.orchestrator.name, one.offer.name in signer.buys_runners
                yield Meeting(node.name, seller, node.path, signer.wallet, listed, one.terms, backing, chain)
        if not signer.orchestrators and Terms() not in seen:
            yield Meeting(node.name, "", node.path, signer.wallet, False, Terms(), backing, chain)


def refused(fleet: Fleet, refusal: str) -> list[tuple[str, list[Meeting]]]:
    """The meetings that end with one of the refusals of `tickets`, by wallet, sorted."""
    found: dict[str, list[Meeting]] = {}
    for meeting in meetings(fleet):
        if meeting.ticket.refusal == refusal:
            found.setdefault(meeting.wallet, []).append(meeting)
    return sorted(found.items())


def payer_path(fleet: Fleet, gateway: str) -> Path:
    """The table of the node that pays for a gateway: its own, or that of its signer in this fleet."""
    node = Node("gateways", gateway, fleet.gateways[gateway])
    return (payer(fleet, node) or node).path


def _sellers(view: View, wanted: Iterable[Goods]) -> Iterator[tuple[str, Terms]]:
    """One orchestrator for each kind of terms among the sellers of some goods."""
    seen: set[Terms] = set()
    for goods in wanted:
        shelf = view.shelf(goods)
        for kind in shelf.kinds:
            if kind[1] in seen:
                continue
            offer = shelf.first(kind)
            if offer is not None:
                seen.add(kind[1])
                yield offer.owner, kind[1]


def of_seller(fleet: Fleet, meeting: Meeting) -> list[Label]:
    """Where the value of the tickets of a meeting comes from, if that is in this fleet."""
    return [ticket_value(fleet, meeting.seller, meeting.terms)] if meeting.seller else []


def ticket_value(fleet: Fleet, seller: str, terms: Terms) -> Label:
    """Where the value of an orchestrator's tickets comes from."""
    path = ("orchestrators", seller)
    if fleet.orchestrators[seller].ticket_ev is not None:
        return Label((*path, "ticket_ev"), f"the tickets of {seller}")
    return Label(path, f"its tickets are worth {Wei(terms.ticket_ev)}: it has no ticket_ev")


def bound(fleet: Fleet, payer: Path, field: str, worth: int) -> Label:
    """Where a bound of payments comes from."""
    table, name = payer
    node = fleet.gateways[str(name)] if table == "gateways" else fleet.remote_signers[str(name)]
    if getattr(node.tickets, field) is not None:
        return Label((*payer, "tickets", field), f"the limit of {name}")
    return Label(payer, f"it has no tickets.{field}, so {Wei(worth)}")


def limits_for(fleet: Fleet, signer: Node, ticket_ev: int, count: int) -> str:
    """The settings with which a signer allows a payment of so many tickets of this worth; "" if it does.

    The node rounds the worth of a ticket up, so as much as the limit is above it.
    """
    backing = backing_of_clients(fleet, signer)
    needed = (("max_ev", backing.max_ev, ticket_ev), ("max_total_ev", backing.max_total_ev, ticket_ev * count))
    parts = [f'{field} = "{above(worth)}"' for field, most, worth in needed if most is not None and worth >= most]
    return f"tickets = {{ {', '.join(parts)} }}" if parts else ""


def above(worth: int) -> Wei:
    """The next amount in whole gwei above one."""
    return Wei((worth // _GWEI + 1) * _GWEI)


def round_up(amount: int) -> Wei:
    """An amount of wei with two digits, rounded up."""
    unit = 10 ** max(0, len(str(amount)) - 2)
    return Wei(-(-amount // unit) * unit)
