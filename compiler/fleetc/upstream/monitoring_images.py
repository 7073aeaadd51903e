"""The programs of the monitoring project: image, default port and user of each.

In: `monitoring_images.toml` beside this file, read on the first question, because only few fleets ask one. Out:
`monitoring_images()`.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from fleetc.upstream import load


class MonitoringImage(NamedTuple):
    """One program: its image with version and digest, its usual port, and the user it runs as, as "uid:gid"."""

    image: str
    port: int
    user: str


@cache
def monitoring_images() -> dict[str, MonitoringImage]:
    """Every program of the project, by the name of its service there."""
    return {name: MonitoringImage(**row) for name, row in load("monitoring_images.toml").items()}
