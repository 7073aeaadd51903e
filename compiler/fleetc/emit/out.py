"""Emits `out-of-service.txt`: until when and why a node or an avatar stack does not run.

In: a host. Out: `hosts/<host>/<node>/out-of-service.txt`. No program reads it. It is a file of the release, so a host
tells this release from the one in which the node runs, and can go back to that.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.blueprint.blueprint import HostBlueprint
from fleetc.emit.draft import Draft, Lines, avatar_file, service_file
from fleetc.emit.templates import Templates
from fleetc.places.origin import Chosen
from fleetc.text.encoders import visible

FILE = "out-of-service.txt"


def emit(host: HostBlueprint, _templates: Templates | None = None) -> Iterator[Draft]:
    """One file for each service that is out of service, and for the stack of a host that is."""
    for service in host.services:
        if service.out is not None:
            yield service_file(host, service, FILE, _line(service.out), [service.out.origin])
    if host.avatar is not None and host.out is not None:
        yield avatar_file(host, host.avatar, FILE, _line(host.out), [host.out.origin])


def _line(out: Chosen[str]) -> Lines:
    return Lines(lambda: [(visible(out.value), (out.origin,))])
