"""The tickets of an orchestrator are worth more than a gateway allows for one ticket, or for one payment.

Why: a gateway refuses tickets of an expected value above tickets.max_ev (3000 gwei by default). It also refuses
payments above tickets.max_total_ev (20000 gwei); a payment is at least one ticket. The orchestrator rounds the chance
of winning up, so a ticket_ev that equals the limit is refused too. Only the gateway's log shows it. It is an error if
the gateway lists the orchestrator. Otherwise it is a warning. The same applies to a signer whose clients buy the live
runners in buys_runners. The other side may be outside the fleet: then it has the default limits or ticket_ev.

Example:

    [orchestrators.orch]
    ticket_ev = "3000 gwei"

Instead:

    [orchestrators.orch]
    ticket_ev = "100 gwei"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis import tickets
from fleetc.analysis.payments import Meeting, bound, meetings, of_seller
from fleetc.language.fleet import Fleet
from fleetc.language.quantities import Wei
from fleetc.places.diagnostic import Diagnostic, Path, error, warning

_FIELDS = {tickets.VALUE: "max_ev", tickets.TOTAL: "max_total_ev"}


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each payer and each kind of ticket that it gets, once."""
    seen: set[tuple[Path, int]] = set()
    for meeting in meetings(fleet):
        field = _FIELDS.get(meeting.ticket.refusal)
        key = (meeting.payer, meeting.terms.ticket_ev)
        if field is not None and key not in seen:
            seen.add(key)
            yield _refused(fleet, meeting, field)


def _refused(fleet: Fleet, meeting: Meeting, field: str) -> Diagnostic:
    most = getattr(meeting.backing, field)
    value = meeting.terms.ticket_ev
    limits = [bound(fleet, meeting.payer, field, most)] if meeting.payer else []
    payer = str(meeting.payer[1]) if meeting.payer else "a payer with default settings"
    what = "ticket" if field == "max_ev" else "payment"
    than = "as much as, which rounding makes more than," if value == most else "more than"
    steps = (
        [f'write ticket_ev = "{Wei(most * 9 // 10)}" or less for {meeting.seller}']
        if most > 1 and meeting.seller
        else []
    )
    steps += [f'raise tickets.{field} of {payer} to "{Wei(value + value // 10 + 1)}"'] if meeting.payer else []
    place, *related = [*of_seller(fleet, meeting), *limits]
    return (error if meeting.listed else warning)(
        "ticket-value-above-limit",
        f"a ticket of {meeting.whose} is worth {Wei(value)}, {than} the {Wei(most)} that {payer} allows for a {what}",
        place,
        related,
        ", or ".join(steps),
    )
