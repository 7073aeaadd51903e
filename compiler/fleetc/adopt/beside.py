"""What changes for a process beside the settings of its node: runtime, user, program, image, network, limits.

In: a process as its source starts it, and the node that a spec makes of it. Out: `Beside`, in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fleetc.adopt import beside_commands, bounds
from fleetc.adopt.host_paths import EXAMPLE_PATH
from fleetc.adopt.reading import Running
from fleetc.adopt.unit_orders import lost_orders
from fleetc.adopt.words import Process, Same
from fleetc.blueprint.blueprint import Blueprint, HostBlueprint, Service

_RUNTIMES = {"systemd": "a process of the host", "docker": "a container"}
_GPUS_SEEN = "NVIDIA_VISIBLE_DEVICES"
"""Which GPUs a container has, as the spec says it too."""
_NEW_USER = "livepeer"
"""Who runs the nodes of a host where a spec does not say it."""
_ROOT = ("", "root", "0", "0:0", "root:root")


@dataclass(frozen=True)
class Beside:
    """Something about a node that differs beside its settings. `reason` is "" where nothing explains it.

    `ours` says that no source sets it: every new unit or container of fleetc has it.
    """

    node: str
    words: str
    reason: str = ""
    ours: bool = False


def as_started(processes: Sequence[Process]) -> dict[tuple[object, str], Process]:
    """Processes as their sources start them, before people say in whose homes and folders."""
    return {(one.span, one.name): one for one in processes}


def started(one: Running, first: Mapping[tuple[object, str], Process]) -> Process:
    """The process of a node as its source starts it."""
    return first.get((one.process.span, one.process.name), one.process)


def beside_all(nodes: Sequence[Running], blueprint: Blueprint, processes: Sequence[Process]) -> Iterator[Beside]:
    """What the spec of some nodes changes beside their settings."""
    first = as_started(processes)
    services = {service.name: (place, service) for place in blueprint.hosts for service in place.services}
    for one in nodes:
        if one.name in services:
            place, service = services[one.name]
            process = started(one, first)
            for words in beside_process(one, service, process, place):
                yield Beside(one.name, words)
            for words in bounds.added(process, service, place):
                yield Beside(one.name, words, ours=True)


def beside_process(one: Running, service: Service, process: Process, place: HostBlueprint) -> Iterator[str]:
    """What differs beside the settings of a node, also where that is nothing to a process that runs."""
    yield from beside_settings(one, service, process, place)
    yield from lost_orders(process, service, place)


def beside_settings(one: Running, service: Service, process: Process, place: HostBlueprint) -> Iterator[str]:
    """What differs beside the settings of a node; `process` is how its source starts it."""
    if process.network == "bridge" or process.of_pod:
        why = one.reasons.get("network", "")
        yield "its own network becomes that of the host" + (f": {why}" if why else "")
    if process.runtime != place.runtime:
        yield f"it runs in {_RUNTIMES[process.runtime]}, and will in {_RUNTIMES[place.runtime]}"
    yield from _user(process, place)
    if "user" in one.reasons and place.node_user == _NEW_USER:
        yield f"its user is not known, and will be {_NEW_USER}, who must be able to read its files"
    path = service.program.path if service.program else ""
    known = process.program.startswith("/") and bool(path) and not path.startswith(EXAMPLE_PATH)
    if process.runtime == "systemd" == place.runtime and known and process.program != path:
        yield f"its program is {process.program}, and will be {path}"
    if process.image is not None and service.image and process.image.text != service.image:
        yield f"its image is {process.image.text}, and will be {service.image}"
    yield from bounds.changed(process, service, place)
    yield from beside_commands.lost(process)
    has = {name for name in process.variables if not name.startswith("LP_")}
    gets = {variable.name for variable in service.variables if not variable.name.startswith("LP_")}
    gets |= {secret.name for secret in service.secrets}
    gets |= {_GPUS_SEEN} if service.gpus is not None else set()
    lost = sorted(name for name in has - gets if not isinstance(one.reasons.get(f"env {name}"), Same))
    if lost:
        yield f"it has {', '.join(lost)} in its environment, and will not"


def _user(process: Process, place: HostBlueprint) -> Iterator[str]:
    """Who runs a node, where that changes."""
    if place.runtime == "docker":
        if process.user not in _ROOT:
            inside = " in its container" if process.runtime == "docker" else ""
            yield f"its user{inside} is {process.user}, and will be that of its image, which is root in the usual ones"
    elif process.runtime == "docker" or (process.user and process.user != place.node_user):
        user = process.user or "that of its image"
        yield f"its user is {user}, and will be {place.node_user}, who must be able to read its files"
