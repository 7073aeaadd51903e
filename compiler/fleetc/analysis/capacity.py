"""Whether every GPU of the fleet can handle its work: memory, and hardware encode sessions.

In: a sound `Fleet`. Out: the load of each GPU (`capacity`, for reports) and diagnostics, one function per code (for the
rules) and all of them together (`problems`). Hosts that list no GPUs are unknown and get no diagnostics.

An overloaded GPU is an error: containers run out of memory and the node stops, or accepted streams fail with "Cannot
allocate memory". More than 85 percent of the memory under normal load is a warning, following the operators' guidance
that such work needs separate GPUs. Unknown numbers are a warning and never guessed. Taking the largest demands first
finds the smallest conflict of a GPU: because demands add up, no smaller set exceeds the limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from fleetc.analysis.demand import (
    MEMORY,
    SESSIONS,
    Demand,
    GpuLoad,
    Use,
    fits,
    loads,
    of_a_slot,
    roaming,
    uses,
)
from fleetc.analysis.repairs import TRIES, Problem, repairs
from fleetc.language.answers import once_for_all
from fleetc.language.fleet import Fleet
from fleetc.language.quantities import Bytes
from fleetc.places.diagnostic import Diagnostic, Label, Path, error, warning
from fleetc.text.counting import first_of
from fleetc.upstream import FEWEST_LIMITED_SESSIONS, MOST_SESSIONS, gpu_model

GUIDANCE = 85
"""Percent of a GPU's memory above which its work should have dedicated nodes."""

_NAMED = 6
"""The most demands and reasons that one message names."""


def capacity(fleet: Fleet) -> list[GpuLoad]:
    """The load of each listed GPU, sorted by host and id."""
    return [load for host in _weighed(fleet) for load in host.found]


def problems(fleet: Fleet) -> Iterator[Diagnostic]:
    """Every capacity problem of the fleet."""
    return chain(
        memory_exceeded(fleet),
        memory_tight(fleet),
        sessions_exceeded(fleet),
        unknown(fleet),
        implausible(fleet),
    )


def memory_exceeded(fleet: Fleet) -> Iterator[Diagnostic]:
    """GPUs without enough memory for their warm models and slots. Changes that follow the guidance come first."""
    for problem in _too_full(fleet, MEMORY, 0, 100):
        load = problem.load
        needs = size_text(load.memory_used)
        message = f"{_which(problem)} has {size_text(load.memory_total)} of memory, but its work needs {needs}"
        yield error("gpu-memory-exceeded", message, *_places(problem), _help(problem, GUIDANCE, 100))
    for crowd in _crowds(fleet, MEMORY, 0, 100):
        yield error("gpu-memory-exceeded", *crowd)


def memory_tight(fleet: Fleet) -> Iterator[Diagnostic]:
    """GPUs with less free memory beside warm models and slots than recommended."""
    for problem in _too_full(fleet, MEMORY, GUIDANCE, GUIDANCE):
        load = problem.load
        message = (
            f"{_which(problem)} has {size_text(load.memory_total)} of memory, and its work needs "
            f"{size_text(load.memory_used)}, more than {GUIDANCE} % of it"
        )
        yield warning("gpu-memory-tight", message, *_places(problem), _help(problem, GUIDANCE))
    for crowd in _crowds(fleet, MEMORY, GUIDANCE, GUIDANCE):
        yield warning("gpu-memory-tight", *crowd)


