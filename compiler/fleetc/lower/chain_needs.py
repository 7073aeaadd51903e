"""Lowers what a host asks the chain: its RPC address, wallets, price feeds, how orchestrators are registered.

In: a fleet and one of its hosts. Out: `Need` values, each once with all nodes that need it. Amounts are in wei.
Hosts ask the chain, not the machine that deploys: only they have the address as their nodes get it. What a wallet lacks
is a warning, because people fund it while nodes run; an account without anything whose nodes send transactions is an
error.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.discovery import AI, listing, registered_account, registry_of, sharers, to_register
from fleetc.analysis.prices import prices_of
from fleetc.blueprint.rollout import Need
from fleetc.language import effective
from fleetc.language.answers import once_for_all
from fleetc.language.effective_runners import offers_of
from fleetc.language.fleet import Fleet, Node
from fleetc.language.gateway import Buyer
from fleetc.language.monitoring import Monitoring
from fleetc.language.node import ChainSettings
from fleetc.language.orchestrator import Orchestrator
from fleetc.language.quantities import Url, Wei
from fleetc.language.secret_fields import SecretRef
from fleetc.language.signing import talks_to_chain
from fleetc.places.origin import Origin, given
from fleetc.upstream import AI_REGISTRY, FLAGS, NETWORKS

_ETHER = "wei"  # the currency of a price that no feed converts
_OF_RUNNERS = "USD"  # where the node has the price of each live runner
_SENDERS = ("orchestrators", "redeemers", "reward_callers")
"""Tables of nodes that send transactions by themselves."""

Facts = tuple[tuple[str, str], ...]


def chain_needs(fleet: Fleet, host: str) -> Iterator[Need]:
    """What the nodes of a host need on the chain; nothing if none uses it."""
    nodes = [node for node in fleet.nodes_by_host.get(host, ()) if talks_to_chain(fleet, node)]
    chosen = effective.rpc(fleet, host)
    if not nodes or chosen is None:
        return
    rpc, facts = _of_fleet(fleet) if chosen.value is fleet.fleet.rpc else _asked(fleet, chosen.value)
    names = tuple(sorted(node.name for node in nodes))
    written = "" if isinstance(chosen.value, SecretRef) else str(chosen.value)
    yield Need("rpc", written, chosen.origin, "access to the RPC service of the chain", names, facts)
    wallets: dict[str, list[Node]] = {}
    for node in sorted(nodes, key=lambda node: node.name):
        if isinstance(node.settings, ChainSettings) and node.settings.wallet is not None:
            wallets.setdefault(node.settings.wallet, []).append(node)
    for name, users in sorted(wallets.items()):
        yield _wallet(fleet, name, users, facts)
    yield from _price_feeds(fleet, nodes, rpc, chosen.origin)
    yield from _registrations(fleet, nodes, facts)


@once_for_all
def _of_fleet(fleet: Fleet) -> tuple[Facts, Facts]:
    """The needs at the fleet's address: hosts without their own share it."""
    return _asked(fleet, fleet.fleet.rpc)


def _asked(fleet: Fleet, written: Url | SecretRef | None) -> tuple[Facts, Facts]:
    """An RPC address, its expected chain ("" for an unknown network) and the controller."""
    network = NETWORKS.get(fleet.fleet.network)
    secret = isinstance(written, SecretRef)
    rpc = (
        ("chain_id", "" if network is None else str(network.chain_id)),
        ("kind", written.kind if isinstance(written, SecretRef) else ""),
        ("rpc", written.name if isinstance(written, SecretRef) else str(written)),
        ("variable", FLAGS["ethUrl"].env if secret else ""),
    )
    return rpc, (*rpc, ("controller", _controller(fleet)))


def _controller(fleet: Fleet) -> str:
    network = NETWORKS.get(fleet.fleet.network)
    if fleet.fleet.controller is not None:
        return str(fleet.fleet.controller)
    return network.controller if network is not None else ""


