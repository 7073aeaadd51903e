"""The program of a node on a systemd host, with defaults: one that fleetc installs, or the host's own.

In: a sound `Fleet` and one of its nodes. Out: the program's path with its origin, and where it comes from. Rules and
lowering both ask here. The sibling of `effective.py`.
"""

from __future__ import annotations

from typing import NamedTuple

from fleetc.language.effective import release_of
from fleetc.language.fleet import Fleet, Node
from fleetc.language.program import ProgramBuild
from fleetc.places.diagnostic import Path
from fleetc.places.origin import Chosen, default, derived, given
from fleetc.upstream import Release, format_release

DEFAULT_BINARY = "/usr/local/bin/livepeer"
PROGRAMS = "/opt/fleetc/programs"
"""Where the host program installs the spec's programs, each in a directory named by its digest."""


class ProgramInForce(NamedTuple):
    """A program on a host: `build` is what fleetc installs it from, at `place`; None if people install it."""

    path: Chosen[str]
    build: ProgramBuild | None = None
    place: Path = ()


def program_of(fleet: Fleet, node: Node) -> ProgramInForce | None:
    """The program of a node: the host's own `binary`, else that of its release. None in a container."""
    host = node.settings.host
    if fleet.hosts[host].runtime != "systemd":
        return None
    return program_on(fleet, host, release_of(fleet, node).value)


def program_on(fleet: Fleet, name: str, release: Release) -> ProgramInForce:
    """The program of a release on a systemd host."""
    host = fleet.hosts[name]
    if host.binary is not None:
        return ProgramInForce(Chosen(host.binary, given("hosts", name, "binary")))
    place = build_place(fleet, name, release)
    if place is None:
        usual = default("the usual place of the node's program", ("hosts", name))
        return ProgramInForce(Chosen(DEFAULT_BINARY, usual))
    table = fleet.programs[format_release(release)]
    build = table if host.build is None else table.builds[host.build]
    origin = derived("the release of the node names its program", place, ("hosts", name, "build"))
    return ProgramInForce(Chosen(f"{PROGRAMS}/{build.sha256}/livepeer", origin), build, place)


def build_place(fleet: Fleet, name: str, release: Release) -> Path | None:
    """The table of the program that a release has for a host; None if it has none, or not that build."""
    own, text = fleet.hosts[name].build, format_release(release)
    if text not in fleet.programs:
        return None
    if own is None:
        return ("programs", text)
    return ("programs", text, "builds", own) if own in fleet.programs[text].builds else None
