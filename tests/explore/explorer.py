"""Visits every point of a rollout with every fault, by a fork of this process at each.

In: a scenario, and how many faults one run may have. Out: how many distinct states were seen, and each violation with
the short list of its events, which `replayed` runs again.
"""

from __future__ import annotations

import sys
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from fleetc.rollout.hosts.deploy import Outcome
from fleetc.rollout.hosts.rolling import NOTHING_STATED, Goal, Stated
from tests.explore import promises
from tests.explore.fleet import Controller, LostError, compiled
from tests.explore.machine import Died, Machine, Process, SilentError, World

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


ALL = (*ON_HOSTS, *OF_PEOPLE, *OF_QUESTIONS)
DEATHS = ("kill", "cut", "die", "lost")
PLAIN, COUNTED = (str, int, bool), (dict, list, set)


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
    expected: int = 0
    """The exit code without a fault."""
    moves: bool = False
    earlier: str = ""
    """What ran before that, for rollbacks."""
    is_deploy: bool = True

    @property
    def healing(self) -> str:
        return self.next or self.after


class Result(NamedTuple):
    """What an exploration saw: states, runs, different worlds from which the next rollout began, and violations."""

    states: int
    runs: int
    quiet: int
    violations: list[Violation]


@dataclass
class Past:
    """What has happened in a run since its rollout began."""

    path: tuple[Event, ...] = ()
    times: Counter[str] = field(default_factory=Counter)
    """How often each moment came."""
    touched: frozenset[str] = frozenset()
    """Nodes that a person stopped or disabled."""
    heard: frozenset[str] = frozenset()
    """What hosts answered to, of `left` and `confirm`."""
    other: str = ""
    """What another controller's table says."""
    harmless: bool = True
    """Whether each fault left the hosts as they were."""
    late: bool = False
    """Whether `left` may have come after a lease."""
    disturbed: bool = False
    """Whether nodes of a healthy host may be stopped."""

    def copy(self) -> Past:
        return replace(self, times=self.times.copy())

    def counts(self) -> tuple[object, ...]:
        """What promises depend on."""
        return self.touched, self.heard, self.other, self.harmless, self.late, self.disturbed, bool(self.path)


class Step(NamedTuple):
    """What the world did for the controller: what came of it, and when it was over."""

    now: float
    failure: BaseException | None
    value: Any


class Branch(NamedTuple):
    """Where a run leaves another: after these steps, at that moment of the next one, with a fault."""

    tape: tuple[Step, ...]
    world: Any
    past: Past
    moments: dict[int, str]
    """The faults of that step, the new one last."""


class Known(BaseException):
    """A run has come to a state from which all has been explored."""


