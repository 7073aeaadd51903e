"""A node that runs models itself has a model price for a single gateway.

Why: the node reads every entry of its model list as one more copy to run. On an AI worker of an orchestrator, prices
have no effect at all.

Example:

    [orchestrators.orch]
    mode = "ai"
    models = [{ use = "realvis", gateway_prices = { gate = "3000 wei / pixel" } }]

Instead:

    [orchestrators.orch]
    mode = "ai"
    ai_work = "remote"
    models = [{ use = "realvis", gateway_prices = { gate = "3000 wei / pixel" } }]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.fleet import Fleet
from fleetc.language.node import AiSettings
from fleetc.language.worker import AiWorker
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the models of each node that runs them."""
    for node in fleet.nodes:
        settings = node.settings
        if not isinstance(settings, AiSettings) or not effective.runs_models(fleet, node).value:
            continue
        for index, use in enumerate(settings.models):
            if use.gateway_prices:
                worker = isinstance(settings, AiWorker)
                yield error(
                    "model-gateway-price-on-worker",
                    f"{node.name} runs model {use.use} itself, but has prices of it for single gateways",
                    Label((*node.path, "models", index, "gateway_prices")),
                    help="write the prices in the orchestrator"
                    if worker
                    else "let AI workers run the models, or remove the prices",
                )