def _wallet(fleet: Fleet, name: str, users: list[Node], rpc: Facts) -> Need:
    wallet, shares = fleet.wallets[name], fleet.monitoring or Monitoring()
    pays = any(isinstance(node.settings, Buyer) for node in users)
    facts = [
        ("minimum", _digits(wallet.minimum_balance)),
        ("sends", "yes" if any(node.table in _SENDERS for node in users) else ""),
        ("pays", "yes" if pays else ""),
    ]
    for what, planned, low in (
        ("deposit", wallet.deposit, shares.deposit_low),
        ("reserve", wallet.reserve, shares.reserve_low),
    ):
        facts += [(what, _digits(planned)), (f"{what}_low", _digits(_share(planned, low)))]
    holds = ", ".join(_planned(fleet, name, pays))
    words = f"account with {holds}" if holds else ""
    nodes = tuple(node.name for node in users)
    return Need("wallet", str(wallet.address), given("wallets", name), words, nodes, (*rpc, *facts))


def _planned(fleet: Fleet, name: str, pays: bool) -> Iterator[str]:
    """The planned funds of an account, in words."""
    wallet = fleet.wallets[name]
    if _digits(wallet.minimum_balance):
        yield f"at least {wallet.minimum_balance}"
    if pays and _digits(wallet.deposit):
        yield f"a deposit of {wallet.deposit}"
    if pays and _digits(wallet.reserve):
        yield f"a reserve of {wallet.reserve}"


def _share(amount: Wei | None, percent: str) -> Wei | None:
    return None if amount is None else Wei(amount.wei * int(percent.removesuffix("%")) // 100)


def _digits(amount: Wei | None) -> str:
    return str(amount.wei) if amount is not None and amount.wei else ""


def _price_feeds(fleet: Fleet, nodes: list[Node], rpc: Facts, origin: Origin) -> Iterator[Need]:
    """The feeds that convert prices in other currencies, each with all that it has to convert."""
    feeds: dict[str, tuple[set[str], list[str]]] = {}
    for node in nodes:
        others = {price.price.currency for price in prices_of(fleet, node) if price.price is not None} - {_ETHER}
        if isinstance(node.settings, Orchestrator) and any(one.runner.price for one in offers_of(fleet, node)):
            others.add(_OF_RUNNERS)
        if others and isinstance(node.settings, Buyer | Orchestrator):
            feed = str(node.settings.price_feed or FLAGS["priceFeedAddr"].default)
            currencies, users = feeds.setdefault(feed, (set(), []))
            currencies.update(others)
            users.append(node.name)
    for feed, (currencies, users) in sorted(feeds.items()):
        facts = (*rpc, ("currencies", " ".join(sorted(currencies))))
        yield Need("price-feed", feed, origin, "", tuple(sorted(users)), facts)


def _registrations(fleet: Fleet, nodes: list[Node], rpc: Facts) -> Iterator[Need]:
    """The accounts of orchestrators, each with the registry of service addresses; "" for that of the controller."""
    for node in sorted(nodes, key=lambda node: node.name):
        settings = node.settings
        if not isinstance(settings, Orchestrator) or (account := registered_account(fleet, settings)) is None:
            continue
        named = settings.orchestrator_address is not None
        origin = given(*node.path, "orchestrator_address") if named else given("wallets", str(settings.wallet))
        facts = (*rpc, ("registry", AI_REGISTRY if registry_of(settings) == AI else ""))
        yield Need(
            "registration", str(account), origin, _to_register(fleet)[listing(fleet, settings)], (node.name,), facts
        )


_ADDRESSES = 3
"""How many addresses that would do are named."""


@once_for_all
def _to_register(fleet: Fleet) -> dict[str, str]:
    """What people do for an account once, by its entry in a registry, in words that all its orchestrators share."""
    of_entries = {listing(fleet, settings): settings for settings in fleet.orchestrators.values()}
    return {listed: _in_words(fleet, settings) for listed, settings in of_entries.items()}


def _in_words(fleet: Fleet, settings: Orchestrator) -> str:
    """The same of one entry: with several orchestrators of an account, not every address may do."""
    found = to_register(fleet, sharers(fleet, settings))
    addresses = list(dict.fromkeys(f"{one.address.scheme}://{one.address.authority}" for one in found))
    where = "in the AI registry" if registry_of(settings) == AI else "as its service address"
    if len(addresses) > _ADDRESSES:
        what = "one of the addresses of its orchestrators"
    else:
        what = " or ".join(addresses) or "its service address"
    return f"enough stake for the active set, and {what} registered {where}"
