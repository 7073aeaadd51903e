"""Names releases: a digest for each service and for each host, from the files that will lie there.

In: the artifacts below `hosts/`. Out: `Releases`. A rollout names release directories by the host's digest and restarts
a service when its digest changed, which is exactly when one of its files changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from fleetc.blueprint.blueprint import AVATAR_DIRECTORY
from fleetc.emit.artifacts import Releases
from fleetc.emit.tree import Artifact


def releases(hosts: Iterable[str], artifacts: Iterable[Artifact]) -> Releases:
    """The releases of all hosts; a host without files has the digest of nothing.

    Paths are `hosts/<host>/<service>/<name>`. The avatar stack has a directory like a service, but it is none: a
    rollout looks at its files one by one, so that a change of one slot touches that slot.
    """
    found = Releases({}, {}, {})
    lines: dict[str, dict[str, list[str]]] = {host: {} for host in hosts}
    for artifact in artifacts:
        _, host, service, name = artifact.path.split("/", 3)
        digest = found.files[artifact.path] = artifact.sha256
        lines[host].setdefault(service, []).append(f"{name} {artifact.mode:04o} {digest}\n")
    for host, services in lines.items():
        digests = {service: _digest(of_service) for service, of_service in services.items()}
        found.services.update({name: digest for name, digest in digests.items() if name != AVATAR_DIRECTORY})
        found.hosts[host] = _digest([f"{service} {digest}\n" for service, digest in digests.items()])
    return found


def _digest(lines: list[str]) -> str:
    return hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()
