"""A node, a live runner or an avatar slot uses a GPU that its host does not have.

Why: the node exits at startup because the device is missing, and the game of a slot never starts. A host without a list
has an unknown number of GPUs. If the fleet lists GPUs of other hosts, a live runner with GPUs on a host without any is
a warning.

Example:

    [hosts.gpu]
    gpus = [{ model = "RTX 4090" }]

    [transcoders.t]
    host = "gpu"
    gpus = [1]

Instead:

    [transcoders.t]
    host = "gpu"
    gpus = [0]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective, effective_avatar, effective_runners
from fleetc.language.fleet import Fleet, Stack
from fleetc.places.diagnostic import Diagnostic, Label, error, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare ids with the host's list; a host without a list has an unknown number of GPUs."""
    for node in fleet.nodes:
        host = node.settings.host
        count = len(fleet.hosts[host].gpus)
        ids = effective.gpu_ids(fleet, node)
        if not count or isinstance(ids, str):
            continue
        beyond = next((index for index, gpu in enumerate(ids) if gpu >= count), None)
        if beyond is not None:
            yield error(
                "gpu-not-on-host",
                f"{node.name} uses GPU {ids[beyond]}, but host {host} has {_known(count)}",
                Label((*node.path, "gpus", beyond)),
                [Label(("hosts", host, "gpus"), "the GPUs of the host, counted from 0")],
                'use ids from the list, write gpus = "all", or add the GPU to the host',
            )
    listed = next((name for name, host in sorted(fleet.hosts.items()) if host.gpus), None)
    for placed in fleet.placed_runners:
        if placed.runner.gpus is not None and not fleet.hosts[placed.host].gpus and listed is not None:
            yield warning(
                "gpu-not-on-host",
                f"runner {placed.name} uses GPUs of host {placed.host}, which lists none",
                Label((*placed.path, "gpus")),
                [
                    Label(("hosts", placed.host), "no gpus"),
                    Label(("hosts", listed, "gpus"), "other hosts list theirs"),
                ],
                f'write gpus = [{{ model = "..." }}] in hosts.{placed.host}, or use a host that has them',
            )
        count, ids = len(fleet.hosts[placed.host].gpus), effective_runners.gpu_ids(fleet, placed)
        at = next((at for at, gpu in enumerate(ids) if gpu >= count), None) if not isinstance(ids, str) else None
        if count and at is not None:
            yield error(
                "gpu-not-on-host",
                f"runner {placed.name} uses GPU {ids[at]}, but host {placed.host} has {_known(count)}",
                Label((*placed.path, "gpus", at)),
                [Label(("hosts", placed.host, "gpus"), "the GPUs of the host, counted from 0")],
                'use ids from the list, write gpus = "all", or add the GPU to the host',
            )
    for stack in fleet.stacks:
        yield from _slots(fleet, stack)


def _slots(fleet: Fleet, stack: Stack) -> Iterator[Diagnostic]:
    """One message for each place that names a GPU: a slot, or the table for all of its slots."""
    host = stack.settings.host
    count = len(fleet.hosts[host].gpus)
    said = set()
    for slot in effective_avatar.slots_of(fleet, stack) if count else ():
        place = slot.gpu_origin.paths[0]
        if isinstance(slot.gpu, int) and slot.gpu >= count and place not in said:
            said.add(place)
            yield error(
                "gpu-not-on-host",
                f"slot {slot.number} of {stack.name} uses GPU {slot.gpu}, but host {host} has {_known(count)}",
                Label(place),
                [Label(("hosts", host, "gpus"), "the GPUs of the host, counted from 0")],
                "use a position in the list, or add the GPU to the host",
            )


def _known(count: int) -> str:
    return "only GPU 0" if count == 1 else f"only GPUs 0 to {count - 1}"
