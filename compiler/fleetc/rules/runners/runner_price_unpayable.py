"""A live runner costs more than a signer can pay in advance.

Why: a signer pays in advance for 10 seconds, for 60 seconds of 720p video, or for one request. It signs at most 100
tickets for that. Each ticket is worth ticket_ev of the orchestrator. Above that, it refuses every client and the runner
earns nothing; the orchestrator logs nothing. With the node's own ticket_ev of 8 gwei the highest price is 0.72 USD an
hour while an ETH is worth 2,500 USD.

Example:

    [rates]
    USD = "0.0004 ETH"

    [orchestrators.orch]
    runners = ["echo"]

    [runners.echo]
    price = "3.50 USD / hour"

Instead:

    [rates]
    USD = "0.0004 ETH"

    [orchestrators.orch]
    runners = ["echo"]
    ticket_ev = "40 gwei"

    [runners.echo]
    price = "3.50 USD / hour"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis import runner_prices, tickets
from fleetc.analysis.payments import limits_for, unasked
from fleetc.analysis.runner_offers import RunnerOffer, buyers, sold
from fleetc.analysis.runner_prices import RunnerWorth
from fleetc.language.fleet import Fleet
from fleetc.language.quantities import Wei
from fleetc.places.diagnostic import Diagnostic, Label, Path, error

_GWEI = 10**9


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at what is sold, at the rate of the spec."""
    for one in sold(fleet):
        if one.worth is not None and not one.worth.refusal and not one.payable:
            yield _unpayable(fleet, one, one.worth)


def _unpayable(fleet: Fleet, one: RunnerOffer, worth: RunnerWorth) -> Diagnostic:
    offer = one.offer
    seller = offer.orchestrator
    count = "no number of" if one.in_advance is None else one.in_advance
    given = "ticket_ev" in seller.settings.model_fields_set
    place: Path = (*seller.path, "ticket_ev") if given else offer.path
    note = "the worth of a ticket" if given else f"the worth of a ticket is {Wei(one.ticket_ev)} by default"
    return error(
        "runner-price-unpayable",
        f"nobody can pay for runner {offer.name} at {seller.name}: what a signer pays in advance for it is {count} "
        f"tickets, and it signs at most {tickets.SIGNED_NONCES}",
        Label((*offer.of_runner, "price")),
        [Label(place, note), Label(("rates", "USD"), "the rate")],
        "write " + ", or ".join(filter(None, (_tickets(fleet, one, worth), _price(fleet, one, worth)))),
    )


def _tickets(fleet: Fleet, one: RunnerOffer, worth: RunnerWorth) -> str:
    """The tickets that are worth enough, and what signers that name the runner need beside them.

    "" if only strangers buy it, and one with default settings refuses tickets of that worth.
    """
    enough = Wei(-(-worth.ticket_ev_needed // _GWEI) * _GWEI)
    count = -(-worth.prepaid // enough.wei)
    most = tickets.STRANGER.max_total_ev
    if one.offer.orchestrator.name in unasked(fleet) and most is not None and count * enough.wei >= most:
        return ""
    wanted = (node for node, signer in buyers(fleet) if one.offer.name in signer.buys_runners)
    needed = [(node, limits_for(fleet, node, enough.wei, count)) for node in wanted]
    limits = "".join(f" and {limits} in remote_signers.{node.name}" for node, limits in needed if limits)
    return f'ticket_ev = "{enough}" or more in orchestrators.{one.offer.orchestrator.name}{limits}'


def _price(fleet: Fleet, one: RunnerOffer, worth: RunnerWorth) -> str:
    """The highest price that the tickets of now pay, in the unit of the spec; "" if there is none."""
    price, rate = one.offer.runner.price, fleet.rates["USD"].wei
    if price is None or not one.ticket_ev:
        return ""
    most = runner_prices.quoted(price, runner_prices.dearest(worth.unit, one.ticket_ev, rate), rate)
    return f'price = "{most}" or less' if most else ""
