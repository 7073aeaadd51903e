"""Which orchestrators of a fleet a gateway finds: those on its list, else those in the registry that it searches.

In: a sound `Fleet` and its gateways and orchestrators. Out: names, and the registry of a node. Called by the rules
about both sides of a purchase. A gateway with a webhook is told by others whom it finds, so nothing is known of it.

Source: a node looks in the registry of its controller, or with `-aiServiceRegistry` in a second one for AI, never in
both (`cmd/livepeer/starter/starter.go`, v0.9.1).
"""

from __future__ import annotations

from compiler.model.fleet import Fleet
from compiler.model.gateway import Gateway
from compiler.model.orchestrator import Orchestrator

MAIN, AI = "main", "AI"
"""The two registries of service addresses on a chain."""


def registry_of(settings: Gateway | Orchestrator) -> str | None:
    """The registry that a gateway searches or an orchestrator is in; None for a gateway with a list or a webhook."""
    if isinstance(settings, Orchestrator):
        own = settings.ai_registry
        return AI if own or (own is None and settings.mode == "ai") else MAIN
    if settings.orchestrators or settings.discovery not in ("registry", "ai-registry"):
        return None
    return AI if settings.discovery == "ai-registry" or settings.mode == "ai" else MAIN


def found_by(fleet: Fleet, gateway: Gateway) -> tuple[str, ...]:
    """The orchestrators of this fleet that a gateway can find, sorted; others may be found too."""
    if gateway.orchestrators:
        return tuple(sorted({name for name in gateway.orchestrators if name in fleet.orchestrators}))
    registry = registry_of(gateway)
    if registry is None:
        return ()
    return registered(fleet)[registry]


def registered(fleet: Fleet) -> dict[str, tuple[str, ...]]:
    """The orchestrators of the fleet in each registry, sorted."""
    answers = fleet.answers[registered]
    if not answers:
        for registry in (MAIN, AI):
            answers[registry] = tuple(
                name for name, settings in sorted(fleet.orchestrators.items()) if registry_of(settings) == registry
            )
    return answers
