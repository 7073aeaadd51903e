"""A node uses a GPU that its host does not have.

Why: the node stops at its start because the device is missing.

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

from compiler.diagnostics import Diagnostic, Label, error
from compiler.model import effective
from compiler.model.fleet import Fleet


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
            known = "only GPU 0" if count == 1 else f"the GPUs 0 to {count - 1}"
            yield error(
                "gpu-not-on-host",
                f"{node.name} uses GPU {ids[beyond]}, and host {host} has {known}",
                Label((*node.path, "gpus", beyond)),
                [Label(("hosts", host, "gpus"), "the GPUs of the host, from 0")],
                'use ids from the list, write gpus = "all", or add the GPU to the host',
            )
