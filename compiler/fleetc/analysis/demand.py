"""The demands on each GPU of a host: memory for warm models and slots, encode sessions for transcoding and slots.

In: a sound `Fleet` and one of its hosts. Out: `Use` (the demand of one node or slot, as plain numbers that a search can
change), and `GpuLoad` (the total on one GPU). Called by `capacity.py` and `repairs.py`.

How the node spreads its work, from its source code (starting of runners, load balancing of transcoders):

- Each warm managed entry starts `capacity` containers (one before v0.8.6), in the order of the list. Slots are taken in
  the order of the node's GPU list, one round over all GPUs after another, `containers_per_gpu` rounds. An entry cannot
  choose its GPU. Containers beyond the last slot are not placed (the rule too-many-warm-containers reports them).
- A new stream goes to the GPU with the least load, and stays there. Streams are therefore spread evenly over the GPUs.
- A stream takes one encode session for each of its renditions. The sending gateway, maybe a stranger's, decides their
  number. fleetc counts the minimum: one session for each of `max_sessions` streams.
- An avatar slot draws and encodes on one GPU: it takes the stack's assumed memory, and one encode session by default.
  A slot that sees several GPUs is assigned to none: its demand is compared with all of them together.
- A live runner takes the memory and the encode sessions that the spec states on each of its GPUs.

Not counted, because not stated: the memory of transcoding, cold models, and live runners outside `runners`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from fleetc.language import effective, effective_avatar, effective_runners
from fleetc.language.fleet import Fleet, Node, PlacedRunner, Stack
from fleetc.language.host import Gpu
from fleetc.language.node import AiSettings
from fleetc.language.orchestrator import Orchestrator
from fleetc.language.worker import AiWorker, Transcoder
from fleetc.places.diagnostic import Path
from fleetc.upstream import FLAGS, gpu_model

MEMORY = "memory"
SESSIONS = "sessions"
DEFAULT_SESSIONS = int(FLAGS["maxSessions"].default)
"""The number of concurrent streams that a node accepts by default."""

Unlimited = Literal["unlimited"]


class Demand(NamedTuple):
    """A demand on one GPU. `kind` is MEMORY (in bytes) or SESSIONS; `amount` is None if the spec does not state it.

    `origin` is the place in the spec that causes it, `name` its name for people. What takes both kinds, such as
    a slot that renders and encodes, is two demands with one origin. `model` is the key of a model that is loaded.
    """

    kind: str
    amount: int | None
    origin: Path
    name: str
    model: str = ""


class Warm(NamedTuple):
    """A warm managed entry of a node's models: its index in the list, its model, bytes of one copy, and copies."""

    place: int
    model: str
    memory: int | None
    copies: int


@dataclass(frozen=True, slots=True)
class Use:
    """The demand of one node on the GPUs of its host. `slots`: containers per GPU; `sessions`: 0 without transcoding.

    For avatar slots with one place in the spec, `drawing` is the memory of each (0 for a node), `sessions` those of
    each, `slots` their number; `gpus` is empty for `roaming` ones.

    For a live runner, `held` has one item, its memory on each GPU or None, and `sessions` those on each.
    """

    path: Path
    name: str
    gpus: tuple[int, ...]
    slots: int
    warm: tuple[Warm, ...]
    sessions: int
    sessions_given: bool
    runs_models: bool
    drawing: int = 0
    held: tuple[int | None, ...] = ()

    @property
    def containers(self) -> int:
        """How many containers the node keeps warm."""
        return sum(entry.copies for entry in self.warm)


@dataclass(frozen=True, slots=True)
class GpuLoad:
    """One GPU and its total load: memory in bytes, encode sessions. A total is None if it is not known.

    The used sums leave out demands of unknown amount, so they are lower bounds.
    """

    host: str
    gpu: int
    model: str
    memory_total: int | None
    memory_used: int
    sessions_total: int | Unlimited | None
    sessions_used: int
    demands: tuple[Demand, ...]

    @property
    def path(self) -> Path:
        """The place of the GPU in the spec."""
        return ("hosts", self.host, "gpus", self.gpu)

    def total(self, kind: str) -> int | Unlimited | None:
        """What the GPU has of one kind."""
        return self.memory_total if kind == MEMORY else self.sessions_total

    def used(self, kind: str) -> int:
        """The demand for one kind."""
        return self.memory_used if kind == MEMORY else self.sessions_used


