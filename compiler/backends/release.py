"""Names releases: a digest for each service and for each host, from the files that will lie there.

In: the artifacts below `hosts/`. Out: `HostRelease` by host. A rollout names release directories by the host's digest
and restarts a service when its digest changed, which is exactly when one of its files changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from compiler.tree import Artifact


@dataclass(frozen=True, slots=True)
class HostRelease:
    """Hex digests of all files of a host, and of those of each service."""

    digest: str
    services: Mapping[str, str]


def releases(hosts: Iterable[str], artifacts: Iterable[Artifact]) -> dict[str, HostRelease]:
    """The releases of all hosts; a host without files has the digest of nothing.

    Paths are `hosts/<host>/<service>/<name>`.
    """
    lines: dict[str, dict[str, list[str]]] = {host: {} for host in hosts}
    for artifact in artifacts:
        _, host, service, name = artifact.path.split("/", 3)
        lines[host].setdefault(service, []).append(f"{name} {artifact.mode:04o} {artifact.sha256}\n")
    found = {}
    for host, services in lines.items():
        digests = {service: _digest(services[service]) for service in sorted(services)}
        found[host] = HostRelease(_digest([f"{name} {digest}\n" for name, digest in digests.items()]), digests)
    return found


def _digest(lines: list[str]) -> str:
    return hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()
