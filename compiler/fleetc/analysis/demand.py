"""What is asked of each GPU of a host: memory by warm models and slots, encode sessions by transcoding and slots.

In: a sound `Fleet` and one of its hosts. Out: `Use` (what one node or slot asks, as bare numbers that a search may
change), and `GpuLoad` (what comes together on one GPU). Called by `capacity.py` and `repairs.py`.

How the node spreads its work, from its source (starting of runners, load balancing of transcoders):

- Each warm managed entry starts `capacity` containers (one before v0.8.6), in the order of the list. Slots are taken in
  the order of the node's GPU list, one round over all GPUs after another, `containers_per_gpu` rounds. An entry cannot
  choose its GPU. Containers beyond the last slot are not placed (the rule too-many-warm-containers reports them).
- A new stream goes to the GPU with the least load, and stays there. Streams are therefore dealt evenly over the GPUs.
- A stream takes one encode session for each rendition that is made of it. How many that are is up to the gateway that
  sends it, which may be a stranger's. Counted is one session for each of `max_sessions` streams, the least that so many
  streams can take: a GPU that cannot carry this cannot keep the promise, whoever sends the streams.
- An avatar slot draws and encodes on its one GPU: the memory that the stack assumes, and one encode session unless
  the spec says more. A slot that sees every one of several GPUs falls to none of them: only all of them together can be
  compared with what such slots ask.

Not counted, because nobody states it: the memory of transcoding, cold models, and what live runners encode.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from fleetc.language import effective, effective_avatar
from fleetc.language.fleet import Fleet, Node, Stack
from fleetc.language.host import Gpu
from fleetc.language.node import AiSettings
from fleetc.language.orchestrator import Orchestrator
from fleetc.language.worker import AiWorker, Transcoder
from fleetc.places.diagnostic import Path
from fleetc.upstream import FLAGS, gpu_model

MEMORY = "memory"
SESSIONS = "sessions"
DEFAULT_SESSIONS = int(FLAGS["maxSessions"].default)
"""Streams at once that a node takes when nothing is written."""

Unlimited = Literal["unlimited"]


class Demand(NamedTuple):
    """Something asked of one GPU. `kind` is MEMORY (in bytes) or SESSIONS; `amount` is None where the spec is silent.

    `origin` is the place of the spec that asks, `name` what people call it. What takes both kinds, such as a slot that
    renders and encodes, is two demands with one origin.
    """

    kind: str
    amount: int | None
    origin: Path
    name: str


class Warm(NamedTuple):
    """A warm managed entry of a node's models: its place in the list, its model, bytes of one copy, and copies."""

    place: int
    model: str
    memory: int | None
    copies: int


@dataclass(frozen=True, slots=True)
class Use:
    """What one node asks of the GPUs of its host. `slots`: containers per GPU; `sessions`: 0 without transcoding.

    Or what avatar slots with one place in the spec ask: then `drawing` is the memory that each takes, which a node
    leaves at 0, `sessions` what each takes, and `slots` how many they are; `gpus` is empty for those of `roaming`.
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

    @property
    def containers(self) -> int:
        """How many containers the node keeps warm."""
        return sum(entry.copies for entry in self.warm)


@dataclass(frozen=True, slots=True)
class GpuLoad:
    """One GPU and what comes together on it: memory in bytes, encode sessions. A total is None where it is not known.

    The used sums leave out demands of unknown amount, so they are the least that is asked.
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
        """What is asked of one kind."""
        return self.memory_used if kind == MEMORY else self.sessions_used


def fits(used: int, total: int | Unlimited | None, percent: int = 100) -> bool:
    """Whether a sum stays within a share of the total. What is unlimited or unknown holds everything."""
    return not isinstance(total, int) or used * 100 <= total * percent


def memory_of(gpu: Gpu) -> int | None:
    """Memory in bytes: the spec's own number, else that of the model, unless it is sold with several sizes."""
    if gpu.memory is not None:
        return gpu.memory.count
    known = gpu_model(gpu.model)
    return known.memory[0] if known and len(known.memory) == 1 else None


def sessions_of(gpu: Gpu) -> int | Unlimited | None:
    """Encode sessions at once: the spec's own number, else what the model says; None where the driver decides."""
    if gpu.encode_sessions is not None:
        return gpu.encode_sessions
    known = gpu_model(gpu.model)
    if known is None or known.encoder not in ("none", "unlimited"):
        return None
    return 0 if known.encoder == "none" else "unlimited"


def uses(fleet: Fleet, host: str) -> list[Use]:
    """What is asked of the listed GPUs of a host, by its nodes, sorted by name, and then by its avatar slots.

    Ids that the host does not have are left out.
    """
    listed = len(fleet.hosts[host].gpus)
    found = []
    for node in fleet.nodes_by_host.get(host, ()) if listed else ():
        ids = effective.gpu_ids(fleet, node)
        gpus = tuple(dict.fromkeys(i for i in ids if i < listed)) if not isinstance(ids, str) else ()
        if gpus:
            found.append(_use(fleet, node, gpus))
    return found + [use for use in _slots_on(fleet, host) if use.gpus]


def roaming(fleet: Fleet, host: str) -> list[Use]:
    """What slots ask that see every one of several GPUs of a host: of all together, and of none for certain."""
    return [use for use in _slots_on(fleet, host) if not use.gpus]


def _slots_on(fleet: Fleet, host: str) -> Iterator[Use]:
    listed = len(fleet.hosts[host].gpus)
    for stack in fleet.stacks_by_host.get(host, ()) if listed else ():
        yield from _slots(fleet, stack, listed)


def _slots(fleet: Fleet, stack: Stack, listed: int) -> Iterator[Use]:
    """One use for each slot that the spec lists; one for all that it counts, which name one GPU or all."""
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
        # "auto" beside local transcoding never starts, which is another rule's.
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
    """Whether an avatar slot asks."""
    return demand.origin[0] == "avatars"


def demands(use: Use) -> Iterator[tuple[int, Demand]]:
    """Each demand of a node or slot with the id of the GPU that it falls to."""
    if use.drawing:
        for _ in range(use.slots):
            yield use.gpus[0], Demand(MEMORY, use.drawing, use.path, use.name)
            yield use.gpus[0], Demand(SESSIONS, use.sessions, use.path, use.name)
        return
    count = len(use.gpus)
    place = 0
    for entry in use.warm:
        origin = (*use.path, "models", entry.place)
        for _ in range(min(entry.copies, count * use.slots - place)):
            yield use.gpus[place % count], Demand(MEMORY, entry.memory, origin, f"{entry.model} of {use.name}")
            place += 1
    share, rest = divmod(use.sessions, count)
    origin = (*use.path, "max_sessions" if use.sessions_given else "gpus")
    for place, gpu in enumerate(use.gpus):
        if share or place < rest:
            yield gpu, Demand(SESSIONS, share + (place < rest), origin, use.name)


def asked_of(use: Use) -> Iterator[tuple[int, str, int]]:
    """The demands of a node or slots as sums: GPU, kind and amount; counted slots take no longer than one."""
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