class Explorer:
    """One exploration, and the world in it.

    A run begins where it leaves another. The world is copied at each step, which is what the world does for one message
    of the controller. The controller gets the steps until there from the tape, and the step is done again.
    """

    def __init__(
        self,
        scenario: Scenario,
        depth: int = 1,
        second: Sequence[str] = ALL,
        every: int = 1,
        script: Sequence[Event] = (),
    ) -> None:
        """`second` has the faults that may come after another one; each `every`th moment gets faults."""
        self.scenario, self.depth, self.second, self.every = scenario, depth, second, every
        self.script = {(event.number, event.what): event for event in script}
        self.replays = bool(script)
        self.active = self.inside = False
        self.over: BaseException | None = None
        """What ended this run. Whatever a controller still asks for ends with it too."""
        self.seen: dict[int, int] = {}
        """With how many faults left each moment was seen."""
        self.states: set[int] = set()
        self.quiet: set[int] = set()
        self.own: set[int] = set()
        """What this run has seen since its last fault."""
        self.branches: list[Branch] = []
        self.violations: list[Violation] = []
        self.runs = 0
        self.past = Past()
        self.world = World(scenario.hosts)
        self.ann, self.bob = Controller(self.world, "ann"), Controller(self.world, "bob")
        self.world.point, self.world.watch, self.world.step = self.point, self.watch, self.step

    def explore(self, limit: int = 20) -> Result:
        """The run without a fault, and from each of its points one with each."""
        self.attempt(lambda: promises.ran_before(self))
        self.goal, self.start = self.scenario.goal(self.world), self.ann.copy()
        self.branches.append(Branch((), self.copy(), Past(), {}))
        while self.branches and len(self.violations) < limit and not self.fails_by_itself():
            self.run(self.branches.pop())
        return Result(len(self.states), self.runs, len(self.quiet), self.violations)

    def fails_by_itself(self) -> bool:
        return bool(self.violations) and not self.violations[0].events

    def run(self, branch: Branch) -> None:
        """One run."""
        self.branch, self.tape, self.past, self.own = branch, list(branch.tape), branch.past.copy(), set()
        self.place, self.inside, self.over = 0, False, None
        self.runs += 1
        world, bob = branch.world
        self.world.restore(world)
        self.bob.restore(bob)
        self.ann.restore(self.start)
        self.attempt(lambda: promises.kept(self))
        self.active = False

    def attempt(self, do: Callable[[], None]) -> None:
        """Do what may break a promise."""
        try:
            do()
        except Known:
            pass
        except (Exception, Died, promises.Broken) as failure:
            where = traceback.extract_tb(failure.__traceback__)[-1]
            words = f"{type(failure).__name__}: {failure}"[:700]
            plain = isinstance(failure, promises.Broken)
            self.violations.append(
                Violation(self.past.path, words if plain else f"{words} ({where.filename}:{where.lineno})")
            )

    def copy(self) -> Any:
        return self.world.copy(), self.bob.copy()

    @property
    def left(self) -> int:
        return self.depth - len(self.past.path)

    def step(self, do: Callable[[], Any]) -> Any:
        """What the world does for the controller, or did in the run that this one leaves."""
        if self.over is not None:
            raise self.over
        if self.inside or not self.active:
            return do()
        if self.place == len(self.tape):
            self.done(do)
        now, failure, value = self.tape[self.place]
        self.place += 1
        self.world.now = now
        if failure is not None:
            self.ann.dead |= isinstance(failure, Died)
            raise failure.with_traceback(None)
        return value

    def done(self, do: Callable[[], Any]) -> None:
        """Do a step, and write it down."""
        self.moments = self.branch.moments if self.place == len(self.branch.tape) else {}
        self.begun = Branch(tuple(self.tape), self.copy(), self.past.copy(), {}) if self.left > 0 else None
        self.number, self.inside = 0, True
        failed, value = None, None
        try:
            value = do()
        except (SilentError, Died) as died:
            failed = died
        except BaseException as failure:
            self.over = failure
            raise
        self.inside = False
        self.tape.append(Step(self.world.now, failed, value))

    def watch(self) -> None:
        promises.once(self.world)

    def digest(self) -> int:
        world = self.world
        timers = frozenset([(round(timer[0] - world.now), timer[2].name, *timer[3:]) for timer in world.timers])
        machines = [machine.digest() for machine in world.machines.values()]
        return hash((timers, *machines, self.ann.digest(), self.bob.digest()))

    def is_new(self) -> bool:
        """Whether nobody has rolled out yet from what the world is at."""
        before = len(self.quiet)
        self.quiet.add(hash((self.digest(), self.past.counts())))
        return self.replays or len(self.quiet) > before

    # Points and their faults.

    def point(self, machine: Machine | None, what: str) -> None:
        """A moment at which a fault may happen."""
        if not self.active:
            return
        past = self.past
        if what.endswith((": left", ": confirm")) and " answers " in what:
            past.heard |= {what.rpartition(" ")[2]}
        self.number += 1
        label = f"{machine.name if machine else '-'} {what}"
        past.times[label] += 1
        if self.replays:
            event = self.script.pop((past.times[label], label), None)
            if event is not None:
                self.happens(event, machine)
            return
        if self.moments and self.number <= max(self.moments):
            if self.number in self.moments:
                self.happens(Event(past.times[label], label, self.moments[self.number]), machine)
            return
        state = self.digest()
        self.states.add(hash((state, what, len(self.world.stack))))
        self.is_known(hash((state, label, positions(self.world.stack, self.world.now), past.counts())))
        if self.left > 0 and self.begun and not self.number % self.every:
            for fault in self.faults(machine, what):
                self.branches.append(self.begun._replace(moments={**self.moments, self.number: fault}))

    def is_known(self, moment: int) -> None:
        """End a run that has come to where another one was, with at least as many faults left."""
        known = self.seen.get(moment, -1)
        if known < self.left:
            self.seen[moment] = self.left
        elif moment not in self.own:
            raise Known
        self.own.add(moment)

    def faults(self, machine: Machine | None, what: str) -> list[str]:
        allowed = set(self.second if self.past.path else ALL) - ({"other"} if self.past.other else set())
        if machine is None:
            kinds = OF_LINES if " writes: " in what else OF_QUESTIONS if " asks " in what else OF_ANSWERS
            return [kind for kind in kinds if kind in allowed]
        return [kind for kind in ON_HOSTS if kind in allowed] + [
            f"{kind} {node}" for kind in OF_PEOPLE if kind in allowed for node in sorted(machine.nodes)
        ]

    def happens(self, event: Event, machine: Machine | None) -> None:
        """Make a fault happen, here and now."""
        fault, past, world = event.fault, self.past, self.world
        kind, _, node = fault.partition(" ")
        past.path += (event,)
        past.harmless &= kind in ("pause", "long", "other")
        past.late |= fault == "long pause" and event.what.endswith(": left")
        past.disturbed |= kind in ("restart", "shutdown")
        self.own = set()
        if machine is None:
            if kind == "lost":
                raise LostError
            if kind == "die":
                (self.bob if "bob" in event.what else self.ann).dead = True
                raise Died
            if kind == "other":
                past.heard = frozenset()
                outcome = self.bob.roll_out(compiled(self.scenario.before or self.scenario.after))
                past.other += f"bob: {promises.told(outcome)}"
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
            past.touched |= {node} if kind != "restart" else set()
            machine.disable(node) if kind == "disable" else machine.stop(node)
            if kind == "restart":
                machine.start(node)
        world.alive()

    def roll_out(self, text: str, goal: Goal, stated: Stated = NOTHING_STATED) -> Outcome | None:
        return self.ann.roll_out(compiled(text), goal, stated)


def positions(stack: Sequence[Process], now: float) -> object:
    """Where the processes of hosts are: their instructions, with the plain values that their functions have."""
    places: list[object] = [(one.machine and one.machine.name, round(one.until - now)) for one in stack[:-1]]
    frame = sys._getframe(2)
    while frame.f_back:
        if frame.f_globals["__name__"].startswith("fleetc_host_"):
            places += (id(frame.f_code), frame.f_lasti)
            places += [
                value if type(value) in PLAIN else len(value) if type(value) in COUNTED else 0
                for value in frame.f_locals.values()
            ]
        frame = frame.f_back
    return tuple(places)


def replayed(scenario: Scenario, events: Sequence[Event]) -> list[Violation]:
    """What comes of these events. All of them happen, or that is a violation too."""
    explorer = Explorer(scenario, 0, script=events)
    return explorer.explore().violations + [
        Violation((event,), "there is no such moment") for event in explorer.script.values()
    ]


def shrunk(scenario: Scenario, events: Sequence[Event]) -> Sequence[Event]:
    """The events without those that a violation does not need."""
    for event in events:
        rest = [other for other in events if other != event]
        if rest and replayed(scenario, rest):
            return shrunk(scenario, rest)
    return events