def sessions_exceeded(fleet: Fleet) -> Iterator[Diagnostic]:
    """GPUs that may get more streams and slots than they can encode at once.

    A warning if the cause is the default of `max_sessions`: most fleets never get that many streams. On a GPU without
    an encoder the node does not start, so that stays an error.
    """
    for problem in _too_full(fleet, SESSIONS, 0, 100):
        load = problem.load
        total = load.sessions_total
        stated = sum(d.amount or 0 for d in load.demands if d.kind == SESSIONS and _stated(d))
        say = error if not isinstance(total, int) or not total or stated > total else warning
        has = f"allows {_sessions(load.sessions_total)} at once" if load.sessions_total else "has no video encoder"
        come = f"it may get {load.sessions_used} stream{'' if load.sessions_used == 1 else 's'}"
        others = [
            name
            for name, table in (("live runners", "runners"), ("avatar slots", "avatars"))
            if any(demand.origin[0] == table for demand in problem.conflict)
        ]
        if others:
            come = f"{' and '.join(['streams', *others])} may need {load.sessions_used}"
        message = f"{_which(problem)} {has}, but {come}"
        yield say("encode-sessions-exceeded", message, *_places(problem), _help(problem, 100))
    for crowd in _crowds(fleet, SESSIONS, 0, 100):
        yield error("encode-sessions-exceeded", *crowd)


def unknown(fleet: Fleet) -> Iterator[Diagnostic]:
    """Hosts with an unknown number that decides whether a GPU can handle its work: one warning each."""
    for weighed in _weighed(fleet):
        missing = list(dict.fromkeys(_missing(weighed)))
        if missing:
            message = f"fleetc cannot check whether the GPUs of host {weighed.host} can handle their work"
            (first, *labels), texts = zip(*missing, strict=True)
            advice = f"write the missing numbers, like {first_of(list(dict.fromkeys(texts)), _NAMED, '; ')}"
            yield warning("capacity-unknown", message, first, labels[: _NAMED - 1], advice)


def implausible(fleet: Fleet) -> Iterator[Diagnostic]:
    """GPUs with more memory or encode sessions in the spec than their model has."""
    for host in (weighed.host for weighed in _weighed(fleet)):
        for index, gpu in enumerate(fleet.hosts[host].gpus):
            known, path, texts = gpu_model(gpu.model), ("hosts", host, "gpus", index), []
            if known and gpu.memory is not None and gpu.memory.count > known.memory[-1]:
                most = size_text(known.memory[-1])
                texts.append(("memory", str(gpu.memory), most, f'write memory = "{most}", or remove it'))
            sessions = MOST_SESSIONS.get(known.encoder) if known else None
            if sessions is not None and (gpu.encode_sessions or 0) > sessions:
                advice = f"write encode_sessions = {sessions}" if sessions else "remove encode_sessions"
                texts.append(("encode_sessions", _sessions(gpu.encode_sessions or 0), str(sessions), advice))
            for key, written, known_most, advice in texts:
                yield warning(
                    "gpu-implausible",
                    f"GPU {index} of host {host} has {written} in the spec, but the {gpu.model} has {known_most}",
                    Label((*path, key)),
                    [Label((*path, "model"), "the model")],
                    advice,
                )


def smallest_conflict(demands: tuple[Demand, ...], kind: str, most: int) -> tuple[Demand, ...]:
    """The fewest demands that together exceed `most`; all demands of one kind if even they do not."""
    chosen = []
    largest_first = sorted(demands, key=lambda demand: (-(demand.amount or 0), list(map(str, demand.origin))))
    for demand in (demand for demand in largest_first if demand.kind == kind and demand.amount):
        chosen.append(demand)
        most -= demand.amount or 0
        if most < 0:
            break
    return tuple(chosen)


class Weighed(NamedTuple):
    """A host that lists GPUs: the demands of its nodes, the load of each GPU, and demands of slots that see several."""

    host: str
    asked: list[Use]
    found: list[GpuLoad]
    roaming: list[Use]


@once_for_all
def _weighed(fleet: Fleet) -> list[Weighed]:
    """Every host that lists GPUs, sorted."""
    named = ((name, uses(fleet, name)) for name, host in sorted(fleet.hosts.items()) if host.gpus)
    return [Weighed(name, asked, loads(fleet, name, asked), roaming(fleet, name)) for name, asked in named]


