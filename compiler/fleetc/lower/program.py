"""Lowers the program of a node on a systemd host.

In: a fleet and a node. Out: a `Program`, or None for a node in a container.
"""

from __future__ import annotations

from fleetc.blueprint.rollout import Program
from fleetc.language import effective
from fleetc.language.effective_programs import program_of
from fleetc.language.fleet import Fleet, Node
from fleetc.upstream import format_release


def lower_program(fleet: Fleet, node: Node) -> Program | None:
    """Where the program is on the host, where it comes from if fleetc installs it, and which release it must be."""
    found = program_of(fleet, node)
    if found is None:
        return None
    version = format_release(effective.release_of(fleet, node).value).removeprefix("v")
    program = Program(found.path.value, version, found.path.origin)
    if found.build is None:
        return program
    build = found.build
    return program._replace(
        sha256=build.sha256, url=str(build.url or ""), file=build.file or "", member=build.member or ""
    )
