"""A node has both NetInt devices and GPUs.

Why: the node uses one kind of device for transcoding, and exits at startup if both are given.

Example:

    [transcoders.t]
    gpus = [0]
    netint = ["0"]

Instead:

    [transcoders.t]
    netint = ["0"]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.language.node import GpuSettings
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the nodes that may have both."""
    for node in fleet.nodes:
        settings = node.settings
        if isinstance(settings, GpuSettings) and settings.netint and settings.gpus is not None:
            yield error(
                "netint-with-gpus",
                f"{node.name} has both NetInt devices and GPUs, so its node refuses to start",
                Label((*node.path, "netint")),
                [Label((*node.path, "gpus"), "the GPUs")],
                "keep one of them, or run two transcoders",
            )
