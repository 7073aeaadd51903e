"""Emits `launch.flags`: the command line of a process, one flag on each line, sorted. It is what reviewers read.

In: a host. Out: `hosts/<host>/<node>/launch.flags`. Nothing reads the file back, so a line break or another hidden
character inside a value is shown as an escape and each flag stays on its line.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.blueprint.blueprint import HostBlueprint, Service
from fleetc.emit.artifacts import service_file
from fleetc.emit.templates import Templates
from fleetc.emit.tracing import TracedLine, traced
from fleetc.emit.tree import Artifact
from fleetc.text.encoders import visible

FILE = "launch.flags"


def emit(host: HostBlueprint, _templates: Templates | None = None) -> Iterator[Artifact]:
    """One file for each service of the host."""
    for service in host.services:
        lines = sorted([visible(argument.text) + "\n" for argument in service.arguments])
        yield service_file(host, service, FILE, "".join(lines), [a.origin for a in service.arguments])


def trace(service: Service) -> list[TracedLine]:
    """The lines of the file, each with the origin of its argument."""
    return sorted(traced(visible(argument.text), [argument.origin]) for argument in service.arguments)
