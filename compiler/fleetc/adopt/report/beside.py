"""What changes for a process beside the settings of its node: runtime, user, program, image, network, limits.

In: a process as its source starts it, and the node that a spec makes of it. Out: `Beside`, in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fleetc.adopt.found.words import Aside, Process, Same
from fleetc.adopt.node.host_paths import EXAMPLE_PATH
from fleetc.adopt.node.reading import Running
from fleetc.adopt.read import bounds
from fleetc.adopt.read.unit_orders import lost_orders
from fleetc.blueprint.blueprint import Blueprint, HostBlueprint, Service

_RUNTIMES = {"systemd": "a process of the host", "docker": "a container"}
RUNTIME, PROGRAM = "runs in", "program"
"""Topics that a message, or a question about the program of a host, may be about too."""
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
    what: Aside
    reason: str = ""
    ours: bool = False

    @property
    def words(self) -> str:
        """All of it in words."""
        return self.what.words


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
            for what in beside_process(one, service, process, place):
                yield Beside(one.name, what)
            for words in bounds.added(process, service, place):
                yield Beside(one.name, Aside(words), ours=True)


def beside_process(one: Running, service: Service, process: Process, place: HostBlueprint) -> Iterator[Aside]:
    """What differs beside the settings of a node, also where that is nothing to a process that runs."""
    yield from beside_settings(one, service, process, place)
    yield from lost_orders(process, service, place)
    if process.waits:
        names = ", ".join(process.waits)
        yield Aside(f"it waits for {names} today (depends_on), and not then", "no longer waits for", names)
    if process.profiles:
        names = ", ".join(process.profiles)
        yield Aside(
            f"it starts only with the profile {names} today, and always then",
            "starts always, no longer only with profile", names,
        )  # fmt: skip


def beside_settings(one: Running, service: Service, process: Process, place: HostBlueprint) -> Iterator[Aside]:
    """What differs beside the settings of a node; `process` is how its source starts it."""
    if process.network == "bridge" or process.of_pod:
        why = one.reasons.get("network", "")
        more = (f": {why}", f"({why})") if why else ("", "")
        yield Aside(f"its own network becomes that of the host{more[0]}", "gets the network of the host", more[1])
    if process.runtime != place.runtime:
        today, then = _RUNTIMES[process.runtime], _RUNTIMES[place.runtime]
        yield Aside(f"it runs in {today}, and will in {then}", RUNTIME, f"{today} -> {then}")
    yield from _user(process, place)
    if "user" in one.reasons and place.node_user == _NEW_USER:
        yield _reader("not known", _NEW_USER)
    path = service.program.path if service.program else ""
    if process.runtime == place.runtime == "docker" and service.gpus and (seen := _seen(process)):
        words = f"its container sees {seen} alone, and then all of its host"
        yield Aside(words, values=(("GPUs that it sees", seen.removeprefix("GPU ").removeprefix("GPUs "), "all"),))
    known = process.program.startswith("/") and bool(path) and not path.startswith(EXAMPLE_PATH)
    if process.runtime == "systemd" == place.runtime and known and process.program != path:
        yield _other(PROGRAM, process.program, path)
    if process.image is not None and service.image and process.image.text != service.image:
        yield _other("image", process.image.text, service.image)
    yield from bounds.changed(process, service, place)
    has = {name for name in process.variables if not name.startswith("LP_")}
    gets = {variable.name for variable in service.variables if not variable.name.startswith("LP_")}
    gets |= {secret.name for secret in service.secrets}
    gets |= {_GPUS_SEEN} if service.gpus is not None else set()
    lost = sorted(name for name in has - gets if not isinstance(one.reasons.get(f"env {name}"), Same))
    if lost:
        yield Aside(
            f"it has {', '.join(lost)} in its environment, and will not", "loses the variables", ", ".join(lost)
        )


def _seen(process: Process) -> str:
    """The GPUs that a container sees, in words; "" where it sees all of its host, or nobody knows which."""
    if isinstance(process.sees, tuple):
        numbers = " and ".join(", ".join(map(str, process.sees)).rsplit(", ", 1))
        return f"GPU{'s' * (len(process.sees) > 1)} {numbers}" if numbers else ""
    return "" if process.given else process.sees.partition(";")[0].removeprefix("its container sees ")


def _other(what: str, today: str, then: str) -> Aside:
    return Aside(f"its {what} is {today}, and will be {then}", what, f"{today} -> {then}")


def _reader(today: str, then: str) -> Aside:
    """Another user, who has to read what a node has."""
    reads = "who must be able to read its files"
    return Aside(f"its user is {today}, and will be {then}, {reads}", "user", f"{today} -> {then}, {reads}")


def _user(process: Process, place: HostBlueprint) -> Iterator[Aside]:
    """Who runs a node, where that changes."""
    if place.runtime == "docker":
        if process.user not in _ROOT:
            inside = " in its container" if process.runtime == "docker" else ""
            new = "that of its image, which is root in the usual ones"
            yield _other(f"user{inside}", process.user, new)
    elif process.runtime == "docker" or (process.user and process.user != place.node_user):
        user = process.user or "that of its image"
        yield _reader(user, place.node_user)
