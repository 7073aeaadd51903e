"""A node lists the same GPU twice.

Why: the node opens two sessions on that GPU and counts it as two, so it accepts work that does not fit.

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
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look for repeated ids in each list."""
    for node in fleet.nodes:
        ids = effective.gpu_ids(fleet, node)
        if isinstance(ids, str):
            continue
        seen: dict[int, int] = {}
        for index, gpu in enumerate(ids):
            first = seen.setdefault(gpu, index)
            if first != index:
                path = (*node.path, "gpus")
                once = ", ".join(map(str, dict.fromkeys(ids)))
                yield error(
                    "gpu-listed-twice",
                    f"{node.name} lists GPU {gpu} twice",
                    Label((*path, index), "here again"),
                    [Label((*path, first), "first here")],
                    f"write gpus = [{once}]",
                )
                break
