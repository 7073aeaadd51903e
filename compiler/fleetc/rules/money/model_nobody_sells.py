"""No orchestrator of this fleet sells a model.

Why: the model is described but never offered, so each request for it fails. Often its name is missing from the
`models` of an orchestrator. A gateway that searches, or lists an outside orchestrator, may find it outside the fleet.

Example:

    [models.realvis]
    pipeline = "text-to-image"

    [orchestrators.orch]
    mode = "ai"
    models = [{ use = "pix2pix" }]

Instead:

    [models.realvis]
    pipeline = "text-to-image"

    [orchestrators.orch]
    mode = "ai"
    models = [{ use = "pix2pix" }, { use = "realvis" }]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.acceptance import Goods
from fleetc.analysis.economics import market_of
from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.gateway import Buyer, Gateway
from fleetc.language.node import AiSettings
from fleetc.language.signing import finder, payer
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at models that no node offers, and at caps for models that a gateway's list of orchestrators lacks.

    Only in a fleet on a chain with gateways and orchestrators for AI: elsewhere an unused model does no harm.
    """
    gateways = [n for n in fleet.nodes if isinstance(n.settings, Gateway) and effective.serves_ai(n)]
    sellers = [n for n in fleet.nodes if isinstance(n.settings, AiSettings) and effective.serves_ai(n)]
    if not fleet.on_chain or not gateways or not sellers:
        return
    used = [use.use for n in sellers if isinstance(n.settings, AiSettings) for use in n.settings.models]
    offered = {_goods(fleet, name) for name in set(used)}
    market = market_of(fleet)
    open_to_all = [node for node in gateways if not market.searches[node.name].closed]
    elsewhere = {goods for node in open_to_all for goods in _named(fleet, node).values()}
    for name in sorted(fleet.models):
        if _goods(fleet, name) not in offered and _goods(fleet, name) not in elsewhere:
            yield warning(
                "model-nobody-sells",
                f"no orchestrator sells model {name}",
                Label(("models", name), "here"),
                help=f'add {{ use = "{name}" }} to the models of an orchestrator, or remove the model',
            )
    for node in gateways:
        if market.searches[node.name].closed:
            yield from _not_listed(fleet, node, offered)


def _not_listed(fleet: Fleet, node: Node, offered: set[Goods]) -> Iterator[Diagnostic]:
    sold = set(market_of(fleet).view(node.name).models)
    finding, paying = finder(fleet, node) or node, payer(fleet, node) or node
    for name, goods in sorted(_named(fleet, node).items()):
        if goods in offered and goods not in sold:
            yield warning(
                "model-nobody-sells",
                f"gateway {node.name} has a cap for model {name}, but no orchestrator in its list sells it",
                Label((*paying.path, "max_model_prices", name), on_key=True),
                [Label((*finding.path, "orchestrators"), "the list")],
                "list an orchestrator that offers the model, or remove the cap",
            )


def _named(fleet: Fleet, node: Node) -> dict[str, Goods]:
    """The models that a gateway has caps for, by name."""
    paying = payer(fleet, node)
    caps = paying.settings.max_model_prices if paying is not None and isinstance(paying.settings, Buyer) else {}
    return {name: _goods(fleet, name) for name in caps if name in fleet.models}


def _goods(fleet: Fleet, name: str) -> Goods:
    return fleet.models[name].pipeline, fleet.models[name].id
