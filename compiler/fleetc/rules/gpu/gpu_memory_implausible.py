"""The spec gives a GPU more memory than its model is sold with.

Why: every other check of the GPU's memory trusts this number.

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
    """Compare written sizes with the known models."""
    return capacity.implausible_memory(fleet)
