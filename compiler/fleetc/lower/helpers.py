"""Lowers the helpers that hold a wallet for others: remote signers, redeemers and reward callers.

In: a fleet and one of these nodes. Out: a `Service`.
"""

from __future__ import annotations

from fleetc.blueprint.blueprint import Argument, Service
from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.signer import Redeemer, RewardCaller, Signer
from fleetc.lower import common
from fleetc.lower.gateway import discovery
from fleetc.lower.prices import price_arguments, price_file, price_lines


def lower_signer(fleet: Fleet, node: Node, signer: Signer) -> Service:
    """The service of one remote signer."""
    http = effective.helper_http(node, signer)
    items = [
        common.role_flag("remoteSigner", node, "its table in the spec"),
        *common.settings_of_every_node(fleet, node),
        *common.chain(fleet, node, signer),
        Argument("httpAddr", str(http.value), http.origin),
        *discovery(fleet, node, signer),
        *price_arguments(fleet, node),
    ]
    files, prices = price_file(fleet, node), price_lines(fleet, node)
    return common.service(fleet, node, "remote-signer", items, files, prices=prices)


def lower_redeemer(fleet: Fleet, node: Node, redeemer: Redeemer) -> Service:
    """The service of one redeemer."""
    http = effective.helper_http(node, redeemer)
    items = [
        common.role_flag("redeemer", node, "its table in the spec"),
        *common.settings_of_every_node(fleet, node),
        *common.chain(fleet, node, redeemer),
        Argument("httpAddr", str(http.value), http.origin),
    ]
    return common.service(fleet, node, "redeemer", items)


def lower_reward_caller(fleet: Fleet, node: Node, caller: RewardCaller) -> Service:
    """The service of one reward caller, which has no role flag."""
    items = [*common.settings_of_every_node(fleet, node), *common.chain(fleet, node, caller)]
    return common.service(fleet, node, "reward-caller", items)
