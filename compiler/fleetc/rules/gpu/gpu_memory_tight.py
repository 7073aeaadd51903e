"""Warm models and avatar slots use more than 85 % of the memory of their GPU.

Why: models need memory to work in, and so does transcoding on the same GPU. Above 85 % under normal load, give the work
separate GPUs, or it fails with "CUDA out of memory" on a busy day.

Example:

    [hosts.gpu]
    gpus = [{ model = "RTX 4090", memory = "24 GiB" }]

    [ai_workers.w]
    gpus = [0]
    containers_per_gpu = 2
    models = [{ use = "realvis", warm = true }, { use = "upscaler", warm = true }]  # 9 GiB and 12 GiB

Instead:

    [ai_workers.w]
    gpus = [0]
    models = [{ use = "realvis", warm = true }, { use = "upscaler" }]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis import capacity
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Add up the warm models of each listed GPU that they fit on."""
    return capacity.memory_tight(fleet)
