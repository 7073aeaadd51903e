"""What a rollout means for prices, sessions and ports: what hosts run now, compared with what they will run.

In: states of hosts, trees that are known here, the side that is rolled out. Out: a `Meaning`. A host names its release
by a digest. The tree with a host's release explains it; without one, the meaning is reported as unknown.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from fleetc.emit.release import NOTHING, releases_in
from fleetc.emit.tree import MANIFEST
from fleetc.planner.data import UNKNOWN, HostState
from fleetc.planner.fates import Journal, no_journal
from fleetc.planner.states import recorded_states
from fleetc.review.compare import compare
from fleetc.review.data import Effect, Review
from fleetc.review.sides import Side
from fleetc.rollout.plan.data import Comparison
from fleetc.rollout.plan.make import Effects, Meaning, effects_of

_SHORT = 12

THIS = "the tree of this plan"
"""The baseline of hosts that are already up to date."""

NO_RELEASE = "nothing: no release is there yet"
"""What a host without a release is compared with."""


class Known(NamedTuple):
    """A known tree: its name for people, its states of hosts, and the tree, read on demand; None where it cannot be.
    `states` may lack hosts that are not needed."""

    name: str
    states: Mapping[str, HostState]
    side: Callable[[], Side | None]


class RunningTree(NamedTuple):
    """The tree that some hosts run."""

    hosts: tuple[str, ...]
    name: str
    side: Side


def meaning_of(
    states: Sequence[HostState],
    trees: Iterable[Known],
    new: Side,
    why: Callable[[], str],
    journal: Journal = no_journal,
) -> Meaning:
    """The meaning of the rollout of `new` for hosts with these `states`.

    `trees` are read in their order, no further than needed. `why` is, after all were read, why no tree has the release
    of a host.
    """
    known_states = {state.host: state for state in states if state.known != UNKNOWN and state.release}
    running = trees_of(known_states, chain(trees, [Known(THIS, recorded_states(new.tree()), lambda: new)]))
    bare = [state.host for state in states if state.known != UNKNOWN and not state.release]
    first = next((place for place, tree in enumerate(running) if tree.side is not new), None)
    if first is not None:  # a host that is new in the fleet is new in the comparison with the others
        joining = tuple(host for host in bare if not _has(running[first].side, host))
        running[first] = running[first]._replace(hosts=(*running[first].hosts, *joining))
        bare = [host for host in bare if host not in joining]
    effects: dict[tuple[str, str], Sequence[Effect]] = {}
    compared = []
    for place, tree in enumerate(running):
        review = compare(tree.side, new, journal)
        effects |= _told(effects_of(review), tree.hosts, fleet=place == first)
        compared.append(_comparison(tree, review))
    known = {host for tree in running for host in tree.hosts}
    if bare:
        compared.append(Comparison(tuple(bare), "", NO_RELEASE))
    for note, hosts in _unknown(states, known | set(bare), why).items():
        compared.append(Comparison(tuple(hosts), "", "", note))
    return Meaning(effects, tuple(compared))


def trees_of(states: Mapping[str, HostState], trees: Iterable[Known]) -> list[RunningTree]:
    """The trees that hosts run, as few as there have to be, the one with most hosts first; hosts of none are left out.

    A tree counts for a host only if its files match the digest of the release.
    """
    candidates: list[tuple[Known, set[str]]] = []
    for known in trees if states else ():
        here = {host for host, state in states.items() if _runs(state, known.states.get(host))}
        if here:
            candidates.append((known, here))
        if len(here) == len(states) and (tree := _proven(known, here, states)):
            return [tree]
    chosen: list[RunningTree] = []
    left = set(states)
    while left and candidates:
        place, (known, here) = max(enumerate(candidates), key=lambda pair: (len(pair[1][1] & left), -pair[0]))
        del candidates[place]
        if tree := _proven(known, here & left, states):
            chosen.append(tree)
            left -= set(tree.hosts)
    return chosen


def _runs(now: HostState, then: HostState | None) -> bool:
    """Whether a host runs a tree's files, by digests."""
    if then is None or now.release != then.release:
        return False
    had = {(process.node, process.project): process.digest for process in then.processes}
    has = {(process.node, process.project): process.digest for process in now.processes if process.digest}
    return all(had.get(process, digest) == digest for process, digest in has.items())


def _proven(known: Known, hosts: Iterable[str], states: Mapping[str, HostState]) -> RunningTree | None:
    """The tree, with the hosts that run its files; None without any."""
    named = [host for host in states if host in set(hosts)]
    side = known.side() if named else None
    if side is None:
        return None
    there = releases_in(side.tree())
    sound = tuple(host for host in named if there.get(host, NOTHING).host == states[host].release)
    return RunningTree(sound, known.name, side) if sound else None


def _has(side: Side, host: str) -> bool:
    return any(path.startswith(f"hosts/{host}/") for path in side.files)


def _told(effects: Effects, hosts: Sequence[str], fleet: bool) -> Effects:
    """The effects on some hosts, and optionally on the fleet."""
    return {place: of_place for place, of_place in effects.items() if place[0] in hosts or (fleet and not place[0])}


def _comparison(running: RunningTree, review: Review) -> Comparison:
    tree = hashlib.sha256(running.side.files[MANIFEST]).hexdigest() if MANIFEST in running.side.files else ""
    notes = "; ".join(dict.fromkeys(review.notes))
    if review.files_only:
        return Comparison(running.hosts, "", "", f"only files can be compared with {running.name}: {notes}")
    return Comparison(running.hosts, tree, running.name, notes)


def _unknown(states: Sequence[HostState], known: set[str], why: Callable[[], str]) -> dict[str, list[str]]:
    """Hosts with an unknown meaning of the change, by reason."""
    reasons: dict[str, list[str]] = {}
    for state in states:
        if state.host in known:
            continue
        reason = f"nobody knows what runs there ({state.note})"
        if state.known != UNKNOWN:
            reason = f"the release {state.release[:_SHORT]} that runs there is in no tree known here; {why()}"
        reasons.setdefault(reason, []).append(state.host)
    return reasons
