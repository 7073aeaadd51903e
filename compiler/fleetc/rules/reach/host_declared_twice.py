"""Two hosts have the same address, so they are one machine.

Why: ports, data directories, GPUs and wallets are checked host by host. Under two names, fleetc misses every conflict
between them, and two deployments overwrite each other's release.

Example:

    [hosts.a]
    address = "203.0.113.7"
    runtime = "docker"

    [hosts.b]
    address = "203.0.113.7"
    runtime = "docker"

Instead:

    [hosts.a]
    address = "203.0.113.7"
    runtime = "docker"

    # and host = "a" in both nodes; machines behind one address need different values of ssh_port
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Find hosts that are one machine for Ansible: same address and same SSH port."""
    seen: dict[tuple[str, int], str] = {}
    for name, host in sorted(fleet.hosts.items()):
        first = seen.setdefault((host.address, host.ssh_port), name)
        if first != name:
            yield error(
                "host-declared-twice",
                f"hosts {first} and {name} are the same machine, {host.address}",
                Label(("hosts", name, "address"), "here again"),
                [Label(("hosts", first, "address"), "first here")],
                f'keep one of them, and write host = "{first}" in every node of both',
            )