def fits(used: int, total: int | Unlimited | None, percent: int = 100) -> bool:
    """Whether a sum stays within a share of the total. An unlimited or unknown total fits everything."""
    return not isinstance(total, int) or used * 100 <= total * percent


def memory_of(gpu: Gpu) -> int | None:
    """Memory in bytes: the number in the spec, else that of the model, unless it is sold with several sizes."""
    if gpu.memory is not None:
        return gpu.memory.count
    known = gpu_model(gpu.model)
    return known.memory[0] if known and len(known.memory) == 1 else None


def sessions_of(gpu: Gpu) -> int | Unlimited | None:
    """Concurrent encode sessions: the number in the spec, else that of the model; None if the driver decides."""
    if gpu.encode_sessions is not None:
        return gpu.encode_sessions
    known = gpu_model(gpu.model)
    if known is None or known.encoder not in ("none", "unlimited"):
        return None
    return 0 if known.encoder == "none" else "unlimited"


def uses(fleet: Fleet, host: str) -> list[Use]:
    """The demands on the listed GPUs of a host: of its nodes, sorted by name, and then of its avatar slots.

    Ids that the host does not have are left out.
    """
    listed = len(fleet.hosts[host].gpus)
    found = []
    for node in fleet.nodes_by_host.get(host, ()) if listed else ():
        gpus = _of_host(effective.gpu_ids(fleet, node), listed)
        if gpus:
            found.append(_use(fleet, node, gpus))
    for placed in fleet.runners_by_host.get(host, ()):
        gpus = _of_host(effective_runners.gpu_ids(fleet, placed), listed)
        if gpus:
            found.append(_runner(placed, gpus))
    return found + [use for use in _slots_on(fleet, host) if use.gpus]


def _of_host(ids: tuple[int, ...] | str, listed: int) -> tuple[int, ...]:
    """The ids that a host lists, each once; none of those that are not known by number."""
    return () if isinstance(ids, str) else tuple(dict.fromkeys(gpu for gpu in ids if gpu < listed))


def _runner(placed: PlacedRunner, gpus: tuple[int, ...]) -> Use:
    """What a live runner takes of each of its GPUs."""
    memory = placed.runner.memory
    held = (None if memory is None else memory.count,)
    return Use(
        placed.path, f"runner {placed.name}", gpus, 1, (), placed.runner.encode_sessions or 0, True, False, 0, held
    )


def roaming(fleet: Fleet, host: str) -> list[Use]:
    """The demands of slots that see every one of several GPUs: on all together, on no single one for certain."""
    return [use for use in _slots_on(fleet, host) if not use.gpus]


def _slots_on(fleet: Fleet, host: str) -> Iterator[Use]:
    listed = len(fleet.hosts[host].gpus)
    for stack in fleet.stacks_by_host.get(host, ()) if listed else ():
        yield from _slots(fleet, stack, listed)


def _slots(fleet: Fleet, stack: Stack, listed: int) -> Iterator[Use]:
    """One use for each slot that the spec lists; one for all slots that it counts, which name one GPU or all."""
    memory = effective_avatar.slot_memory(stack).value.count
    sessions = stack.settings.slot_encode_sessions
    found = effective_avatar.slots_of(fleet, stack)
    counted = isinstance(stack.settings.slots, int)
    for slot in found[:1] if counted else found:
        gpu = 0 if slot.gpu == "all" and listed == 1 else slot.gpu
        if isinstance(gpu, int) and gpu >= listed:
            continue
        gpus = (gpu,) if isinstance(gpu, int) else ()
        name = f"slots of {stack.name}" if counted else f"slot {slot.number} of {stack.name}"
        copies = len(found) if counted else 1
        yield Use(slot.path, name, gpus, copies, (), sessions, True, False, memory)


