"""Emits `launch.flags`: the command line of a process for reviewers, one flag per line, sorted.

In: a host. Out: `hosts/<host>/<node>/launch.flags`. No program reads the file: hidden characters in values become
escapes, and each flag stays on one line.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from fleetc.blueprint.blueprint import LAUNCH_FLAGS, HostBlueprint, Service
from fleetc.emit.draft import Draft, Lines, service_file
from fleetc.emit.templates import Templates
from fleetc.emit.traced import Line
from fleetc.text.encoders import visible


def emit(host: HostBlueprint, _templates: Templates | None = None) -> Iterator[Draft]:
    """One file per service of the host."""
    for service in host.services:
        origins = [argument.origin for argument in service.arguments]
        yield service_file(host, service, LAUNCH_FLAGS, Lines(partial(_lines, service)), origins)


def _lines(service: Service) -> list[Line]:
    in_order = sorted(service.arguments, key=lambda argument: argument.flag and argument.text)  # words stay as they are
    return [(visible(argument.text), (argument.origin,)) for argument in in_order]
