"""Warm models and avatar slots need more memory than their GPU has.

Why: containers of warm models start with the node, in the order of the list, on its GPUs in turn, and stay loaded. If
one of them runs out of GPU memory, it never becomes healthy, and the node stops. fleetc assumes that an avatar slot
takes `slot_memory`, 8 GiB by default, when it starts. A slot that names no GPU may use the memory left on all GPUs. The
message names the smallest set of models that is already too much, and single changes that make it fit.

Example:

    [hosts.gpu]
    gpus = [{ model = "RTX 4090", memory = "24 GiB" }, { model = "RTX 4090", memory = "24 GiB" }]

    [ai_workers.w]
    gpus = [0]
    containers_per_gpu = 2
    models = [{ use = "upscaler", warm = true }, { use = "video", warm = true }]  # 12 GiB and 20 GiB

Instead:

    [ai_workers.w]
    gpus = [0, 1]
    models = [{ use = "upscaler", warm = true }, { use = "video", warm = true }]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis import capacity
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Add up the warm models of each listed GPU."""
    return capacity.memory_exceeded(fleet)
