"""Single changes to one node or slot that make an overloaded GPU fit, each checked before it is offered.

In: a `Problem`, the overloaded GPUs of a host and all that is known there. Out: up to three `Repair` values, and
whether the search was cut short. Called by `capacity.py`.

Kinds of change, by increasing cost: other GPUs, fewer streams, fewer copies of a model or slots, a cold model. (Fewer
containers per GPU do not help: the node fills its GPUs in rounds.) It offers at most one of each kind. A change must
make all overloaded GPUs fit, and must not overload another GPU or make it worse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, combinations, permutations
from typing import NamedTuple

from fleetc.analysis.demand import MEMORY, SESSIONS, Demand, GpuLoad, Use, Warm, asked_of, demands, fits, of_a_slot
from fleetc.places.diagnostic import Path

TRIES = 40
"""The most changes of one kind that are checked."""
OFFERS = 3

_HIGHEST_RUNNER_GPU = 9
"""The host port of a runner container ends in the GPU id, so higher ids run no models."""


class Repair(NamedTuple):
    """Set the key at `path` to `value`; `model` is the model of the entry, if it is an entry of a node's models."""

    path: Path
    value: int | bool | tuple[int, ...]
    model: str = ""

    @property
    def text(self) -> str:
        """What to write, and where."""
        *table, key = self.path
        value = str(list(self.value)) if isinstance(self.value, tuple) else str(self.value).lower()
        return f"{key} = {value} in {'.'.join(map(str, table))}{f' ({self.model})' if self.model else ''}"


class Problem(NamedTuple):
    """Too much of one kind on `gpus` of a host, for the same causes: the `conflict`, the smallest set that is too much.

    `found` are the loads of all GPUs of the host, by id, and `asked` the demands of its nodes.
    """

    kind: str
    gpus: tuple[int, ...]
    conflict: tuple[Demand, ...]
    found: list[GpuLoad]
    asked: list[Use]

    @property
    def load(self) -> GpuLoad:
        """The load of the first of the GPUs."""
        return self.found[self.gpus[0]]


Change = tuple[Repair, Use]
"""A repair, and the resulting demand of its node."""


def repairs(problem: Problem, percent: int) -> tuple[list[Repair], bool]:
    """Search changes that make the GPUs fit `percent` of their capacity. True: the search was cut short."""
    by_path = {use.path: use for use in problem.asked}
    paths = (d.origin if of_a_slot(d) else d.origin[:2] for d in problem.conflict)
    involved = list(dict.fromkeys(by_path[path] for path in paths if path in by_path))
    offered: list[Repair] = []
    capped = False
    for changes in _KINDS[problem.kind]:
        candidates = ((use, change) for use in involved for change in changes(problem, use))
        for tries, (use, (repair, after)) in enumerate(candidates):
            if tries == TRIES:
                capped = True
                break
            if _passes(problem, percent, use, after):
                offered.append(repair)
                break
        if len(offered) == OFFERS:
            break
    return offered, capped


def _passes(problem: Problem, percent: int, before: Use, after: Use) -> bool:
    """Check the GPUs that the change touches, with the new numbers."""
    if _left_over(after) > _left_over(before):
        return False
    change: dict[tuple[int, str], int] = {(gpu, problem.kind): 0 for gpu in problem.gpus}
    for sign, use in ((-1, before), (1, after)):
        for gpu, kind, amount in asked_of(use):
            change[gpu, kind] = change.get((gpu, kind), 0) + sign * amount
    for (gpu, kind), difference in change.items():
        load = problem.found[gpu]
        must = kind == problem.kind and gpu in problem.gpus
        limit = percent if kind == problem.kind else 100
        if (must or difference > 0) and not fits(load.used(kind) + difference, load.total(kind), limit):
            return False
    return True


def _left_over(use: Use) -> int:
    return max(0, use.containers - len(use.gpus) * use.slots)


