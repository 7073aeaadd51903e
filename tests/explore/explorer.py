"""Visits every point of a rollout with every fault, by a fork of this process at each.

In: a scenario, and how many faults one run may have. Out: how many distinct states were seen, and each violation with
the short list of its events, which `replayed` runs again.
"""

from __future__ import annotations

import gc
import os
import pickle
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from fleetc.rollout.hosts.deploy import Outcome
from fleetc.rollout.hosts.rolling import Goal
from tests.explore import promises
from tests.explore.fleet import Controller, LostError, compiled
from tests.explore.machine import Died, Machine, World

STALL_SECONDS, PAUSE_SECONDS, LATE_SECONDS, FULL_SECONDS = 1000, 150, 900, 500

ON_HOSTS = ("kill", "cut", "late cut", "stall", "shutdown", "full")
"""Faults of a host: the process dies; the power goes, with all that was not synced; the power goes for longer than any
lease, and nothing is lost; the process stops for long; the host is shut down; its disk gets full."""
OF_PEOPLE = ("restart", "stop", "disable")
"""What a person, or a crash, does to each node of the host."""
OF_QUESTIONS = ("lost", "die", "pause", "long pause", "other")
OF_ANSWERS = ("lost", "die")
OF_LINES = ("die",)
"""What happens to messages and lines of the journal: they get lost; the controller dies; it sleeps; another controller
rolls out at this moment."""


class Event(NamedTuple):
    """A fault: before which time something happens in a run, what that is, and the fault."""

    number: int
    what: str
    fault: str

    def __str__(self) -> str:
        return f"{self.fault}, before the {self.number}. time: {self.what}"


class Violation(NamedTuple):
    """A promise that was broken, and the events that lead there."""

    events: tuple[Event, ...]
    words: str

    def __str__(self) -> str:
        return "; ".join(map(str, self.events)) + f" => {self.words}"


@dataclass(frozen=True)
class Scenario:
    """A rollout: what ran before it, "" for nothing, what it leads to, and what the next one leads to."""

    name: str
    before: str
    after: str
    goal: Callable[[World], Goal] = lambda world: Goal()
    next: str = ""
    hosts: tuple[str, ...] = ("one", "two")
    faults: tuple[str, ...] = (*ON_HOSTS, *OF_PEOPLE, *OF_QUESTIONS)
    expected: int = 0
    """The exit code without a fault."""
    moves: bool = False
    earlier: str = ""
    """What ran before that, for rollbacks."""
    is_deploy: bool = True
    in_order: bool = False
    """Whether the hosts of the table are of one batch each, in that order."""

    @property
    def healing(self) -> str:
        return self.next or self.after


@dataclass
class Result:
    """What an exploration saw."""

    states: set[int] = field(default_factory=set)
    quiet: set[int] = field(default_factory=set)
    """States in which the world was quiet: the next rollout began there."""
    runs: int = 0
    violations: list[Violation] = field(default_factory=list)


