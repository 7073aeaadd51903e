"""A node lists the same GPU or live runner twice, or one model both warm and cold.

Why: the node opens two sessions on a GPU that is there twice and counts it as two, so it accepts work that does not
fit. It stops at a list that has one live runner twice: the name of a runner is its label. It
panics at startup if a model is both warm and cold.

Example:

    [transcoders.t]
    gpus = [0, 0]

Instead:

    [transcoders.t]
    gpus = [0, 1]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.effective_runners import offers
from fleetc.language.fleet import Fleet, Node
from fleetc.language.node import AiSettings
from fleetc.places.diagnostic import Diagnostic, Label, Path, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look for repeated ids in each list of GPUs, and for repeated names in each list of runners."""
    for node in fleet.nodes:
        ids = effective.gpu_ids(fleet, node)
        listed = () if isinstance(ids, str) else ids
        again = next((at for at, gpu in enumerate(listed) if gpu in listed[:at]), None)
        if again is not None:
            path = (*node.path, "gpus")
            once = f"write gpus = [{', '.join(map(str, dict.fromkeys(listed)))}]"
            yield _twice(node.name, f"GPU {listed[again]}", (*path, again), (*path, listed.index(listed[again])), once)
        if isinstance(node.settings, AiSettings) and effective.runs_models(fleet, node).value:
            yield from _models(fleet, node, node.settings)
    seen: dict[tuple[str, str], Path] = {}
    for offer in offers(fleet):
        before = seen.setdefault((offer.orchestrator.name, offer.name), offer.path)
        if before != offer.path:
            advice = "remove one of them; capacity says how many sessions a runner takes"
            yield _twice(offer.orchestrator.name, f"runner {offer.name}", offer.path, before, advice)


def _twice(who: str, what: str, path: Path, first: Path, advice: str) -> Diagnostic:
    labels = [Label(first, "first here")]
    return error("listed-twice", f"{who} lists {what} twice", Label(path, "here again"), labels, advice)


def _models(fleet: Fleet, node: Node, settings: AiSettings) -> Iterator[Diagnostic]:
    """Two names with the same pipeline and id are one model."""
    seen: dict[tuple[str, str], int] = {}
    for index, use in enumerate(settings.models):
        model = fleet.models[use.use]
        first = seen.setdefault((model.pipeline, model.id), index)
        before = settings.models[first]
        if before.warm != use.warm:
            path = (*node.path, "models")
            yield error(
                "listed-twice",
                f"{node.name} lists model {use.use} both warm and cold",
                Label((*path, index), "warm" if use.warm else "cold"),
                [Label((*path, first), "warm" if before.warm else "cold")],
                "keep one of the entries, or make both warm",
            )
