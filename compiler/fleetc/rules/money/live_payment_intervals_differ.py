"""A gateway pays for live AI video at a different interval than an orchestrator of the fleet debits it.

Why: the gateway pays once per interval, and the orchestrator debits the stream once per its own interval, every 5 s by
default. If the credit does not cover a debit, the orchestrator closes the stream with "insufficient balance". A gateway
that pays more often than it is debited only makes more tickets.

Example:

    [gateways.gate]
    live_payment_interval = "30s"

    [orchestrators.orch]
    live_payment_interval = "5s"

Instead:

    [gateways.gate]
    live_payment_interval = "5s"

    [orchestrators.orch]
    live_payment_interval = "5s"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.discovery import found_by
from fleetc.language.fleet import Fleet
from fleetc.language.gateway import Gateway
from fleetc.language.orchestrator import Orchestrator
from fleetc.language.quantities import Duration
from fleetc.places.diagnostic import Diagnostic, Label, Path, warning

_DEFAULT = Duration(5_000_000)
_SHOWN = 6


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare each AI gateway on a chain with the AI orchestrators that it finds in the fleet."""
    if not fleet.on_chain:
        return
    unequal: dict[tuple[tuple[str, ...], Duration], list[str]] = {}
    for name, gateway in sorted(fleet.gateways.items()):
        if gateway.mode == "video":
            continue
        interval, sellers = _interval(gateway), found_by(fleet, name)
        if (sellers, interval) not in unequal:
            unequal[sellers, interval] = [
                seller
                for seller in sellers
                if fleet.orchestrators[seller].mode != "video" and _interval(fleet.orchestrators[seller]) != interval
            ]
        others = unequal[sellers, interval]
        if not others:
            continue
        first = _interval(fleet.orchestrators[others[0]])
        yield warning(
            "live-payment-intervals-differ",
            f"gateway {name} pays for live AI every {interval}, but orchestrator {others[0]} debits it every {first}",
            Label(_place(("gateways", name), gateway)),
            [
                Label(_place(("orchestrators", seller), fleet.orchestrators[seller]), seller)
                for seller in others[:_SHOWN]
            ],
            f'write live_payment_interval = "{first}" on both sides',
        )


def _interval(settings: Gateway | Orchestrator) -> Duration:
    return settings.live_payment_interval or _DEFAULT


def _place(path: Path, settings: Gateway | Orchestrator) -> Path:
    return path if settings.live_payment_interval is None else (*path, "live_payment_interval")
