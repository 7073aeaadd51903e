"""A host names a build of the node's program that its release does not have.

Why: fleetc then has no program for the host. Builds belong to a release, so each release that the host runs needs its
own.

Example:

    [hosts.gpu-1]
    runtime = "systemd"
    build = "gpu"

    [orchestrators.orch-a]
    host = "gpu-1"

    [programs."v0.9.1"]
    url = "https://downloads.example.net/v0.9.1/livepeer"
    sha256 = "1111111111111111111111111111111111111111111111111111111111111111"

Instead:

    [hosts.gpu-1]
    runtime = "systemd"
    build = "gpu"

    [orchestrators.orch-a]
    host = "gpu-1"

    [programs."v0.9.1"]
    url = "https://downloads.example.net/v0.9.1/livepeer"
    sha256 = "1111111111111111111111111111111111111111111111111111111111111111"

    [programs."v0.9.1".builds.gpu]
    url = "https://downloads.example.net/v0.9.1/livepeer-gpu"
    sha256 = "2222222222222222222222222222222222222222222222222222222222222222"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.effective_programs import build_place
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error
from fleetc.upstream import format_release


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look up the build of each systemd host in the releases of its nodes."""
    for name, nodes in fleet.nodes_by_host.items():
        host = fleet.hosts[name]
        if host.build is None or host.runtime != "systemd":
            continue
        for release in sorted({effective.release_of(fleet, node).value for node in nodes}):
            if build_place(fleet, name, release) is not None:
                continue
            text = format_release(release)
            builds = fleet.programs[text].builds if text in fleet.programs else {}
            meant = fleet.suggestions.did_you_mean(host.build, builds)
            yield error(
                "program-build-unknown",
                f"programs has no build {host.build} of {text}, which nodes of {name} run",
                Label(("hosts", name, "build")),
                help=meant or f'write [programs."{text}".builds.{host.build}], or remove build',
            )