class Explorer:
    """One exploration, and the world in it."""

    def __init__(self, scenario: Scenario, depth: int = 1, script: Sequence[Event] = (), every: int = 1) -> None:
        self.scenario, self.left, self.every = scenario, depth, every
        self.script = {(event.number, event.what): event for event in script}
        self.replays = bool(script)
        self.times: Counter[str] = Counter()
        self.path: tuple[Event, ...] = ()
        self.number = 0
        self.active = False
        self.result, self.pipe = Result(), -1
        self.world = World(scenario.hosts)
        self.ann, self.bob = Controller(self.world, "ann"), Controller(self.world, "bob")
        self.touched: set[str] = set()
        """Nodes that a person stopped or disabled."""
        self.heard: set[str] = set()
        """What hosts answered to."""
        self.other: Outcome | None = None
        self.outcome: Outcome | None = None
        self.limit = 20
        self.world.point, self.world.watch = self.point, self.watch

    def explore(self, limit: int = 20) -> Result:
        """The run without a fault, and from each of its points one with each."""
        self.limit = limit
        gc.collect()
        gc.freeze()
        depth, self.left = self.left, 0
        if not self.forked(Event(0, "the whole", "nothing")):  # first without a fault: what fails then needs no more
            self.path = ()
            self.run()
        self.left = depth
        if not self.result.violations:
            self.run()
        return self.result

    def run(self) -> None:
        """One run. In a fork, its end is that of the process."""
        try:
            promises.kept(self)
        except (Exception, Died, promises.Broken) as failure:
            where = traceback.extract_tb(failure.__traceback__)[-1]
            words = f"{type(failure).__name__}: {failure}"[:700]
            plain = isinstance(failure, promises.Broken)
            self.result.violations.append(
                Violation(self.path, words if plain else f"{words} ({where.filename}:{where.lineno})")
            )
        self.result.runs += 1
        if self.pipe >= 0:
            with os.fdopen(self.pipe, "wb") as pipe:
                pickle.dump(self.result, pipe)
            os._exit(0)

    def watch(self) -> None:
        promises.once(self.world)

    def digest(self) -> int:
        world = self.world
        timers = tuple(
            sorted((round(when - world.now), machine.name, words[0]) for when, _, machine, _, words in world.timers)
        )
        return hash((timers, *(machine.digest() for machine in world.machines.values())))

    # Points and their faults.

    def point(self, machine: Machine | None, what: str) -> None:
        """A moment at which a fault may happen."""
        if not self.active:
            return
        if machine is None and " answers " in what:
            self.heard.add(what.rpartition(" ")[2])
        self.number += 1
        label = f"{machine.name if machine else '-'} {what}"
        self.times[label] += 1
        if self.replays:
            event = self.script.pop((self.times[label], label), None)
            if event is not None:
                self.path += (event,)
                self.happens(event.fault, machine)
            return
        self.result.states.add(hash((self.digest(), what, len(self.world.stack))))
        if self.left < 1 or self.number % self.every:
            return
        for fault in self.faults(machine, what):
            if len(self.result.violations) >= self.limit:
                return
            if not self.forked(Event(self.times[label], label, fault)):
                self.happens(fault, machine)
                return

    def faults(self, machine: Machine | None, what: str) -> Iterator[str]:
        if machine is None:
            kinds = OF_LINES if " writes: " in what else OF_QUESTIONS if " asks " in what else OF_ANSWERS
            yield from (kind for kind in kinds if kind in self.scenario.faults)
            return
        yield from (kind for kind in ON_HOSTS if kind in self.scenario.faults)
        for kind in OF_PEOPLE:
            if kind in self.scenario.faults:
                yield from (f"{kind} {node}" for node in sorted(machine.nodes))

    def forked(self, event: Event) -> bool:
        """Explore what comes of a fault in a process of its own; whether this is the one that goes on without it."""
        reads, writes = os.pipe()
        child = os.fork()
        if not child:
            os.close(reads)
            self.pipe = writes
            self.left -= 1
            self.path += (event,)
            self.result = Result(quiet=self.result.quiet)
            return False
        os.close(writes)
        with os.fdopen(reads, "rb") as pipe:
            content = pipe.read()
        os.waitpid(child, 0)
        found: Result = pickle.loads(content)
        self.result.states |= found.states
        self.result.quiet |= found.quiet
        self.result.runs += found.runs
        self.result.violations += found.violations
        return True

    def happens(self, fault: str, machine: Machine | None) -> None:
        """Make a fault happen, here and now."""
        kind, _, node = fault.partition(" ")
        world = self.world
        if machine is None:
            if kind == "lost":
                raise LostError
            if kind == "die":
                self.ann.dead = self.ann.dead or world.stack[-1].machine is None
                raise Died
            if kind == "other":
                self.other = self.bob.roll_out(compiled(self.scenario.before or self.scenario.after))
            else:
                world.sleep(LATE_SECONDS if kind == "long" else PAUSE_SECONDS)
        elif fault == "kill":
            world.stack[-1].dead = True
        elif fault in ("cut", "late cut"):
            machine.turn_off(fault == "cut", 20 if fault == "cut" else 2000)
        elif fault == "stall":
            world.sleep(STALL_SECONDS // 10 if self.scenario.moves else STALL_SECONDS)
        elif fault == "shutdown":
            machine.shut_down()
        elif fault == "full":
            machine.disk.full = True
            world.due(FULL_SECONDS, machine, "", ("room",))
        elif node in machine.nodes:
            self.touched |= {node} if kind != "restart" else set()
            machine.disable(node) if kind == "disable" else machine.stop(node)
            if kind == "restart":
                machine.start(node)
        world.alive()

    def roll_out(self, text: str, goal: Goal) -> Outcome | None:
        return self.ann.roll_out(compiled(text), goal)


def replayed(scenario: Scenario, events: Sequence[Event]) -> list[Violation]:
    """What comes of these events. All of them happen, or that is a violation too."""
    explorer = Explorer(scenario, 0, events)
    explorer.run()
    missed = [Violation((event,), "there is no such moment") for event in explorer.script.values()]
    return explorer.result.violations + missed


def shrunk(scenario: Scenario, events: Sequence[Event]) -> Sequence[Event]:
    """The events without those that a violation does not need."""
    for event in events:
        rest = [other for other in events if other != event]
        if rest and replayed(scenario, rest):
            return shrunk(scenario, rest)
    return events
