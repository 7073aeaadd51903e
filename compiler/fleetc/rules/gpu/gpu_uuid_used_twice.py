"""Two GPUs of the fleet have the same UUID.

Why: a UUID belongs to one card. One of the two entries is an unfinished copy, and a node that names its GPU by UUID
gets the first.

Example:

    [hosts.gpu]
    gpus = [
      { model = "RTX 4090", uuid = "GPU-8a56a4bc-e184-4b6e-bb5e-c4d1b6b1b5f4" },
      { model = "RTX 4090", uuid = "GPU-8a56a4bc-e184-4b6e-bb5e-c4d1b6b1b5f4" },
    ]

Instead:

    [hosts.gpu]
    gpus = [
      { model = "RTX 4090", uuid = "GPU-8a56a4bc-e184-4b6e-bb5e-c4d1b6b1b5f4" },
      { model = "RTX 4090", uuid = "GPU-1f0c7d52-93a8-4c1e-8a4e-2f6f0b7d9c31" },
    ]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, Path, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Find UUIDs that two GPUs have, on one host or on two."""
    seen: dict[str, Path] = {}
    for name, host in sorted(fleet.hosts.items()):
        for index, gpu in enumerate(host.gpus):
            path = ("hosts", name, "gpus", index, "uuid")
            if gpu.uuid is not None and (first := seen.setdefault(gpu.uuid, path)) != path:
                yield error(
                    "gpu-uuid-used-twice",
                    f"two GPUs have the UUID {gpu.uuid}",
                    Label(path, "here again"),
                    [Label(first, "first here")],
                    "copy the UUID of each card from nvidia-smi -L on its host",
                )
