"""The deposit that a gateway pays from is below the face value of one ticket.

Why: a gateway makes no ticket with a face value above its deposit, or above deposit / deposit_multiplier. It then
refuses the orchestrator's tickets and buys nothing. The face value is 100 x the cost of redeeming (gas of redeeming x
gas price), at most reserve / 100 and max_face_value. fleetc assumes an active set of 100, and gas_price of [fleet] or
else 0.05 gwei. A deposit that is not even above ticket_ev is always too small: an error if the gateway lists the
orchestrator. Otherwise it is a warning. The same applies to a signer whose clients buy the live runners in
buys_runners.

Example:

    [wallets.payer]
    deposit = "0.001 ETH"
    reserve = "0.3 ETH"

Instead:

    [wallets.payer]
    deposit = "0.5 ETH"
    reserve = "0.3 ETH"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis import tickets
from fleetc.analysis.payments import Meeting, refused, round_up
from fleetc.language.fleet import Fleet
from fleetc.language.quantities import Wei
from fleetc.places.diagnostic import Diagnostic, Label, error, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each wallet, and the largest ticket that it must cover."""
    for wallet, found in refused(fleet, tickets.DEPOSIT):
        largest = max(found, key=_needed)
        certain = any(meeting.listed and _certain(meeting) for meeting in found)
        times = f" {largest.backing.multiplier} times" if largest.backing.multiplier > 1 else ""
        yield (error if certain else warning)(
            "deposit-below-face-value",
            f"the deposit of wallet {wallet} does not cover{times} a ticket of {largest.whose}, so {largest.buyer} "
            f"cannot pay it{'' if certain else ', ' + largest.at_least}",
            Label(("wallets", wallet, "deposit")),
            [Label(("orchestrators", largest.seller), f"its tickets have a face value of {Wei(largest.ticket.face)}")]
            if largest.seller
            else [],
            f'add to it, and write deposit = "{round_up(_needed(largest))}" or more in wallets.{wallet}',
        )


def _needed(meeting: Meeting) -> int:
    return meeting.ticket.face * meeting.backing.multiplier


def _certain(meeting: Meeting) -> bool:
    """Whether the deposit is too small for every face value, which is above the value of a ticket."""
    deposit = meeting.backing.deposit
    return deposit is not None and deposit // meeting.backing.multiplier <= meeting.terms.ticket_ev
