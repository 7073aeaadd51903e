"""Emits `out-of-service.txt`: until when and why a node or an avatar stack does not run.

In: a host. Out: `hosts/<host>/<node>/out-of-service.txt`. No program reads it. It is a file of the release, so a host
tells this release from the one in which the node runs, and can go back to that.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from fleetc.blueprint.blueprint import HostBlueprint
from fleetc.emit.draft import Draft, Lines, avatar_file, service_file
from fleetc.emit.templates import Templates
from fleetc.text.encoders import visible

FILE = "out-of-service.txt"


def emit(host: HostBlueprint, _templates: Templates | None = None) -> Iterator[Draft]:
    """One file for each service that is out of service, and for the stack of a host that is."""
    for service in host.services:
        if service.out is not None:
            line = visible(service.out.value), (service.out.origin,)
            yield service_file(host, service, FILE, Lines(partial(list, (line,))), [service.out.origin])
    if host.avatar is not None and host.out is not None:
        line = visible(host.out.value), (host.out.origin,)
        yield avatar_file(host, host.avatar, FILE, Lines(partial(list, (line,))), [host.out.origin])
