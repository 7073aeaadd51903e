"""Two hosts have the same public address.

Why: the network reaches only one machine at an address. Gateways, workers and firewall rows with this address could
mean either host, and fleetc cannot tell which. Behind a router that forwards single ports this can work, so it is a
warning.

Example:

    [hosts.gpu-1]
    public = "orch.example.net"

    [hosts.gpu-2]
    public = "orch.example.net"

Instead:

    [hosts.gpu-1]
    public = "orch-1.example.net"

    [hosts.gpu-2]
    public = "orch-2.example.net"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Find hosts with the same public name or address; another rule reports hosts that are one machine."""
    first_with: dict[str, str] = {}
    machines: set[tuple[str, int]] = set()
    for name, host in sorted(fleet.hosts.items()):
        known = (host.address, host.ssh_port) in machines
        machines.add((host.address, host.ssh_port))
        if host.public is None or known:
            continue
        first = first_with.setdefault(host.public, name)
        if first != name:
            yield warning(
                "public-address-shared",
                f"hosts {first} and {name} have the same public address, {host.public}",
                Label(("hosts", name, "public"), "here again"),
                [Label(("hosts", first, "public"), "first here")],
                "give each host its own public address, or silence this if a router forwards single ports",
            )
