"""A node runs AI models on a GPU whose id has two digits.

Why: the host port of a runner container ends in the GPU id, and only ids 0 to 9 give a valid port. The container does
not start.

Example:

    [ai_workers.w]
    gpus = [10]

Instead:

    [ai_workers.w]
    gpus = [9]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error

_HIGHEST = 9


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the nodes that start runner containers."""
    for node in fleet.nodes:
        ids = effective.gpu_ids(fleet, node)
        if isinstance(ids, str) or not ids or not effective.runs_models(fleet, node).value:
            continue
        index = next((index for index, gpu in enumerate(ids) if gpu > _HIGHEST), None)
        if index is not None:
            yield error(
                "gpu-id-too-high",
                f"{node.name} runs AI models on GPU {ids[index]}, but runner containers only work on 0 to {_HIGHEST}",
                Label((*node.path, "gpus", index)),
                help="list GPUs from 0 to 9, and use the others for transcoding",
            )
