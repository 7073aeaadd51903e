"""An on-chain orchestrator sells work without a price.

Why: without a base price or the model's own, the node panics at startup, or sells transcoding for nothing. It refuses
its whole list of live runners if one has no price, and turns away a runner that registers itself without one.

Example:

    [orchestrators.orch]
    mode = "video"

Instead:

    [orchestrators.orch]
    mode = "video"
    price = "1200 wei / pixel"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.effective_runners import offers
from fleetc.language.fleet import Fleet, Node
from fleetc.language.orchestrator import Orchestrator
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at orchestrators on a chain. One that runs its models itself or through live runners needs no base price."""
    if not fleet.on_chain:
        return
    yield from _runners(fleet)
    for node in fleet.nodes:
        settings = node.settings
        if not isinstance(settings, Orchestrator):
            continue
        runs = effective.runs_models(fleet, node).value or effective.live_runners_alone(fleet, node).value
        needs_base = effective.serves_video(node) or not runs
        if settings.price is None and needs_base:
            yield error(
                "orchestrator-price-unset",
                f"orchestrator {node.name} has no price" + _without_work(node),
                Label(node.path, "here"),
                help='decide on a price, and write it like price = "..."',
            )
        elif effective.serves_ai(node) and (settings.price is None or settings.price.is_zero):
            yield from _models(fleet, node, settings)


def _without_work(node: Node) -> str:
    return " for video" if effective.serves_video(node) else ", but its node needs one because others run its models"


def _models(fleet: Fleet, node: Node, settings: Orchestrator) -> Iterator[Diagnostic]:
    for index, use in enumerate(settings.models):
        if effective.model_price(fleet, node, index, use) is None:
            yield error(
                "orchestrator-price-unset",
                f"orchestrator {node.name} has no price for model {use.use}",
                Label((*node.path, "models", index), "offered here"),
                [Label(("models", use.use), "no price here either")],
                f'decide on a price, and write it in models.{use.use}, like price = "..."',
            )


def _runners(fleet: Fleet) -> Iterator[Diagnostic]:
    for offer in {offer.name: offer for offer in reversed([*offers(fleet)])}.values():
        if offer.runner.price is None:
            yield error(
                "orchestrator-price-unset",
                f"runner {offer.name} has no price, and {offer.orchestrator.name} sells it on a chain",
                Label(offer.of_runner, "no price here"),
                [Label(offer.path, "offered here")],
                'decide on a price, and write it like price = "0.10 USD / hour"',
            )