def _other_gpus(problem: Problem, use: Use) -> Iterator[Change]:
    """Lists of free GPUs with known numbers for this node.

    First its own without the full ones, then as many as it has or more, then fewer, then another order.
    """
    if use.drawing:
        return
    if use.held:
        yield from _other_gpus_of_a_runner(problem, use)
        return
    taken = {gpu for other in problem.asked if other.runs_models and other.path != use.path for gpu in other.gpus}
    free = [
        load.gpu
        for load in problem.found
        if not (use.runs_models and (load.gpu in taken or load.gpu > _HIGHEST_RUNNER_GPU))
        and not (use.warm and load.memory_total is None)
        and not (use.sessions and load.sessions_total is None)
    ]
    count = len(use.gpus)
    rest = tuple(gpu for gpu in use.gpus if gpu in free and gpu not in problem.gpus)
    sizes = (*range(count, len(free) + 1), *range(count - 1, 0, -1))
    lists = chain([rest] if rest else [], chain.from_iterable(combinations(free, size) for size in sizes))
    for gpus in chain(lists, permutations(free, count)):
        if gpus != use.gpus:
            yield Repair((*use.path, "gpus"), gpus), replace(use, gpus=gpus)


def _other_gpus_of_a_runner(problem: Problem, use: Use) -> Iterator[Change]:
    """As many other GPUs with known memory."""
    free = [load.gpu for load in problem.found if load.gpu not in problem.gpus and load.memory_total is not None]
    for gpus in combinations(free, len(use.gpus)):
        yield Repair((*use.path, "gpus"), gpus), replace(use, gpus=gpus)


def _other_slot_gpu(problem: Problem, use: Use) -> Iterator[Change]:
    """Another GPU with known numbers, for a listed slot or for all counted slots."""
    if not use.drawing:
        return
    path = (*use.path, "gpu") if isinstance(use.path[-1], int) else (*use.path[:-1], "gpu")
    for load in problem.found:
        if load.gpu not in use.gpus and load.memory_total is not None and load.sessions_total is not None:
            yield Repair(path, load.gpu), replace(use, gpus=(load.gpu,))


def _fewer_slots(problem: Problem, use: Use) -> Iterator[Change]:
    """The most counted slots that fit the GPU, then fewer."""
    if not use.drawing or isinstance(use.path[-1], int):
        return
    load = problem.found[use.gpus[0]]
    each = use.drawing if problem.kind == MEMORY else use.sessions
    total = load.total(problem.kind)
    if isinstance(total, int):
        room = (total - load.used(problem.kind)) // each + use.slots
        for count in range(min(room, use.slots - 1), 0, -1):
            yield Repair(use.path, count), replace(use, slots=count)


def _fewer_streams(problem: Problem, use: Use) -> Iterator[Change]:
    """The most streams that fit each GPU of the node beside its other work.

    Streams are spread evenly, so the GPU with the least room decides; the first GPUs of the list get the odd ones.
    """
    if use.drawing or use.held:
        return
    own = {gpu: demand.amount or 0 for gpu, demand in demands(use) if demand.kind == SESSIONS}
    most = use.sessions - 1
    for place, gpu in enumerate(use.gpus):
        load = problem.found[gpu]
        if isinstance(load.sessions_total, int):
            room = load.sessions_total - (load.sessions_used - own.get(gpu, 0))
            most = min(most, room * len(use.gpus) + place)
    if most > 0:
        yield Repair((*use.path, "max_sessions"), most), replace(use, sessions=most)


def _fewer_copies(problem: Problem, use: Use) -> Iterator[Change]:
    room = len(use.gpus) * use.slots
    for position, entry in _largest_first(use):
        for copies in range(min(entry.copies, room + 1) - 1, 0, -1):
            fewer = (*use.warm[:position], entry._replace(copies=copies), *use.warm[position + 1 :])
            path = (*use.path, "models", entry.place, "capacity")
            yield Repair(path, copies, entry.model), replace(use, warm=fewer)


def _cold(problem: Problem, use: Use) -> Iterator[Change]:
    for position, entry in _largest_first(use):
        rest = (*use.warm[:position], *use.warm[position + 1 :])
        path = (*use.path, "models", entry.place, "warm")
        yield Repair(path, False, entry.model), replace(use, warm=rest)


def _largest_first(use: Use) -> list[tuple[int, Warm]]:
    return sorted(enumerate(use.warm), key=lambda item: -(item[1].memory or 0))


_KINDS: dict[str, tuple[Callable[[Problem, Use], Iterator[Change]], ...]] = {
    MEMORY: (_other_gpus, _other_slot_gpu, _fewer_copies, _fewer_slots, _cold),
    SESSIONS: (_other_gpus, _other_slot_gpu, _fewer_streams, _fewer_slots),
}
