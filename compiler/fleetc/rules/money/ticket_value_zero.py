"""The tickets of an orchestrator are worth nothing.

Why: with ticket_ev = "0 wei" the node starts, but no gateway can make a ticket.

Example:

    [orchestrators.orch]
    ticket_ev = "0 wei"

Instead:

    [orchestrators.orch]
    ticket_ev = "8 gwei"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.tickets import Terms
from fleetc.language.fleet import Fleet
from fleetc.language.quantities import Wei
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each orchestrator on a chain."""
    for name, orchestrator in sorted(fleet.orchestrators.items() if fleet.on_chain else ()):
        if orchestrator.ticket_ev is not None and not orchestrator.ticket_ev.wei:
            yield error(
                "ticket-value-zero",
                f"no gateway can pay {name}: its tickets are worth nothing",
                Label(("orchestrators", name, "ticket_ev")),
                help=f'write ticket_ev = "{Wei(Terms().ticket_ev)}", the default, or more',
            )
