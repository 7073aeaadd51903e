"""What nodes say together of their fleet, hosts, wallets and models: chain, release, who calls reward, prices.

In: the nodes and their tables. Out: values and questions of shared tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from fleetc.adopt.found.questions import Ask, Reason, Why
from fleetc.adopt.node import secrets
from fleetc.adopt.node.listeners import is_loopback, site_of
from fleetc.adopt.node.settings import OFFCHAIN, Running, is_known
from fleetc.adopt.tables.filling import known_reference
from fleetc.adopt.tables.session import Session, Table, toml
from fleetc.language.quantities import QuantityError, parse_url
from fleetc.lower.common import DEFAULT_IMAGE
from fleetc.text import leaks
from fleetc.text.counting import first_of
from fleetc.upstream import NETWORKS

Tables = Mapping[str, Mapping[str, Table]]
_SCHEMES = ("http", "https", "ws", "wss")
_SHOWN = 3
"""How many addresses are named."""


# ------------------------------------------------------------------------------------------------------------- chain


def asks_chain(node: Running) -> bool:
    """Whether a node asks the chain."""
    return node.on_chain and node.role not in ("transcoder", "ai-worker")


def fill_chain(nodes: Sequence[Running], fleet: Table, session: Session) -> None:
    """The RPC address and the controller of the fleet; a host whose nodes ask another address has that one."""
    values: dict[str, Any] = {}
    of_hosts: dict[str, dict[str, list[Running]]] = {}
    for node in filter(asks_chain, nodes):
        _fill_controller(node, fleet)
        if not node.text("ethUrl"):
            node.reasons.setdefault("ethUrl", Reason(Why.RPC_OF_SPEC))
            continue
        node.reasons.setdefault("ethUrl", Reason(Why.REFERENCE))
        value = rpc_value(node, session)
        key = node.text("ethUrl") if is_known(node) else str(value)
        values.setdefault(key, value)
        of_hosts.setdefault(node.host, {}).setdefault(key, []).append(node)
    if not values:
        if fleet.values.get("network") != OFFCHAIN:
            question = fleet.put(Ask.NO_SOURCE, "rpc", '{ env = "RPC_URL" }')
            for node in nodes:
                node.reasons["ethUrl"] = question.reason
        return
    settled = Counter(key for named in of_hosts.values() for key in named if len(named) == 1)
    usual = max(settled, key=lambda key: (not _is_local(key), settled[key]), default="")
    if usual:
        fleet.values["rpc"] = values[usual]
    for host, named in of_hosts.items():
        if len(named) > 1:
            table = fleet if len(of_hosts) == 1 else session.hosts[host]
            offered = next((key for key in named if not _is_local(key)), next(iter(named)))
            asks = [f"{', '.join(one.name for one in some)} asks {site_of(key)}" for key, some in named.items()]
            question = table.put(Ask.SEVERAL_RPC, "rpc", toml(values[offered]), nodes=first_of(asks, _SHOWN))
            for node in (node for some in named.values() for node in some):
                node.reasons["ethUrl"] = question.reason
        elif {*named} != {usual}:
            session.hosts[host].values["rpc"] = values[next(iter(named))]


def _is_local(address: str) -> bool:
    """Whether an address is of the host itself, where other hosts have other services."""
    try:
        return is_loopback(parse_url(address, _SCHEMES).host)
    except QuantityError:
        return False


def _fill_controller(node: Running, fleet: Table) -> None:
    """The controller that a node names, unless it is the one that the node knows for its network."""
    controller, known = node.text("ethController"), NETWORKS.get(node.network)
    if controller and not node.word("ethController").holes:
        if known is None or known.controller.lower() != controller.lower():
            fleet.values.setdefault("controller", controller)
    elif known is None and "controller" not in fleet.values:
        fleet.put(Ask.CONTROLLER, "controller", '"0x..."')


def rpc_value(node: Running, session: Session) -> object:
    """The address that a node asks, or a reference to it: a path or a query may be a key."""
    word = node.word("ethUrl")
    if (known := known_reference(node.process, "LP_ETHURL", word)) is not None:
        return known
    if word.holes:
        return {"env": "RPC_URL"}
    text = word.text
    if "://" not in text and not text.startswith("/"):
        message = "without a scheme the node takes the address for the path of a local socket"
        session.ledger.mistake(
            "adopt-value-invalid", word.span, "-ethUrl", message, "write https:// before it; the spec has it"
        )
        node.reasons["ethUrl"] = Reason(Why.NO_SCHEME)
        text = f"https://{text}"
    variable = word.alone or "RPC_URL"
    if not secrets.keyless("ethUrl", text):
        return session.secret(word, variable, "the RPC address with its key")
    if leaks.may_need_key(text) and not node.process.ours:  # ours had it in a spec before
        otherwise = "; if no part of it is a key, write the address itself as rpc"
        return session.secret(word, variable, "the RPC address, which may hold a key,", otherwise)
    try:
        parse_url(text, _SCHEMES)
    except QuantityError:
        return {"env": "RPC_URL"}
    return text


# ----------------------------------------------------------------------------------------------------------- release


def fill_releases(nodes: Sequence[Running], fleet: Table, tables: Tables) -> None:
    """The release of the fleet, and of nodes that run another one; a question where no source says one."""
    releases = {node.name: node.release for node in nodes}
    common = Counter(filter(None, releases.values())).most_common(1)
    if common:
        fleet.values["node_release"] = common[0][0]
    else:
        fleet.put(Ask.RELEASE, "node_release")
    for node in nodes:
        table = tables[node.table][node.name]
        own = releases[node.name]
        if own not in ("", fleet.values.get("node_release")):
            table.values["node_release"] = own
        image = node.process.image
        if image is None:
            if common and not own:
                table.put(Ask.RELEASE, "node_release", toml(common[0][0]))
        elif image.holes or "<" in image.text:
            question = table.put(Ask.NO_VALUE, "image", text=image.text)
            node.reasons["image"] = question.reason
        elif image.text != (f"{DEFAULT_IMAGE}:{own}" if own else ""):
            table.values["image"] = image.text.removeprefix("docker.io/")


# ----------------------------------------------------------------------------------------------------------- wallets


def fill_rewards(nodes: Sequence[Running], tables: Tables, session: Session) -> None:
    """Which process of each wallet calls reward."""
    holders_of: dict[object, list[Running]] = {}
    for node in nodes:
        holders_of.setdefault(tables[node.table][node.name].values.get("wallet"), []).append(node)
    for name, wallet in session.wallets.items():
        holders = holders_of.get(name, [])
        stated = [node for node in holders if "reward" in node.settings]
        callers = [node for node in stated if node.on("reward")]
        silent = [node for node in holders if node not in stated]
        if callers:
            wallet.values["reward_by"] = callers[0].name
        elif len(holders) == 1 and holders[0].table == "reward_callers":
            continue
        elif stated and (not silent or len(holders) == 1):
            wallet.values["reward_by"] = "none"
        elif len(holders) > 1 and len(silent) == 1:
            wallet.values["reward_by"] = silent[0].name
        elif len(holders) > 1:
            example = next((node.name for node in silent if node.role == "orchestrator"), "none")
            names = ", ".join(node.name for node in silent)
            question = wallet.put(Ask.REWARD, "reward_by", toml(example), nodes=names)
            for node in silent:
                node.reasons["reward"] = question.reason
        if "reward_by" in wallet.values:
            for node in holders:
                node.reasons.setdefault("reward", Reason(Why.REWARD))


# ------------------------------------------------------------------------------------------------------------ models


def fill_model_prices(tables: Tables, session: Session) -> None:
    """A price that all nodes ask for a model is a price of the model."""
    uses: dict[str, list[dict[str, object]]] = {}
    for table in tables.get("orchestrators", {}).values():
        for use in table.values.get("models", []):
            uses.setdefault(use["use"], []).append(use)
    for name, some in uses.items():
        prices = {use.get("price") for use in some}
        if len(prices) == 1 and None not in prices:
            session.models[name].values["price"] = some[0]["price"]
            for use in some:
                del use["price"]
