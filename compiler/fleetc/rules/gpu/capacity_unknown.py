"""A number is missing that decides whether a GPU can handle its work.

Why: fleetc has the memory of common GPU models only, and some models have several sizes. How many encode sessions a
consumer GPU allows depends on its driver: 3 are certain. Only the spec has the memory of a model. fleetc does not
guess: it reports what it cannot check, once per host.

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
