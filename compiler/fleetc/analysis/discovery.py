"""Which orchestrators of a fleet a gateway finds: those on its list, else those in the registry that it searches.

In: a sound `Fleet` and its gateways and orchestrators. Out: names, and the registry and account of a node. Called by
the market, by rules about both sides of a purchase, and where the chain is asked. If a webhook tells a gateway which
orchestrators to use, nothing is known about them.

Source: a node searches the registry of its controller, or with `-aiServiceRegistry` a second one for AI, never both
(`cmd/livepeer/starter/starter.go`, v0.9.1).
"""

from __future__ import annotations

from fleetc.language.fleet import Fleet, Node
from fleetc.language.gateway import Buyer, Gateway
from fleetc.language.orchestrator import Orchestrator
from fleetc.language.quantities import EthAddress
from fleetc.language.signing import finder

MAIN, AI = "main", "AI"
"""The two registries of service addresses on a chain."""


def registry_of(orchestrator: Orchestrator) -> str:
    """The registry that lists an orchestrator."""
    own = orchestrator.ai_registry
    return AI if own or (own is None and orchestrator.mode == "ai") else MAIN


def registered_account(fleet: Fleet, orchestrator: Orchestrator) -> EthAddress | None:
    """The account whose registration counts for an orchestrator; None if it names neither that account nor a wallet."""
    if orchestrator.orchestrator_address is not None:
        return orchestrator.orchestrator_address
    return fleet.wallets[orchestrator.wallet].address if orchestrator.wallet is not None else None


def registry_searched(settings: Buyer) -> str | None:
    """The registry that a gateway or signer searches; None if it has a list, or others tell it whom to use."""
    if settings.orchestrators or settings.discovery not in ("registry", "ai-registry"):
        return None
    serves_ai_only = isinstance(settings, Gateway) and settings.mode == "ai"
    return AI if settings.discovery == "ai-registry" or serves_ai_only else MAIN


def found_by(fleet: Fleet, gateway: str) -> tuple[str, ...]:
    """The orchestrators of this fleet that a gateway, or its signer for it, can find, sorted; there may be others."""
    found = finder(fleet, Node("gateways", gateway, fleet.gateways[gateway]))
    if found is None or not isinstance(found.settings, Buyer):
        return ()
    if found.settings.orchestrators:
        return tuple(sorted({name for name in found.settings.orchestrators if name in fleet.orchestrators}))
    registry = registry_searched(found.settings)
    return () if registry is None else registered(fleet)[registry]


def registered(fleet: Fleet) -> dict[str, tuple[str, ...]]:
    """The orchestrators of the fleet in each registry, sorted."""
    answers = fleet.answers[registered]
    if not answers:
        for registry in (MAIN, AI):
            answers[registry] = tuple(
                name for name, settings in sorted(fleet.orchestrators.items()) if registry_of(settings) == registry
            )
    return answers
