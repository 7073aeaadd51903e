"""A ticket of an orchestrator pays for more than a minute of a session.

Why: a session of a live runner pays for 10 seconds in advance, for 60 seconds if its price is for 720p, and so does
live AI video. After that, its payer makes a ticket only when the credit runs out. If a ticket pays for minutes, a
remote signer answers "no tickets" (status 482) to all requests between two payments, and one payment that comes too
late ends the session with "insufficient balance". What a short session does not use of its last ticket is lost. Tickets
that are worth about what an interval of 5 s costs are best; of too small ones, a payment cannot hold enough
(`fleetc explain payment-holds-too-little`).

Example:

    [rates]
    USD = "0.0004 ETH"

    [orchestrators.orch]
    runners = ["echo"]
    ticket_ev = "2000 gwei"

    [runners.echo]
    price = "0.10 USD / hour"

Instead:

    [rates]
    USD = "0.0004 ETH"

    [orchestrators.orch]
    runners = ["echo"]
    ticket_ev = "56 gwei"

    [runners.echo]
    price = "0.10 USD / hour"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.acceptance import terms_of
from fleetc.analysis.payments import round_up, ticket_value
from fleetc.analysis.rhythm import Sale, fitting, sales
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, Path, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the cheapest session that each orchestrator on a chain sells; a shared price is reported once."""
    seen: set[tuple[Path, int]] = set()
    for name, orchestrator in sorted(fleet.orchestrators.items()) if fleet.on_chain else ():
        ticket_ev, found = terms_of(fleet, orchestrator).ticket_ev, list(sales(fleet, name))
        far = [sale for sale in found if sale.highest is not None and sale.highest < ticket_ev]
        cheapest = max(far, key=lambda sale: sale.lasts(ticket_ev).microseconds, default=None)
        if cheapest is not None and (cheapest.path, ticket_ev) not in seen:
            seen.add((cheapest.path, ticket_ev))
            yield _too_far(fleet, name, cheapest, found)


def _too_far(fleet: Fleet, name: str, sale: Sale, found: list[Sale]) -> Diagnostic:
    terms, enough = terms_of(fleet, fleet.orchestrators[name]), fitting(found, sale)
    return warning(
        "ticket-pays-far-ahead",
        f"one ticket of {name} pays for {sale.lasts(terms.ticket_ev)} of {sale.what}: with payments so far apart, one "
        "that comes late ends the session",
        ticket_value(fleet, name, terms),
        [Label(sale.path, "the price")],
        f'write ticket_ev = "{round_up(enough)}" for {name}'
        if enough
        else f"no ticket_ev suits all that {name} sells: sell this at an orchestrator of its own, or at a higher price",
    )
