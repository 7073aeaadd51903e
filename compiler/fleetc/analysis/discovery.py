"""Which orchestrators of a fleet a gateway asks, and why not the others. Only this file answers that question.

In: a sound `Fleet` and its gateways and orchestrators. Out: one `Search` for each gateway, the registry and account of
a node, and who shares the one address that a registry has of an account. Called by the market, by rules about both
sides of a purchase, and where the chain is asked. If a webhook tells a gateway which orchestrators to use, nothing is
known about them.

Source (v0.9.1): a node searches the registry of its controller, or with `-aiServiceRegistry` a second one for AI, never
both (`cmd/livepeer/starter/starter.go`). It drops an orchestrator whose process has a blocked account, unless a webhook
names it, and one that reports an older release than it wants (`discovery/`, `core/capabilities.go`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import NamedTuple

from fleetc.language import effective
from fleetc.language.answers import once_for_all
from fleetc.language.fleet import Fleet, Node
from fleetc.language.gateway import Buyer, Gateway, Webhook
from fleetc.language.orchestrator import Orchestrator, ServiceAddress
from fleetc.language.quantities import EthAddress
from fleetc.language.signer import Signer
from fleetc.language.signing import finder
from fleetc.places.diagnostic import Path
from fleetc.upstream import Release

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


NOT_LISTED = "it is not on the list of the gateway"
ELSEWHERE = "it is in the other registry"
BLOCKED = "the gateway blocks its account"
OLDER = "it runs an older release than the gateway accepts"
"""Why a gateway does not ask an orchestrator."""
UNSURE = "it is found only if its address is the one that its account registered"
"""Why nobody knows whether a gateway finds an orchestrator."""
_VERSION = re.compile(r"v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:[-+][0-9A-Za-z.+-]+)?")


class Search(NamedTuple):
    """How a gateway, or its signer for it, finds orchestrators.

    `found` are the orchestrators of this fleet that it finds, `listed` the same if it has a list, else None; `closed`
    says that the list names no others. `registry` is the one that it searches, None if it has a list or others tell it
    whom to use. `dropped` has why it drops orchestrators that it finds; `unsure` are those that may not be registered.
    """

    found: tuple[str, ...]
    listed: tuple[str, ...] | None
    closed: bool
    registry: str | None
    dropped: Mapping[str, str]
    unsure: frozenset[str]
    registries: Mapping[str, str]

    def finds(self, seller: str) -> str:
        """Why it does not find an orchestrator of this fleet, or nothing."""
        if self.listed is not None:
            return "" if seller in self.listed else NOT_LISTED
        return ELSEWHERE if self.registry not in (None, self.registries[seller]) else ""

    def why_not(self, seller: str) -> str:
        """Why it does not ask an orchestrator of this fleet, or nothing."""
        return self.finds(seller) or self.dropped.get(seller, "")

    def surely_asks(self, seller: str) -> bool:
        """Whether it asks an orchestrator of this fleet for certain; nobody knows whom a webhook names."""
        known = self.listed is not None or self.registry is not None
        return known and not self.why_not(seller) and seller not in self.unsure


@once_for_all
def searches(fleet: Fleet) -> dict[str, Search]:
    """The search of each gateway, by name. Gateways that drop the same have one object for it."""
    registries = {name: registry_of(settings) for name, settings in sorted(fleet.orchestrators.items())}
    dropped: dict[tuple[tuple[str, ...], Release | None], dict[str, str]] = {}
    unsure: dict[int, frozenset[str]] = {}
    found: dict[str, Search] = {}
    for name, gateway in sorted(fleet.gateways.items()):
        finding = finder(fleet, Node("gateways", name, gateway))
        settings = finding.settings if finding is not None and isinstance(finding.settings, Gateway | Signer) else None
        listed = settings.orchestrators if settings is not None else ()
        registry = registry_searched(settings) if settings is not None else None
        extra = 0
        accounts: tuple[str, ...] = ()
        if settings is not None and (listed or not isinstance(settings.discovery, Webhook)):
            extra = settings.selection.extra_nodes or 0
            accounts = tuple(sorted({str(account).lower() for account in settings.selection.blocked}))
        key = (accounts if fleet.on_chain else (), wanted_release(gateway))
        if key not in dropped:
            dropped[key] = _dropped(fleet, *key)
        if registry is not None and extra not in unsure:
            unsure[extra] = _unsure(fleet, extra)
        own = _listed(fleet, listed, extra) if listed else None
        found[name] = Search(
            own if own is not None else registered(fleet).get(registry or "", ()),
            own,
            bool(listed) and all(seller in fleet.orchestrators for seller in listed),
            registry, dropped[key], unsure[extra] if registry is not None else frozenset(), registries,
        )  # fmt: skip
    return found


def _listed(fleet: Fleet, listed: Iterable[str], extra: int) -> tuple[str, ...]:
    """The orchestrators of this fleet on a list, and those that they tell a gateway of."""
    own = [seller for seller in listed if seller in fleet.orchestrators]
    return tuple(dict.fromkeys([*own, *(told for seller in own for told in _told(fleet, seller, extra))]))


def _told(fleet: Fleet, seller: str, extra: int) -> Iterator[str]:
    """Those that an orchestrator tells a gateway of that asks so many extra instances of each."""
    for url in fleet.orchestrators[seller].instances[:extra]:
        yield from _by_authority(fleet).get(f"{url.host}:{url.port}", ())


@once_for_all
def _by_authority(fleet: Fleet) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, settings in sorted(fleet.orchestrators.items()):
        address = effective.service_address(fleet, Node("orchestrators", name, settings))
        if address is not None:
            found.setdefault(address.value.authority, []).append(name)
    return found


def wanted_release(gateway: Gateway) -> Release | None:
    """The lowest release that a gateway accepts; None for any, also where its text is no version."""
    return release_in(gateway.selection.min_release or "")


def release_in(text: str) -> Release | None:
    """The release that a text names; None if it is no version."""
    version = _VERSION.fullmatch(text)
    if version is None:
        return None
    major, minor, patch = map(int, version.groups())
    return major, minor, patch


def _dropped(fleet: Fleet, accounts: tuple[str, ...], wanted: Release | None) -> dict[str, str]:
    """Why orchestrators are dropped: the node compares the account of their process."""
    found: dict[str, str] = {}
    for name, settings in fleet.orchestrators.items() if accounts or wanted else ():
        wallet = fleet.wallets[settings.wallet] if settings.wallet is not None else None
        if wallet is not None and str(wallet.address).lower() in accounts:
            found[name] = BLOCKED
        elif wanted is not None and effective.release_of(fleet, Node("orchestrators", name, settings)).value < wanted:
            found[name] = OLDER
    return found


def _unsure(fleet: Fleet, extra: int) -> frozenset[str]:
    """The orchestrators that a gateway only finds if their account does not have another address registered."""
    found: set[str] = set()
    for members in registrations(fleet).values():
        chosen = to_register(fleet, members)
        here = {one.address for one in chosen}
        told = set(_told(fleet, chosen[0].node.name, extra)) if len(here) == 1 else set()
        found |= {one.node.name for one in members if {one.address} != here and one.node.name not in told}
    return frozenset(found)


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


def to_register(fleet: Fleet, members: tuple[Sharer, ...]) -> tuple[Sharer, ...]:
    """Those of an account whose address the account may be registered with so that each orchestrator is found.

    An orchestrator that advertises others, or that is unlisted, needs that address. If there is no such one, or
    several, any will do as well as another.
    """
    authorities = {one.address.authority for one in members}
    telling = [one for one in members if tells_of(one, authorities)]
    unnamed = [one for one in members if not is_named(fleet, one.node, one.address)]
    for few in (telling, unnamed):
        if len({one.address for one in few}) == 1:
            return tuple(few)
    return members
