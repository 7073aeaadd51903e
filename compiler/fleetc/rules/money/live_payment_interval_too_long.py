"""A gateway pays for live AI video less often than it has paid in advance.

Why: a gateway pays for 60 seconds when a stream starts, and then once per live_payment_interval for the time since the
last payment. The orchestrator debits the stream every 5 s or so, whatever its own interval is, and closes it with
"insufficient balance" when the credit is used up. With an interval of 60 s or more, that is before the second payment.

Example:

    [gateways.gate]
    live_payment_interval = "90s"

Instead:

    [gateways.gate]
    live_payment_interval = "5s"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.rhythm import SECONDS
from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.quantities import Duration
from fleetc.places.diagnostic import Diagnostic, Label, warning

_IN_ADVANCE = Duration(SECONDS["720p"] * 1_000_000)


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each AI gateway on a chain."""
    for name, gateway in sorted(fleet.gateways.items()) if fleet.on_chain else ():
        interval, node = gateway.live_payment_interval, Node("gateways", name, gateway)
        if interval is not None and effective.serves_ai(node) and interval.microseconds >= _IN_ADVANCE.microseconds:
            yield warning(
                "live-payment-interval-too-long",
                f"streams of live AI through gateway {name} end after {_IN_ADVANCE}: it pays for that long in advance, "
                f"and then every {interval}",
                Label((*node.path, "live_payment_interval")),
                help='write live_payment_interval = "5s", the default',
            )
