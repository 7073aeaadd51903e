"""Which orchestrators of a fleet a gateway finds: those on its list, else those in the registry that it searches.

In: a sound `Fleet` and its gateways and orchestrators. Out: names, the registry and account of a node, and who shares
the one address that a registry has of an account. Called by the market, by rules about both sides of a purchase, and by
checks of the chain. Orchestrators from a gateway's webhook are unknown.

Source: a node searches the registry of its controller, or with `-aiServiceRegistry` a second one for AI, never both
(`cmd/livepeer/starter/starter.go`, v0.9.1).
"""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple

from fleetc.language import effective
from fleetc.language.answers import once_for_all
from fleetc.language.fleet import Fleet, Node
from fleetc.language.gateway import Buyer, Gateway, Webhook
from fleetc.language.orchestrator import Orchestrator, ServiceAddress
from fleetc.language.quantities import EthAddress
from fleetc.language.signing import finder
from fleetc.places.diagnostic import Path

MAIN, AI = "main", "AI"
"""The two registries of service addresses on a chain."""


def registry_of(orchestrator: Orchestrator) -> str:
    """The registry that lists an orchestrator."""
    own = orchestrator.ai_registry
    return AI if own or (own is None and orchestrator.mode == "ai") else MAIN


def registered_account(fleet: Fleet, orchestrator: Orchestrator) -> EthAddress | None:
    """The registered account of an orchestrator; None if it names neither that account nor a wallet."""
    if orchestrator.orchestrator_address is not None:
        return orchestrator.orchestrator_address
    return fleet.wallets[orchestrator.wallet].address if orchestrator.wallet is not None else None


def registry_searched(settings: Buyer) -> str | None:
    """The registry that a gateway or signer searches; None if it has a list, or gets its orchestrators from others."""
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


@once_for_all
def registered(fleet: Fleet) -> dict[str, tuple[str, ...]]:
    """The orchestrators of the fleet in each registry, sorted."""
    found = [(name, registry_of(settings)) for name, settings in sorted(fleet.orchestrators.items())]
    return {registry: tuple(name for name, its in found if its == registry) for registry in (MAIN, AI)}


class Sharer(NamedTuple):
    """An orchestrator that may share the registered address of its account: its address, and the origin."""

    node: Node
    address: ServiceAddress
    place: Path


def sharers(fleet: Fleet, orchestrator: Orchestrator) -> tuple[Sharer, ...]:
    """The orchestrators of the same account in the same registry, by name, with this one; off-chain there are none."""
    return registrations(fleet).get(listing(fleet, orchestrator), ())


@once_for_all
def registrations(fleet: Fleet) -> dict[str, tuple[Sharer, ...]]:
    """The orchestrators of the fleet that share an address in a registry; a registry has one of each account."""
    found: dict[str, list[Sharer]] = {}
    for name, settings in sorted(fleet.orchestrators.items()) if fleet.on_chain else ():
        node = Node("orchestrators", name, settings)
        address = effective.service_address(fleet, node)
        if address is not None and registered_account(fleet, settings) is not None:
            place = address.origin.paths[0] if address.origin.paths else node.path
            found.setdefault(listing(fleet, settings), []).append(Sharer(node, address.value, place))
    return {key: tuple(members) for key, members in found.items()}


def listing(fleet: Fleet, settings: Orchestrator) -> str:
    """The account and the registry that have the address of an orchestrator."""
    return f"{str(registered_account(fleet, settings)).lower()} {registry_of(settings)}"


def is_named(fleet: Fleet, node: Node, address: ServiceAddress) -> bool:
    """Whether a gateway or signer of the fleet lists an orchestrator, or another orchestrator advertises it."""
    namers = _namers(fleet)
    return node.name in namers or bool(namers.get(address.authority, set()) - {node.name})


@once_for_all
def _namers(fleet: Fleet) -> dict[str, set[str]]:
    """Who names each address, or each name of an orchestrator: "" for a buyer, else the orchestrator's name."""
    found: dict[str, set[str]] = {}
    buyers = (*fleet.gateways.values(), *fleet.remote_signers.values())
    for listed in (listed for buyer in buyers for listed in buyer.orchestrators):
        found.setdefault(listed.partition("://")[2] or listed, set()).add("")
    for name, settings in fleet.orchestrators.items():
        for url in settings.instances:
            found.setdefault(f"{url.host}:{url.port}", set()).add(name)
    return found


def tells_of(one: Sharer, authorities: Set[str]) -> bool:
    """Whether an orchestrator advertises one of these addresses, each a name and a port, beside its own."""
    settings = one.node.settings
    instances = settings.instances if isinstance(settings, Orchestrator) else ()
    told = {f"{url.host}:{url.port}" for url in instances} - {one.address.authority}
    return not told.isdisjoint(authorities)


def lists_unknown(fleet: Fleet) -> bool:
    """Whether a webhook or an external signer may choose orchestrators for a gateway of this fleet."""
    for name, settings in fleet.gateways.items():
        found = finder(fleet, Node("gateways", name, settings))
        if found is None or (isinstance(found.settings, Buyer) and isinstance(found.settings.discovery, Webhook)):
            return True
    return False


def to_register(fleet: Fleet, orchestrator: Orchestrator) -> tuple[Sharer, ...]:
    """Candidates for the registered address with which each orchestrator is found.

    An orchestrator that advertises others, or that is unlisted, needs that address. If there is no such one, or
    several, any will do as well as another.
    """
    members = sharers(fleet, orchestrator)
    authorities = {one.address.authority for one in members}
    telling = [one for one in members if tells_of(one, authorities)]
    unnamed = [one for one in members if not is_named(fleet, one.node, one.address)]
    for few in (telling, unnamed):
        if len({one.address for one in few}) == 1:
            return tuple(few)
    return members