def _use(fleet: Fleet, node: Node, gpus: tuple[int, ...]) -> Use:
    settings = node.settings
    runs_models = isinstance(settings, AiSettings) and effective.runs_models(fleet, node).value
    sessions: int | str | None = 0
    if isinstance(settings, Orchestrator | Transcoder) and effective.transcodes(fleet, node).value:
        sessions = settings.max_sessions
    return Use(
        node.path,
        node.name,
        gpus,
        (settings.containers_per_gpu or 1) if isinstance(settings, AiSettings) else 1,
        _warm(fleet, node, settings) if isinstance(settings, AiSettings) and runs_models else (),
        # "auto" next to local transcoding never starts; another rule reports that.
        DEFAULT_SESSIONS if sessions is None else 0 if isinstance(sessions, str) else sessions,
        sessions is not None,
        runs_models,
    )


def _warm(fleet: Fleet, node: Node, settings: AiSettings) -> tuple[Warm, ...]:
    if isinstance(settings, AiWorker) and settings.serverless:
        return ()
    found = []
    for place, entry in enumerate(settings.models):
        copies = effective.warm_containers(fleet, node, entry)
        if copies:
            memory = fleet.models[entry.use].memory
            found.append(Warm(place, entry.use, memory.count if memory is not None else None, copies))
    return tuple(found)


def of_a_slot(demand: Demand) -> bool:
    """Whether the demand comes from an avatar slot."""
    return demand.origin[0] == "avatars"


def demands(use: Use) -> Iterator[tuple[int, Demand]]:
    """Each demand of a node or slot with the id of its GPU."""
    if use.drawing:
        for _ in range(use.slots):
            yield use.gpus[0], Demand(MEMORY, use.drawing, use.path, use.name)
            yield use.gpus[0], Demand(SESSIONS, use.sessions, use.path, use.name)
        return
    if use.held:
        for gpu in use.gpus:
            yield gpu, Demand(MEMORY, use.held[0], (*use.path, "memory" if use.held[0] else "gpus"), use.name)
            if use.sessions:
                yield gpu, Demand(SESSIONS, use.sessions, (*use.path, "encode_sessions"), use.name)
        return
    count = len(use.gpus)
    place = 0
    for entry in use.warm:
        origin = (*use.path, "models", entry.place)
        for _ in range(min(entry.copies, count * use.slots - place)):
            yield (
                use.gpus[place % count],
                Demand(MEMORY, entry.memory, origin, f"{entry.model} of {use.name}", entry.model),
            )
            place += 1
    share, rest = divmod(use.sessions, count)
    origin = (*use.path, "max_sessions" if use.sessions_given else "gpus")
    for place, gpu in enumerate(use.gpus):
        if share or place < rest:
            yield gpu, Demand(SESSIONS, share + (place < rest), origin, use.name)


def asked_of(use: Use) -> Iterator[tuple[int, str, int]]:
    """The demands of a node or slots as sums: GPU, kind and amount; counted slots take no more time than one."""
    if use.drawing:
        yield use.gpus[0], MEMORY, use.drawing * use.slots
        yield use.gpus[0], SESSIONS, use.sessions * use.slots
        return
    for gpu, demand in demands(use):
        yield gpu, demand.kind, demand.amount or 0


def loads(fleet: Fleet, host: str, asked: list[Use]) -> list[GpuLoad]:
    """The load of each listed GPU of a host, in the order of their ids."""
    listed = fleet.hosts[host].gpus
    falls: list[list[Demand]] = [[] for _ in listed]
    sums = [{MEMORY: 0, SESSIONS: 0} for _ in listed]
    for use in asked:
        for gpu, demand in demands(use):
            falls[gpu].append(demand)
            sums[gpu][demand.kind] += demand.amount or 0
    return [
        GpuLoad(
            host,
            index,
            gpu.model,
            memory_of(gpu),
            sums[index][MEMORY],
            sessions_of(gpu),
            sums[index][SESSIONS],
            tuple(falls[index]),
        )
        for index, gpu in enumerate(listed)
    ]
