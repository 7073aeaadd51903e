"""fleetc installs programs, but not the one for a systemd host's release, or not the build that the host names.

Why: such a host runs what people put at `binary`. A rollout of another release needs the new program there first, on
each host. It cannot roll back to an overwritten program.

A host with its own `binary` is not reported. Builds belong to a release, so each release that a host with `build` runs
needs its own.

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
from fleetc.language.effective_programs import build_place
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, Path, error, warning
from fleetc.upstream import format_release

_CODE = "program-not-listed"


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look for releases of nodes on systemd hosts without a table, where other releases have one."""
    for name, nodes in fleet.nodes_by_host.items():
        build = fleet.hosts[name].build
        if build is not None and fleet.hosts[name].runtime == "systemd":
            for number in sorted({effective.release_of(fleet, node).value for node in nodes}):
                if build_place(fleet, name, number) is None:
                    yield _no_build(fleet, name, build, format_release(number))
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
            _CODE,
            f"{node.name} runs {text} on the systemd host {node.settings.host}, and fleetc installs no program of it",
            Label(place, "the release"),
            [Label(("programs", sorted(fleet.programs)[-1]), "another release has one", on_key=True)],
            f'write [programs."{text}"], or write binary in hosts.{node.settings.host} if people install it',
        )


def _no_build(fleet: Fleet, host: str, build: str, release: str) -> Diagnostic:
    builds = fleet.programs[release].builds if release in fleet.programs else {}
    return error(
        _CODE,
        f"programs has no build {build} of {release}, which nodes of {host} run",
        Label(("hosts", host, "build")),
        help=fleet.suggestions.did_you_mean(build, builds)
        or f'write [programs."{release}".builds.{build}], or remove build',
    )
