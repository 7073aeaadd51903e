"""The reserve that a gateway pays from is too small for a single ticket.

Why: an orchestrator gives a payer tickets up to its share of the payer's reserve: the reserve divided by the size of
the active set. It gives none unless that share exceeds ticket_ev and covers the cost of redeeming (gas of redeeming x
gas price of at most 3 gwei). The gateway then gets no session and cannot pay; the orchestrator logs "insufficient
sender reserve". fleetc assumes 100 active orchestrators, the most on Arbitrum One. The gas price is gas_price of
[fleet], or else 0.05 gwei. It is an error if no gas price and no active set would help a gateway that lists the
orchestrator. Otherwise it is a warning. The same applies to a signer whose clients buy the live runners in
buys_runners.

Example:

    [wallets.payer]
    deposit = "0.5 ETH"
    reserve = "0.005 ETH"

Instead:

    [wallets.payer]
    deposit = "0.5 ETH"
    reserve = "0.3 ETH"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis import tickets
from fleetc.analysis.payments import Meeting, of_seller, refused, round_up
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each wallet, and the orchestrator whose tickets need the most of it."""
    for wallet, found in refused(fleet, tickets.RESERVE):
        dearest = max(found, key=_needed)
        certain = any(meeting.listed and _certain(meeting) for meeting in found)
        assumed = "" if certain else f", {dearest.at_least}"
        yield (error if certain else warning)(
            "reserve-backs-no-ticket",
            f"the reserve of wallet {wallet} is too small for a ticket of {dearest.whose}, "
            f"so {dearest.buyer} cannot pay it{assumed}",
            Label(("wallets", wallet, "reserve")),
            of_seller(fleet, dearest),
            f'set more aside, and write reserve = "{round_up(_needed(dearest))}" or more in wallets.{wallet}',
        )


def _needed(meeting: Meeting) -> int:
    """The smallest reserve with which a ticket is above its value and worth redeeming."""
    least = max(meeting.terms.ticket_ev, tickets.cost(meeting.terms, meeting.chain)) + 1
    return meeting.chain.pool * least


def _certain(meeting: Meeting) -> bool:
    alone = meeting._replace(chain=tickets.quiet(meeting.chain)._replace(pool=1))
    return alone.ticket.refusal == tickets.RESERVE
