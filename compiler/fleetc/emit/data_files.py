"""Emits the JSON files that a process reads: its models, its prices and its renditions.

In: a host. Out: `hosts/<host>/<node>/aiModels.json`, `prices.json`, `transcoding.json`. The node only parses bare
numbers, without quotes and currency; every digit of an amount is written.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.blueprint.blueprint import HostBlueprint
from fleetc.emit.draft import Draft, JsonFile, service_file
from fleetc.emit.templates import Templates


def emit(host: HostBlueprint, _templates: Templates | None = None) -> Iterator[Draft]:
    """The planned files of each service of the host."""
    for service in host.services:
        for file in service.files:
            yield service_file(host, service, file.name, JsonFile(file), [file.origin])
