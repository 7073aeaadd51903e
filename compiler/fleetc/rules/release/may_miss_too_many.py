"""A rollout may leave more hosts behind than one batch has.

Why: a batch is how many hosts you let fail together. A network that is cut off looks like many dead hosts: a rollout
that goes on without them leaves that many on the old release, and nobody looks.

Example:

    [rollout]
    batch = 1
    may_miss = 2

Instead:

    [rollout]
    batch = 2
    may_miss = 2
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error
from fleetc.text.counting import counted


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare what may be missed with a batch and with the fleet."""
    hosts = len(fleet.hosts)
    missable, most = fleet.rollout.missable(hosts), min(fleet.rollout.batch_size(hosts), hosts)
    if missable > most:
        yield error(
            "may-miss-too-many",
            f"a rollout may leave {counted(missable, 'host')} behind, and a batch of these {hosts} has {most}",
            Label(("rollout", "may_miss"), "more than a batch"),
            [Label(("rollout", "batch"))] if "batch" in fleet.rollout.model_fields_set else [],
            f"write may_miss = {most} or less, or larger batches",
        )
