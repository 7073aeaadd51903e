"""A node keeps more models warm than it has room for.

Why: each warm model takes one slot of a GPU for every request that it serves at once. If they do not fit, the node
exits at startup with status 0. On the CPU there is one slot.

Example:

    [ai_workers.w]
    gpus = [0]
    models = [{ use = "realvis", warm = true }, { use = "whisper", warm = true }]

Instead:

    [ai_workers.w]
    gpus = [0, 1]
    models = [{ use = "realvis", warm = true }, { use = "whisper", warm = true }]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.node import AiSettings
from fleetc.language.worker import AiWorker
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Count slots and warm containers of each node that starts any; "all" GPUs of an unlisted host are unknown."""
    for node in fleet.nodes:
        settings = node.settings
        if not isinstance(settings, AiSettings) or not effective.runs_models(fleet, node).value:
            continue
        ids = effective.gpu_ids(fleet, node)
        if isinstance(ids, str) or (isinstance(settings, AiWorker) and settings.serverless):
            continue
        slots = len(ids) * (settings.containers_per_gpu or 1) if ids else 1
        warm = _warm(fleet, node, settings)
        if sum(warm.values()) > slots:
            yield _crowded(node, settings, len(ids), slots, warm)


def _warm(fleet: Fleet, node: Node, settings: AiSettings) -> dict[int, int]:
    """The number of containers of each warm entry that the node starts itself, by its position in the list."""
    counts = ((index, effective.warm_containers(fleet, node, use)) for index, use in enumerate(settings.models))
    return {index: count for index, count in counts if count}


def _crowded(node: Node, settings: AiSettings, gpus: int, slots: int, warm: dict[int, int]) -> Diagnostic:
    total = sum(warm.values())
    path = (*node.path, "models")
    room = (
        f"{slots} slot{'s' if slots > 1 else ''} on {gpus} GPU{'s' if gpus > 1 else ''}" if gpus else "the one CPU slot"
    )
    needed = -(-total // gpus) if gpus else 0
    share = f", or containers_per_gpu = {needed} if there is enough memory" if 0 < needed <= 10 else ""
    return error(
        "too-many-warm-containers",
        f"{node.name} keeps {total} containers warm but has {room}",
        Label(path, "here"),
        [Label((*path, index), f"{count} of them") for index, count in list(warm.items())[:6]],
        f"remove warm or capacity from some, or give the node more GPUs{share}",
    )
