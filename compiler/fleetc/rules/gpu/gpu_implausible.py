"""The spec gives a GPU more memory or encode sessions than its model has.

Why: every other check of the GPU trusts these numbers. If a patched driver allows more sessions, silence the warning.

Example:

    [hosts.gpu]
    gpus = [{ model = "RTX 4090", memory = "48 GiB" }]

Instead:

    [hosts.gpu]
    gpus = [{ model = "RTX 4090", memory = "24 GiB" }]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis import capacity
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare written numbers with the known models."""
    return capacity.implausible(fleet)
