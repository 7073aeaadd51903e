"""A node lists the same GPU, or the same live runner, twice.

Why: the node opens two sessions on a GPU that is there twice and counts it as two, so it accepts work that does not
fit. It stops at a list that has one live runner twice: the name of a runner is its label.

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
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, Path, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look for repeated ids in each list of GPUs, and for repeated names in each list of runners."""
    for node in fleet.nodes:
        ids = effective.gpu_ids(fleet, node)
        if isinstance(ids, str):
            continue
        again = next((at for at, gpu in enumerate(ids) if gpu in ids[:at]), None)
        if again is not None:
            path = (*node.path, "gpus")
            once = f"write gpus = [{', '.join(map(str, dict.fromkeys(ids)))}]"
            yield _twice(node.name, f"GPU {ids[again]}", (*path, again), (*path, ids.index(ids[again])), once)
    seen: dict[tuple[str, str], Path] = {}
    for offer in offers(fleet):
        before = seen.setdefault((offer.orchestrator.name, offer.name), offer.path)
        if before != offer.path:
            advice = "remove one of them; capacity says how many sessions a runner takes"
            yield _twice(offer.orchestrator.name, f"runner {offer.name}", offer.path, before, advice)


def _twice(who: str, what: str, path: Path, first: Path, advice: str) -> Diagnostic:
    labels = [Label(first, "first here")]
    return error("listed-twice", f"{who} lists {what} twice", Label(path, "here again"), labels, advice)