def _too_full(fleet: Fleet, kind: str, above: int, percent: int) -> Iterator[Problem]:
    """The GPUs that exceed `percent` but, with `above`, still fit; one problem for each cause.

    A node spreads its work evenly, so several GPUs often exceed their limit for one reason.
    """
    for _, asked, found, _ in _weighed(fleet):
        causes: dict[frozenset[Path], list[tuple[int, tuple[Demand, ...]]]] = {}
        for load in found:
            total, used = load.total(kind), load.used(kind)
            if isinstance(total, int) and not fits(used, total, percent) and (not above or fits(used, total)):
                conflict = smallest_conflict(load.demands, kind, total * percent // 100)
                causes.setdefault(frozenset(d.origin for d in conflict), []).append((load.gpu, conflict))
        for same in causes.values():
            yield Problem(kind, tuple(gpu for gpu, _ in same), same[0][1], found, asked)


def _which(problem: Problem) -> str:
    first, *others = problem.gpus
    more = f" (and GPU {', '.join(map(str, others))} too)" if others else ""
    return f"GPU {first} of host {problem.load.host}{more}"


def _places(problem: Problem) -> tuple[Label, list[Label]]:
    """The largest demand, then the others of the conflict, each place once with all its demands, then the GPU."""
    names = {demand.origin: demand for demand in problem.conflict}
    amounts: dict[Path, list[int]] = {origin: [] for origin in names}
    for demand in problem.load.demands:
        if demand.kind == problem.kind and demand.origin in names:
            amounts[demand.origin].append(demand.amount or 0)
    labels = [Label(origin, _note(names[origin], parts)) for origin, parts in amounts.items()]
    return _most(labels, problem.load.path, "the GPU", "it")


def _most(labels: list[Label], path: Path, gpus: str, them: str) -> tuple[Label, list[Label]]:
    """The first labels, and the GPUs with how many more use them."""
    left_out = len(labels) - _NAMED
    note = f"{gpus} ({left_out} more use {them})" if left_out > 0 else gpus
    return labels[0], [*labels[1:_NAMED], Label(path, note)]


def _stated(demand: Demand) -> bool:
    """Whether the spec itself states the amount."""
    return demand.origin[-1] != "gpus"


def _note(demand: Demand, parts: list[int]) -> str:
    if demand.kind == SESSIONS:
        silent = "" if _stated(demand) else ", the node's default, because max_sessions is not set"
        return f"{sum(parts)} of them from {demand.name}{silent}"
    return _takes(demand.name, demand.origin, len(parts), size_text(parts[0]))


def _takes(name: str, origin: Path, times: int, amount: str) -> str:
    """What takes an amount how often; slots that the spec counts are several."""
    several = origin[0] == "avatars" and not isinstance(origin[-1], int)
    return f"{name} {'take' if several else 'takes'} {f'{times} times ' if times > 1 else ''}{amount}"


def _help(problem: Problem, *goals: int) -> str:
    """The changes that reach the first goal (a percentage) that any change reaches."""
    text = "no single change makes it fit: use more GPUs or hosts, or reduce the work of this one in several places"
    stopped = False
    for percent in goals:
        offered, capped = repairs(problem, percent)
        stopped = stopped or capped
        if offered:
            text = "write " + ", or ".join(repair.text for repair in offered)
            break
    return f"{text} (the search stopped after {TRIES} changes of one kind)" if stopped else text


def _each(use: Use, kind: str) -> int:
    """What one slot takes of one kind."""
    return use.drawing if kind == MEMORY else use.sessions


def _together(uses: list[Use], kind: str) -> int:
    return sum(_each(use, kind) * use.slots for use in uses)


def _crowds(fleet: Fleet, kind: str, above: int, percent: int) -> Iterator[tuple[str, Label, list[Label], str]]:
    """Message, places and help for each host whose GPUs together have too little left for slots that see all of them.

    `percent` of the GPUs may be used; with `above`, only hosts that still fit.
    """
    amount, what = (size_text, " of memory") if kind == MEMORY else (_sessions, "")
    share = f", at {percent} % of all their memory" if percent < 100 else ""
    for host, _, found, slots in _weighed(fleet):
        asked, left, all_left = _together(slots, kind), _left(found, kind, percent), _left(found, kind, 100)
        if left is None or all_left is None or asked <= sum(left) or (above and asked > sum(all_left)):
            continue
        message = (
            f"slots that see all {len(found)} GPUs of host {host} need {amount(asked)}{what}, "
            f"but the GPUs have {amount(sum(left)) if any(left) else 'nothing'} left for them{share}"
        )
        labels = [Label(use.path, _takes(use.name, use.path, use.slots, amount(_each(use, kind)))) for use in slots]
        count, room = sum(use.slots for use in slots), sum(free // _each(slots[0], kind) for free in left)
        fit = f"there is room for {room} of these {count} slots" if room else "there is room for none of them"
        advice = f"{fit}: put the others on another host, or reduce the work of these GPUs"
        yield message, *_most(labels, ("hosts", host, "gpus"), "the GPUs", "them"), advice


def _left(found: list[GpuLoad], kind: str, percent: int) -> list[int] | None:
    """What each GPU has left of one kind; None if one of them is unlimited or unknown."""
    left = []
    for load in found:
        total = load.total(kind)
        if not isinstance(total, int):
            return None
        left.append(max(0, total * percent // 100 - load.used(kind)))
    return left


def _missing(weighed: Weighed) -> Iterator[tuple[Label, str]]:
    """What must be known about the GPUs of a host and is not, and an example of what to write where."""
    certain = sum(max(0, _certain_sessions(load) - load.sessions_used) for load in weighed.found)
    unlimited = any(load.sessions_total == "unlimited" for load in weighed.found)
    crowded = not unlimited and _together(weighed.roaming, SESSIONS) > certain
    for load in weighed.found:
        yield from _missing_of(load, bool(weighed.roaming), crowded)


def _certain_sessions(load: GpuLoad) -> int:
    """The sessions that a GPU certainly allows."""
    if isinstance(load.sessions_total, int):
        return load.sessions_total
    known = gpu_model(load.model)
    return FEWEST_LIMITED_SESSIONS if known and known.encoder == "limited" else 0


def _missing_of(load: GpuLoad, drawn_on: bool, crowded: bool) -> Iterator[tuple[Label, str]]:
    """What must be known about one GPU and is not.

    Uncounted streams, and those that every driver allows, are ignored. `drawn_on`: slots that see every GPU may take
    memory of this one; `crowded`: they may take more sessions than are certain on all of them.
    """
    gpus = f"hosts.{load.host}.gpus"
    memory = [d for d in load.demands if d.kind == MEMORY]
    known = gpu_model(load.model) if load.memory_total is None or load.sessions_total is None else None
    if (memory or drawn_on) and load.memory_total is None:
        sizes = f" is sold with {' or '.join(map(size_text, known.memory))}" if known else " is not a known model"
        size = size_text(known.memory[0]) if known else "24 GiB"
        yield Label(load.path, f'memory: "{load.model}"{sizes}'), f'memory = "{size}" in {gpus}'
    if load.sessions_total is None:
        fewest = _certain_sessions(load)
        counted = any(d.origin[-1] == "max_sessions" or of_a_slot(d) for d in load.demands)
        if crowded or (counted and load.sessions_used > fewest):
            why = (
                f"its driver decides, and only {fewest} are certain"
                if fewest
                else "fleetc does not know this model's number"
            )
            yield Label(load.path, f"encode_sessions: {why}"), f"encode_sessions = 8 in {gpus}"
    for demand in memory:
        if demand.amount is None:
            label = Label(("models", demand.model), f"memory: {demand.name} is on GPU {load.gpu}")
            yield label, f'memory = "9 GiB" in models.{demand.model}'


def _sessions(count: object) -> str:
    return f"{count} encode session{'' if count == 1 else 's'}"


def size_text(count: int | None) -> str:
    """A size for people: exact in GiB or MiB if it is whole, else rounded to a tenth of a GiB."""
    text = str(Bytes(count or 0))
    if text.endswith(("GiB", "MiB", "TiB")):
        return text
    tenths = ((count or 0) * 10 + 2**29) // 2**30
    return f"about {tenths // 10}.{tenths % 10} GiB"
