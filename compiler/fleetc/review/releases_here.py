"""What a change of the node means for one node of this spec, where the values of the spec decide.

In: a fleet and one of its nodes, with the service that runs it. Out: a sentence to add, "" for nothing to add, or None
if the change does not concern the node after all. `releases.py` asks, by the name of the change in `releases.toml`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fleetc.blueprint.blueprint import Service
from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.gateway import Buyer
from fleetc.language.node import ChainSettings
from fleetc.language.orchestrator import Orchestrator

_ROUTES = "write cli_transactions = true"


def _address(fleet: Fleet, node: Node, service: Service) -> str | None:
    """Only an orchestrator whose address the spec does not have: a wrong one in the spec is an error of its own."""
    if not isinstance(node.settings, Orchestrator):
        return ""
    return None if effective.service_address(fleet, node) else f"the spec has no address of {node.name}"


def _routes(fleet: Fleet, node: Node, service: Service) -> str:
    """Whose transactions people send through the node."""
    if isinstance(node.settings, Buyer):
        return f"{_ROUTES} to fund, unlock or withdraw a deposit through it"
    if isinstance(node.settings, Orchestrator):
        return f"{_ROUTES} to activate it, to change its cuts or its address, or to withdraw fees through it"
    return f"{_ROUTES} to send transactions through it"


def _reward(fleet: Fleet, node: Node, service: Service) -> str | None:
    """Whose account calls reward, and for whom; nobody who does not call is stopped."""
    settings = node.settings
    if not any(argument.flag == "reward" and argument.value == "true" for argument in service.arguments):
        return None
    wallet = fleet.wallets.get(settings.wallet or "") if isinstance(settings, ChainSettings) else None
    if wallet is None:
        return f"the spec has no account of {node.name}"
    own, other = wallet.address, getattr(settings, "orchestrator_address", None)
    if other is not None and str(other).lower() != str(own).lower():
        return f"{node.name} has the account {own}, which has to be the registered reward caller of {other}"
    sellers = (orchestrator.wallet for orchestrator in fleet.orchestrators.values())
    if isinstance(settings, Orchestrator) or getattr(settings, "wallet", None) in sellers:
        return f"{node.name} has the account {own}, so that has to be the registered orchestrator itself"
    return (
        f"{node.name} has the account {own}, which no orchestrator of this spec has: it has to be a registered reward "
        "caller, and name its orchestrator"
    )


HERE: Mapping[str, Callable[[Fleet, Node, Service], str | None]] = {
    "routable-service-address": _address,
    "cli-transaction-routes": _routes,
    "reward-of-another-account": _reward,
}
"""By the name of the change."""
