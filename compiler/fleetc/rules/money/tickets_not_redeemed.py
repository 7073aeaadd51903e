"""The tickets of a gateway are worth less than it costs to redeem them.

Why: above 3 gwei, tickets may be worth less than redeeming costs (gas of redeeming x gas price). The orchestrator still
issues them but never redeems the winners: it works for nothing. The face value is at most the payer's reserve divided
by the size of the active set. fleetc assumes 100 orchestrators, and gas_price of [fleet] or else 0.05 gwei.

Example:

    [fleet]
    gas_price = "5 gwei"

    [wallets.payer]
    reserve = "0.5 ETH"

Instead:

    [fleet]
    gas_price = "5 gwei"

    [wallets.payer]
    reserve = "1 ETH"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis import tickets
from fleetc.analysis.payments import Meeting, meetings, round_up
from fleetc.language.fleet import Fleet
from fleetc.language.quantities import Wei
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each wallet, and the orchestrator that pays the most for gas; another rule checks max_face_value."""
    short: dict[str, list[Meeting]] = {}
    for meeting in meetings(fleet):
        face = meeting.ticket.face
        if not meeting.ticket.refusal and face <= _cost(meeting) and face != meeting.terms.max_face_value:
            short.setdefault(meeting.wallet, []).append(meeting)
    for wallet, found in sorted(short.items()):
        dearest = max(found, key=_cost)
        face, cost = dearest.ticket.face, _cost(dearest)
        yield warning(
            "tickets-not-redeemed",
            f"{dearest.whose} redeems no ticket of {dearest.buyer}: a ticket pays at most {Wei(face)}, "
            f"but redeeming it costs {Wei(cost)} {dearest.at_least}",
            Label(("wallets", wallet, "reserve")),
            [Label(("orchestrators", dearest.seller), "works for nothing")] if dearest.seller else [],
            f'set more aside, and write reserve = "{round_up(dearest.chain.pool * (cost + 1))}" or more',
        )


def _cost(meeting: Meeting) -> int:
    return tickets.cost(meeting.terms, meeting.chain)
