"""The service address of an orchestrator belongs to another host.

Why: gateways call the address as it is written. Copied from another table, it leads them to the other host: they reach
the orchestrator there, or nothing, and this one gets no work. The node finds that out only when it starts. A proxy may
stand on the other host, so this is a warning.

Example:

    [hosts.gpu-1]
    public = "gpu-1.example.net"

    [hosts.gpu-2]
    public = "gpu-2.example.net"

    [orchestrators.second]
    host = "gpu-2"
    service = "gpu-1.example.net:8935"

Instead:

    [orchestrators.second]
    host = "gpu-2"
    service = "gpu-2.example.net:8935"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare the names that orchestrators write with those of all hosts."""
    owners = {name: host for host in sorted(fleet.hosts, reverse=True) for name in _names(fleet, host)}
    for name, settings in sorted(fleet.orchestrators.items()):
        if settings.service is None:
            continue
        written = settings.service.host.lower()
        owner = owners.get(written)
        if owner is None or written in _names(fleet, settings.host):
            continue
        key = "public" if written == str(fleet.hosts[owner].public).lower() else "address"
        own = fleet.hosts[settings.host].public
        yield warning(
            "service-address-of-another-host",
            f"orchestrator {name} runs on host {settings.host}, but its service address is that of host {owner}",
            Label(("orchestrators", name, "service"), settings.service.host),
            [Label(("hosts", owner, key), f"host {owner}"), Label(("orchestrators", name, "host"), "where it runs")],
            f"write {own if own is not None else 'the public name of its own host'} there, or silence this if host "
            f"{owner} passes on to it",
        )


def _names(fleet: Fleet, host: str) -> set[str]:
    """The names that lead to a host."""
    table = fleet.hosts[host]
    return {str(name).lower() for name in (table.public, table.address) if name is not None}
