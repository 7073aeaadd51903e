"""Whether the disk has room for what comes.

In: a need, and what is asked. Out: findings.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from ..places import CURRENT, RELEASES, SECRETS, STATE, UNITS, Json
from ..programs import program_path, programs_in
from ..system import run
from .asked import MEGABYTE, Asked, Finding
from .files import is_read_only, nearest

SPACE_FOR_RELEASES = 20 * MEGABYTE
SPACE_FOR_A_PROGRAM = 600 * MEGABYTE
SPACE_FOR_AN_IMAGE = 6 * 1024 * MEGABYTE
"""What has to be free: for two releases and the journal, for a program that comes, for an image that is pulled."""


def check_disk(_need: Json, asked: Asked) -> Iterator[Finding]:
    """Whether the places that a rollout writes to take it."""
    wanted, needed = asked.wanted, dict.fromkeys((RELEASES, SECRETS, UNITS, STATE), SPACE_FOR_RELEASES)
    missing = [one for one in programs_in(wanted) if one.get("sha256") and not os.path.exists(program_path(one))]
    needed[CURRENT] = 0
    needed[RELEASES] += SPACE_FOR_A_PROGRAM * len(missing)
    if wanted["runtime"] == "docker":
        images = {service["image"] for service in wanted["services"]}
        lacking = [image for image in images if run("docker", "image", "inspect", image).status]
        root = run("docker", "info", "--format", "{{ .DockerRootDir }}", seconds=30).out.strip()
        if lacking and root.startswith("/"):
            needed[root] = SPACE_FOR_AN_IMAGE * len(lacking)
    by_device: dict[int, list[str]] = {}
    for path in needed:
        there = nearest(path)
        if is_read_only(there) or not os.access(there, os.W_OK):  # a directory alone can be mounted so, or immutable
            yield "disk-read-only", "%s takes no writes, and a rollout writes there" % there
            continue
        by_device.setdefault(os.stat(there).st_dev, []).append(path)
    for paths in by_device.values():
        there = nearest(paths[0])
        facts, least = os.statvfs(there), sum(needed[path] for path in paths)
        if facts.f_bavail * facts.f_frsize < least or (facts.f_files and facts.f_favail < 1000):
            message = "%s has %d MB and %d files free, and a rollout needs %d MB and 1000 files there"
            free = facts.f_bavail * facts.f_frsize // MEGABYTE
            yield "disk-space", message % (there, free, facts.f_favail, least // MEGABYTE)
