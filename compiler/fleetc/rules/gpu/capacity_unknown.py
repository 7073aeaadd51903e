"""A number is missing that decides whether a GPU can handle its work.

Why: fleetc knows the memory of well known GPU models, but not of all, and some are sold in several sizes. How many
encode sessions a consumer GPU allows depends on its driver: 3 are certain. Only the spec says how much memory a model
needs. fleetc does not guess, so it reports what it cannot check, once per host.

Example:

    [hosts.gpu]
    gpus = [{ model = "A100" }]

    [ai_workers.w]
    gpus = [0]
    models = [{ use = "realvis", warm = true }]

Instead:

    [hosts.gpu]
    gpus = [{ model = "A100", memory = "80 GiB" }]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis import capacity
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Find the hosts whose GPUs carry work that cannot be weighed."""
    return capacity.unknown(fleet)
