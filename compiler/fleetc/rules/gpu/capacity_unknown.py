"""A number is missing that decides whether a GPU can carry its work.

Why: the memory of well known GPU models is built in, but not of all models, and some are sold with several sizes. How
many encode sessions a consumer GPU allows depends on its driver: 3 are certain. How much memory a model takes stands
nowhere but in the spec. Nothing is guessed, so what cannot be checked is said, once for each host.

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
