"""A gateway serves video or AI, but it can use none of the orchestrators it lists for that.

Why: the gateway accepts streams or AI requests, but finds no orchestrator for them: each one on its list serves
something else, or the gateway drops it, because it blocks the account or wants a newer release.

Example:

    [gateways.gate]
    mode = "ai"
    orchestrators = ["orch"]

    [orchestrators.orch]
    mode = "video"

Instead:

    [gateways.gate]
    mode = "ai"
    orchestrators = ["orch"]

    [orchestrators.orch]
    mode = "dual"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.discovery import BLOCKED, OLDER, Search, searches
from fleetc.language.fleet import Fleet, Node
from fleetc.language.signing import finder
from fleetc.places.diagnostic import Diagnostic, Label, error

_SHOWN = 6


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the gateways that list only this fleet; another rule has those for which all are too old."""
    for name, search in searches(fleet).items():
        if not search.closed or all(search.dropped.get(seller) == OLDER for seller in search.found):
            continue
        for work, kind in (("video", "video"), ("ai", "AI")):
            if fleet.gateways[name].mode not in (work, "dual"):
                continue
            serving = [seller for seller in search.found if fleet.orchestrators[seller].mode in (work, "dual")]
            if all(seller in search.dropped for seller in serving):
                yield _nobody(fleet, name, search, work, kind)


def _nobody(fleet: Fleet, name: str, search: Search, work: str, kind: str) -> Diagnostic:
    """What to say if nobody on the list serves it, or if the gateway drops all who do."""
    path = ("gateways", name)
    serving = [seller for seller in search.found if fleet.orchestrators[seller].mode in (work, "dual")]
    if not serving:
        return error(
            "gateway-finds-no-service",
            f"gateway {name} serves {kind}, but none of its orchestrators does",
            Label((*path, "mode"), f"serves {kind}"),
            [Label(("orchestrators", seller, "mode"), seller) for seller in search.found[:_SHOWN]],
            f'list an orchestrator with mode "{work}" or "dual", or change the mode of the gateway',
        )
    blocked = next((seller for seller in serving if search.dropped[seller] == BLOCKED), None)
    finding = finder(fleet, Node("gateways", name, fleet.gateways[name]))
    wallet = fleet.orchestrators[blocked].wallet if blocked is not None else None
    advice = "raise the release of one of them, or list others"
    if wallet is not None and finding is not None:
        advice = f'remove "{fleet.wallets[wallet].address}" from blocked in selection of {finding.name}, or list others'
    return error(
        "gateway-finds-no-service",
        f"gateway {name} can use none of its orchestrators for {kind}",
        Label((*path, "mode"), f"serves {kind}"),
        [Label(("orchestrators", seller), f"{seller}: {search.dropped[seller]}") for seller in serving[:_SHOWN]],
        advice,
    )
