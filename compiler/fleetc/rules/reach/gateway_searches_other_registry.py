"""A gateway searches one registry, but every orchestrator of the fleet that could serve it is in the other.

Why: a chain has two registries of orchestrators, the main one and one for AI, and a node uses exactly one of them. By
default an AI gateway searches the AI registry (see `discovery`), and an orchestrator with mode "ai" is in it (see
`ai_registry`). Every other node uses the main registry. The gateway never finds the orchestrators of the other
registry, and prints no error. It may find orchestrators of others, so this is a warning.

Example:

    [gateways.gate]
    mode = "ai"
    discovery = "ai-registry"

    [orchestrators.orch]
    mode = "dual"

Instead:

    [gateways.gate]
    mode = "ai"
    discovery = "ai-registry"

    [orchestrators.orch]
    mode = "dual"
    ai_registry = true
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.discovery import AI, MAIN, registered, searches
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning

_SHOWN = 6


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the gateways on a chain that search a registry."""
    if not fleet.on_chain:
        return
    serving = {
        (registry, work): [name for name in names if fleet.orchestrators[name].mode in (work, "dual")]
        for registry, names in registered(fleet).items()
        for work in ("video", "ai")
    }
    for name, gateway in sorted(fleet.gateways.items()):
        registry = searches(fleet)[name].registry
        if registry is None or gateway.remote_signer is not None:
            continue
        other = MAIN if registry == AI else AI
        wanted = ("video", "ai") if gateway.mode == "dual" else (gateway.mode,)
        missed = list(dict.fromkeys(seller for work in wanted for seller in serving[other, work]))
        if not missed or any(serving[registry, work] for work in wanted):
            continue
        own = "ai-registry" if other == AI else "registry"
        where = ("gateways", name, "discovery")
        yield warning(
            "gateway-searches-other-registry",
            f"gateway {name} searches the {registry} registry, but the orchestrators here are in the {other} one",
            Label(where, f"the {registry} registry"),
            [Label(("orchestrators", seller), f"in the {other} registry") for seller in missed[:_SHOWN]],
            f"write ai_registry = {'true' if registry == AI else 'false'} for the orchestrators, "
            + (f'discovery = "{own}" for the gateway, ' if other == AI or gateway.mode != "ai" else "")
            + "or list them: orchestrators = [...]",
        )
