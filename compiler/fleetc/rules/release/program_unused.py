"""No node runs a program of the spec.

Why: no host fetches it, and its release or build may be a mistake. Only systemd hosts use programs; container images
have their own.

Example:

    [hosts.gpu-1]
    runtime = "systemd"

    [orchestrators.orch-a]
    host = "gpu-1"

    [programs."v0.9.1"]
    url = "https://downloads.example.net/v0.9.1/livepeer"
    sha256 = "2222222222222222222222222222222222222222222222222222222222222222"

    [programs."v0.9.0"]
    url = "https://downloads.example.net/v0.9.0/livepeer"
    sha256 = "1111111111111111111111111111111111111111111111111111111111111111"

Instead:

    [hosts.gpu-1]
    runtime = "systemd"

    [orchestrators.orch-a]
    host = "gpu-1"

    [programs."v0.9.1"]
    url = "https://downloads.example.net/v0.9.1/livepeer"
    sha256 = "2222222222222222222222222222222222222222222222222222222222222222"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.effective_programs import program_of
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, Path, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look for tables of programs, and builds in them, that are no node's."""
    found = [program_of(fleet, node) for node in fleet.nodes] if fleet.programs else []
    used = {program.place for program in found if program is not None and program.build is not None}
    for release, program in sorted(fleet.programs.items()):
        place: Path = ("programs", release)
        builds: list[Path] = [(*place, "builds", name) for name in sorted(program.builds)]
        if not used.intersection((place, *builds)):
            yield _unused(place, f"no node of a systemd host runs the program of {release}")
            continue
        for build in builds:
            if build not in used:
                yield _unused(build, f"no node of a systemd host runs the build {build[-1]} of {release}")


def _unused(place: Path, message: str) -> Diagnostic:
    return warning("program-unused", message, Label(place, on_key=True), help="remove the table")
