"""Two hosts have the same address, or the same public address.

Why: ports, data directories, GPUs and wallets are checked host by host. If two names are one machine, fleetc misses
every conflict between them, and two deployments overwrite each other's release. At one public address the network
reaches only one machine. Behind a router that forwards single ports this can work, so it is a warning.

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
from fleetc.places.diagnostic import Diagnostic, Label, error, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Find hosts that are one machine for Ansible (same address and SSH port), and others with one public address."""
    machines: dict[tuple[str, int], str] = {}
    public: dict[str, str] = {}
    for name, host in sorted(fleet.hosts.items()):
        first = machines.setdefault((host.address, host.ssh_port), name)
        if first != name:
            yield error(
                "host-address-shared",
                f"hosts {first} and {name} are the same machine, {host.address}",
                Label(("hosts", name, "address"), "here again"),
                [Label(("hosts", first, "address"), "first here")],
                f'keep one of them, and write host = "{first}" in every node of both',
            )
        elif host.public is not None and (first := public.setdefault(host.public, name)) != name:
            yield warning(
                "host-address-shared",
                f"hosts {first} and {name} have the same public address, {host.public}",
                Label(("hosts", name, "public"), "here again"),
                [Label(("hosts", first, "public"), "first here")],
                "give each host its own public address, or silence this if a router forwards single ports",
            )
