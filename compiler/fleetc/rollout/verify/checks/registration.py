"""Whether the chain has orchestrators as the spec does: in the active set, and at their service addresses.

In: the chain's answer to a host, and the node's own answer. Out: findings. Both are judged alike. The node only reports
its own account, not `orchestrator_address` (orchestratorInfoHandler in server/handlers.go, v0.9.1). For another account
only the chain counts.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.discovery import is_named, listing, lists_unknown, registered_account, registrations
from fleetc.blueprint.blueprint import HostBlueprint
from fleetc.language import effective
from fleetc.language.answers import once_for_all
from fleetc.language.fleet import Fleet, Node
from fleetc.language.orchestrator import Orchestrator, ServiceAddress
from fleetc.language.signing import talks_to_chain
from fleetc.rollout.verify import replies
from fleetc.rollout.verify.data import Finding, HostAnswer, Kind, NodeSeen, UnknownError

CODES = ("orchestrator-inactive", "other-service-address")
"""What both the chain and the node may report about an orchestrator."""

_OF_THE_RPC_ADDRESS = frozenset({"rpc-answers", "rpc-of-this-chain"})
"""Findings that make answers through an RPC address impossible."""

_USUAL_PORTS = {"http": 80, "https": 443}


def by_chain(fleet: Fleet, host: HostBlueprint, answer: HostAnswer) -> Iterator[Finding]:
    """The chain's answers to a host about its orchestrators, running or not; others are unknown."""
    for service in host.services:
        settings = fleet.orchestrators.get(service.name)
        if settings is None:
            continue
        node = Node("orchestrators", service.name, settings)
        if not talks_to_chain(fleet, node) or registered_account(fleet, settings) is None:
            continue
        registered = answer.registrations.get(node.name)
        if registered is not None and not registered.reason:
            yield from _judged(fleet, node, settings, registered.active, registered.address)
        elif registered is not None or not any(alert.code in _OF_THE_RPC_ADDRESS for alert in answer.alerts):
            reason = registered.reason if registered is not None else "its host has no answer of the chain about it"
            yield _found(node, "unknown", "rpc-answers", reason)


def by_node(seen: NodeSeen) -> Iterator[Finding]:
    """The node's report of its own account, if that is the registered one."""
    node, settings = seen.node, seen.node.settings
    if not isinstance(settings, Orchestrator) or not talks_to_chain(seen.fleet, node):
        return
    wallet = seen.fleet.wallets.get(settings.wallet or "")
    if wallet is not None and not _same(wallet.address, registered_account(seen.fleet, settings)):
        return
    answer = replies.mapping(seen.reply(seen.service.health.status, "/orchestratorInfo"), "/orchestratorInfo")
    registered = answer.get("Transcoder")
    if not isinstance(registered, dict):
        raise UnknownError("/orchestratorInfo has no registration")
    address = registered.get("ServiceURI")
    active = str(registered.get("Active")).lower() == "true"
    yield from _judged(seen.fleet, node, settings, active, address if isinstance(address, str) else "")


def _judged(fleet: Fleet, node: Node, settings: Orchestrator, active: bool, address: str) -> Iterator[Finding]:
    """Whether it is active, and at an address of the spec. An inactive account needs none."""
    wanted = effective.service_address(fleet, node)
    if wanted is not None:
        for finding in _of_address(fleet, node, settings, wanted.value, address, active):
            yield finding._replace(place=wanted.origin.paths[0]) if wanted.origin.paths else finding
    if not active:
        message = "it is not in the active set, so no gateway that searches the chain gives it work"
        yield _found(node, "warning", "orchestrator-inactive", message)


def _of_address(
    fleet: Fleet, node: Node, settings: Orchestrator, wanted: ServiceAddress, address: str, active: bool
) -> Iterator[Finding]:
    """What the chain has is the address of an orchestrator with its account, though not always its own."""
    if not address and not active:
        return
    there = _at_places(fleet).get((listing(fleet, settings), place_in(address)))
    if there is None:
        has = f"its address as {replies.shown(address)}" if address else "no address of it,"
        message = f"the chain has {has} instead of {wanted.scheme}://{place_of(wanted)}"
        advice = "register the address of the spec with the node's command line, or correct the spec"
        yield _found(node, "drift", "other-service-address", message)._replace(help=advice)
    elif place_of(wanted) != place_in(address) and not is_named(fleet, node, wanted) and not lists_unknown(fleet):
        message = (
            f"the chain has its account at the address of {there.name}, and no gateway of this fleet lists it: "
            "gateways that search the chain do not find it"
        )
        advice = "list it in a gateway, name it in instances of the registered one, or give it its own wallet"
        yield _found(node, "warning", "other-service-address", message)._replace(help=advice)


@once_for_all
def _at_places(fleet: Fleet) -> dict[tuple[str, str], Node]:
    """The first orchestrator, by name, of each account in a registry at each address."""
    every = ((account, one) for account, members in registrations(fleet).items() for one in reversed(members))
    return {(account, place_of(one.address)): one.node for account, one in every}


def _found(node: Node, kind: Kind, code: str, message: str) -> Finding:
    return Finding(kind, code, node.settings.host, node.name, f"{node.name}: {message}", node.path)


def _same(account: object, other: object) -> bool:
    """Whether two accounts are the same one, in capitals or not."""
    return str(account).lower() == str(other).lower()


def place_of(address: ServiceAddress) -> str:
    """Host and port of a service address, in lower case."""
    return f"{address.host}:{address.port or _USUAL_PORTS[address.scheme]}".lower()


def place_in(url: str) -> str:
    """Host and port in a URL that others wrote, in lower case."""
    scheme, _, rest = url.lower().rpartition("://")
    place = rest.partition("/")[0]
    return place if place.rpartition(":")[2].isdigit() else f"{place}:{_USUAL_PORTS.get(scheme, 443)}"
