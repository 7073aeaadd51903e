"""Whether a node uses the account and the chain of the spec, and what it says that it can pay.

In: a node and its answers. Out: findings. Amounts are in wei.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.monitoring import Monitoring
from fleetc.language.node import ChainSettings
from fleetc.language.orchestrator import Orchestrator, ServiceAddress
from fleetc.language.quantities import QuantityError, Wei
from fleetc.language.signing import talks_to_chain
from fleetc.rollout.verify import replies
from fleetc.rollout.verify.data import Fact, Found, NodeSeen, UnknownError
from fleetc.upstream import NETWORKS

_USUAL_PORTS = {"http": 80, "https": 443}
_SHOWN_HOURS = 24 * 366


def account(seen: NodeSeen) -> Iterator[Found]:
    """Its account, and the chain that it talks to."""
    node = seen.node
    if not talks_to_chain(seen.fleet, node) or not isinstance(node.settings, ChainSettings):
        return
    where = seen.service.health.status
    if node.settings.wallet is not None:
        wanted = str(seen.fleet.wallets[node.settings.wallet].address)
        said = replies.words(seen.reply(where, "/ethAddr"), "/ethAddr")
        if said.lower() != wanted.lower():
            message = f"it uses the account {replies.shown(said)} instead of {wanted}"
            yield seen.found("drift", "other-account", message, "wallet")
    network = NETWORKS.get(seen.fleet.fleet.network)
    said = replies.words(seen.reply(where, "/EthChainID"), "/EthChainID")
    if network is not None and said != str(network.chain_id):
        message = f"it talks to chain {replies.shown(said)} instead of {network.chain_id}"
        yield seen.found("drift", "other-chain", message)._replace(place=("fleet", "network"))


def deposit(seen: NodeSeen) -> Iterator[Found]:
    """What a node that pays says of its deposit and reserve."""
    own = seen.funds
    if own is None or seen.service.role not in ("gateway", "remote-signer"):
        return
    said, held = _sender(seen)
    shares = seen.fleet.monitoring or Monitoring()
    planned: dict[str, tuple[Wei | None, str]] = {
        "deposit": (own.deposit, shares.deposit_low),
        "reserve": (own.reserve, shares.reserve_low),
    }
    for what, amount in held.items():
        if amount is None:
            raise UnknownError(f"/senderInfo does not say its {what}")
        wish, share = planned[what]
        low = 0 if wish is None else wish.wei * int(share.removesuffix("%")) // 100
        if not amount.wei or amount.wei < low:
            hours = lasting(own.cost, amount) if what == "deposit" else ""
            message = f"its {what} is {amount}{f' of the {wish} that the spec plans' if wish else ''}{hours}"
            found = seen.found("warning", f"{what}-low", message)
            yield found._replace(place=("wallets", own.wallet))
    withdrawn = replies.number(said.get("WithdrawRound"))
    if withdrawn:
        message = f"its deposit can be withdrawn from round {withdrawn} on, so orchestrators refuse its tickets"
        yield seen.found("warning", "deposit-unlocking", message)._replace(place=("wallets", own.wallet))


def _sender(seen: NodeSeen) -> tuple[Mapping[str, Any], dict[str, Wei | None]]:
    """What /senderInfo says, and its deposit and reserve; None for one that it does not say."""
    said = replies.mapping(seen.reply(seen.service.health.status, "/senderInfo"), "/senderInfo")
    reserve = said.get("Reserve")
    return said, {
        "deposit": _wei(said.get("Deposit")),
        "reserve": _wei(reserve.get("FundsRemaining") if isinstance(reserve, dict) else reserve),
    }


def _wei(said: object) -> Wei | None:
    """An amount of whole wei that somebody says; None for what no chain can have."""
    amount = replies.number(said)
    try:
        return None if amount is None else Wei(int(amount))
    except QuantityError:
        return None


def lasting(cost: Fraction | None, amount: Wei) -> str:
    """How long a deposit lasts at a cost in wei an hour, as the end of a sentence."""
    if not cost or not amount.wei:
        return ""
    hours = amount.wei / cost
    return "" if hours > _SHOWN_HOURS else f", which lasts {float(hours):.1f} h at the stated load"


def amounts(seen: NodeSeen) -> Iterator[Fact]:
    """What a node that pays says of its deposit and reserve, and how long the deposit lasts; none if it is silent."""
    own = seen.funds
    if own is None:
        return
    try:
        _, held = _sender(seen)
    except UnknownError:
        return
    for what, amount in held.items():
        if amount is not None:
            yield Fact(seen.host.name, seen.service.name, what, str(amount))
    if held["deposit"] is not None and own.cost:
        lasts = f"{float(held['deposit'].wei / own.cost):,.1f} h"
        yield Fact(seen.host.name, seen.service.name, "deposit lasts", lasts)


def registration(seen: NodeSeen) -> Iterator[Found]:
    """What the chain has of an orchestrator, as the node says it: whether it is active, and its address."""
    node = seen.node
    settings = node.settings
    if not isinstance(settings, Orchestrator) or not talks_to_chain(seen.fleet, node):
        return
    said = replies.mapping(seen.reply(seen.service.health.status, "/orchestratorInfo"), "/orchestratorInfo")
    registered = said.get("Transcoder")
    if not isinstance(registered, dict):
        raise UnknownError("/orchestratorInfo does not say how it is registered")
    address = registered.get("ServiceURI")
    wanted = effective.service_address(seen.fleet, node, settings)
    own = _addresses(seen.fleet, settings)
    if isinstance(address, str) and address and wanted is not None and place_in(address) not in own:
        message = f"the chain has its address as {replies.shown(address)} instead of {wanted.value.scheme}://"
        message += place_of(wanted.value)
        advice = "register the address of the spec with the node's command line, or correct the spec"
        found = seen.found("drift", "other-service-address", message, help=advice)
        yield found._replace(place=wanted.origin.paths[0] if wanted.origin.paths else seen.place)
    if str(registered.get("Active")).lower() != "true":
        message = "it is not in the active set, so no gateway that searches the chain gives it work"
        yield seen.found("warning", "orchestrator-inactive", message)


def _addresses(fleet: Fleet, settings: Orchestrator) -> set[str]:
    """Places that an account may be registered with: it has one address, and several orchestrators may have it."""
    found = set()
    for name, other in fleet.orchestrators.items():
        if _account(fleet, other) == _account(fleet, settings):
            address = effective.service_address(fleet, Node("orchestrators", name, other), other)
            found |= set() if address is None else {place_of(address.value)}
    return found


def _account(fleet: Fleet, settings: Orchestrator) -> str:
    wallet = fleet.wallets.get(settings.wallet or "")
    return str(settings.orchestrator_address or (wallet and wallet.address)).lower()


def place_of(address: ServiceAddress) -> str:
    """Host and port of a service address, in lower case."""
    return f"{address.host}:{address.port or _USUAL_PORTS[address.scheme]}".lower()


def place_in(url: str) -> str:
    """Host and port in a URL that others wrote, in lower case."""
    scheme, _, rest = url.lower().rpartition("://")
    place = rest.partition("/")[0]
    return place if place.rpartition(":")[2].isdigit() else f"{place}:{_USUAL_PORTS.get(scheme, 443)}"
