"""What keeps a host from running a release now, and is no fault of that release.

In: what a release wants, or a failure. Out: words; "" where nothing of the kind is in the way.
"""

from __future__ import annotations

import errno

from .places import Json
from .preflight.ports import holder_of, listeners, own_pids
from .processes import processes_of_containers

UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO)
"""What a disk answers that is full, or takes no writes."""


def hindrance(wanted: Json, failure: Exception | None) -> str:
    """What has to end before a host can run a release: a full disk, a silent Docker, or a stranger on a port."""
    if isinstance(failure, OSError) and failure.errno in UNWRITABLE:
        return "%s: %s" % (failure.filename or "the disk", failure.strerror)
    in_docker = wanted["runtime"] == "docker" or wanted.get("stack")
    if "Docker daemon" in str(failure) or (in_docker and processes_of_containers([""]) is None):
        return "Docker does not answer"
    ports = {port for one in wanted["services"] for port in (one.get("health") or {}).get("ports", ())}
    held = [(port, holder_of(inode)) for _, port, inode in listeners("tcp") if port in ports]
    own = own_pids() if held else []
    for port, (pid, name) in held:
        if pid and pid not in own and name != "docker-proxy":
            return "port %d is held by %s (process %d), which is not a node of fleetc" % (port, name, pid)
    return ""
