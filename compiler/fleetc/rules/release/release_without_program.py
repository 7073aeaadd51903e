"""fleetc installs programs, but not the one for a systemd host's release.

Why: such a host runs what people put at `binary`. A rollout of another release needs the new program there first, on
each host. It cannot roll back to an overwritten program.

A host with its own `binary` is not reported.

Example:

    [hosts.gpu-1]
    runtime = "systemd"

    [orchestrators.orch-a]
    host = "gpu-1"
    node_release = "v0.9.0"

    [programs."v0.9.1"]
    url = "https://downloads.example.net/v0.9.1/livepeer"
    sha256 = "2222222222222222222222222222222222222222222222222222222222222222"

Instead:

    [hosts.gpu-1]
    runtime = "systemd"

    [orchestrators.orch-a]
    host = "gpu-1"
    node_release = "v0.9.0"

    [programs."v0.9.0"]
    url = "https://downloads.example.net/v0.9.0/livepeer"
    sha256 = "1111111111111111111111111111111111111111111111111111111111111111"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, Path, warning
from fleetc.upstream import format_release


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look for releases of nodes on systemd hosts without a table, where other releases have one."""
    told: set[Path] = set()
    for node in fleet.nodes if fleet.programs else ():
        host = fleet.hosts[node.settings.host]
        if host.runtime != "systemd" or host.binary is not None:
            continue
        release = effective.release_of(fleet, node)
        text, place = format_release(release.value), release.origin.paths[0]
        if text in fleet.programs or place in told:
            continue
        told.add(place)
        yield warning(
            "release-without-program",
            f"{node.name} runs {text} on the systemd host {node.settings.host}, and fleetc installs no program of it",
            Label(place, "the release"),
            [Label(("programs", sorted(fleet.programs)[-1]), "another release has one", on_key=True)],
            f'write [programs."{text}"], or write binary in hosts.{node.settings.host} if people install it',
        )
