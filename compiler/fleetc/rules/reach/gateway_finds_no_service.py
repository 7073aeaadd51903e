"""A gateway serves video or AI, but none of the orchestrators it lists does.

Why: the gateway accepts streams or AI requests, but finds no orchestrator for them.

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

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error

_SHOWN = 6


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the gateways whose list only has orchestrators of this fleet."""
    for name, gateway in sorted(fleet.gateways.items()):
        modes = [fleet.orchestrators[o].mode for o in gateway.orchestrators if o in fleet.orchestrators]
        if not modes or len(modes) < len(gateway.orchestrators):
            continue
        for work, kind in (("video", "video"), ("ai", "AI")):
            if gateway.mode in (work, "dual") and not any(mode in (work, "dual") for mode in modes):
                yield error(
                    "gateway-finds-no-service",
                    f"gateway {name} serves {kind}, but none of its orchestrators does",
                    Label(("gateways", name, "mode"), f"serves {kind}"),
                    [Label(("orchestrators", o, "mode"), o) for o in gateway.orchestrators[:_SHOWN]],
                    f'list an orchestrator with mode "{work}" or "dual", or change the mode of the gateway',
                )
