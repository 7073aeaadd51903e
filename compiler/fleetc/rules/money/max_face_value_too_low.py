"""An orchestrator's highest face value leaves no room for a ticket.

Why: the face value of a ticket is never above max_face_value. If it is not above ticket_ev, gateways refuse the ticket.
Unless it is above the cost of redeeming (gas of redeeming x gas price), the orchestrator does not issue or not redeem
the ticket. The first case is an error, as is failing even at 0.001 gwei or min_gas_price. Otherwise it is a warning, at
gas_price of [fleet] or else 0.05 gwei. A low face value also makes the orchestrator more expensive: it adds cost / face
to its price.

Example:

    [orchestrators.orch]
    max_face_value = "8 gwei"

Instead:

    [orchestrators.orch]
    max_face_value = "0.006 ETH"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis import tickets
from fleetc.analysis.acceptance import at_gas, chain_of, terms_of
from fleetc.analysis.payments import round_up
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each orchestrator on a chain that limits its tickets; the node reads 0 as no limit."""
    if not fleet.on_chain:
        return
    chain = chain_of(fleet)
    for name, orchestrator in sorted(fleet.orchestrators.items()):
        terms = terms_of(fleet, orchestrator)
        face, cost = terms.max_face_value, tickets.cost(terms, chain)
        if not face or face > max(terms.ticket_ev, cost):
            continue
        certain = face <= max(terms.ticket_ev, tickets.cost(terms, tickets.quiet(chain)))
        why = "worth ticket_ev" if face <= terms.ticket_ev else "worth redeeming"
        yield (error if certain else warning)(
            "max-face-value-too-low",
            f"no ticket of {name} is {why}: its max_face_value is too low{'' if certain else ' ' + at_gas(chain)}",
            Label(("orchestrators", name, "max_face_value")),
            help=f'remove it, or write "{round_up(max(terms.ticket_ev, cost) + 1)}" or more; '
            f'"{round_up(max(terms.ticket_ev, cost) * 100)}" adds 1 percent to the price',
        )
