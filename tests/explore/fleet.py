"""The controller: `deploy_tree` as it is, on a simulated machine, with Ansible's runs as messages to simulated hosts.

In: a compiled fleet and a goal. Out: the `Outcome`. `Ansible` has the tasks of the role fleet_host in their order;
`test_playbook.py` compares the two. A message is a point of its own: its question or its answer may get lost, and the
controller may die before it or after it.
"""

from __future__ import annotations

import base64
import io
import json
import tarfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import PurePosixPath
from types import SimpleNamespace
from typing import Any, cast

from fleetc.blueprint.blueprint import Blueprint
from fleetc.emit.release import host_digest
from fleetc.emit.tree import Tree, is_released
from fleetc.rollout.hosts import deploy as deploying
from fleetc.rollout.hosts import journal as journals
from fleetc.rollout.hosts import rolling
from fleetc.rollout.hosts.deploy import Outcome, deploy_tree
from fleetc.rollout.hosts.events import Event, RunResult
from fleetc.rollout.hosts.gate import ACTIVATE, BEGIN, END, LET_GO, OBSERVE, STAGE
from fleetc.rollout.hosts.rolling import NOTHING_STATED, Goal, Stated
from fleetc.rollout.hosts.runner import RunOptions
from fleetc.rollout.journal.lines import decode
from fleetc.settings import Settings
from tests.explore.disk import Disk, os_of
from tests.explore.machine import EPOCH, Died, Json, Process, SilentError, World, without_times
from tests.support import compile_text

EXPECT = "Begin the time within which nodes come here for good, or not at all"
RETIRE = "Stop the nodes that come here, on the hosts where they run"
LEFT = "Keep the nodes that came here away from their old hosts"
SECRET = "CANARY-of-the-rpc"
DEPLOY = Goal()
ENDS = ("healthy", "reverted", "quarantined", "stuck")


class LostError(Exception):
    """A question or an answer that gets lost."""


@dataclass(eq=False)
class Ansible:
    """Runs of playbooks for one controller."""

    controller: Controller
    failures: list[Event] = field(default_factory=list)
    answers: dict[str, Json] = field(default_factory=dict)
    play: list[str] = field(default_factory=list)
    """The hosts that are left."""

    def run(self, project: Any, playbook: str, options: RunOptions, *_: object) -> RunResult:
        """What the runner reports of one run."""
        self.failures, self.answers, self.play = [], {host: {} for host in options.limit}, list(options.limit)
        self.controller.plays += 1
        self.tree, self.given = cast(Tree, project.tree), dict(options.variables)
        if playbook == "observe.yml":
            self.each(OBSERVE, lambda host: {"format": 1, "do": "observe"})
        elif playbook == "begin.yml":
            self.each(BEGIN, self.beginning)
        elif playbook == "end.yml":
            self.each(LET_GO, self.letting_go)
        else:
            comes = self.given.get("fleet_host_arrivals", {}) if "moves" in options.tags else {}
            self.site(list(options.limit), comes, "ask" not in options.skip_tags)
        counts = {"ok": dict.fromkeys(options.limit, 1)}
        return RunResult("successful", 0, counts, tuple(self.failures), answers=self.answers)

    def site(self, batch: list[str], comes: Json, asks: bool) -> None:
        """The tasks of tasks/main.yml, each over the hosts that are left. `comes` has what nodes come from where."""
        if asks:
            self.each(BEGIN, self.beginning)
        self.each(STAGE, self.staging)
        if self.play == batch:
            self.each(EXPECT, lambda host: self.own(host, "expect", release=self.answer(host, STAGE)["release"]), comes)
        if self.play == batch:
            self.delegated(RETIRE, self.retiring, comes)
        if self.play != batch:
            words = "Go on only if every host of the batch has its release", "nothing was changed"
            self.failures += [Event("failed", host, *words) for host in self.play[:1]]
            return

        def activation(host: str) -> Json:
            staged, lease = self.answer(host, STAGE), self.answer(host, EXPECT).get("lease", {})
            return self.own(host, "activate", release=staged["release"], id=staged["switch"], lease=lease)

        self.until(ACTIVATE, activation, ("healthy",))
        if self.play == batch:
            self.delegated(LEFT, lambda host, one: self.own(one["host"], "left", nodes=one["nodes"]), comes)
        end, good = ("confirm", ENDS) if self.play == batch else ("revert", ())
        self.until(END, lambda host: self.own(host, end, id=self.answer(host, ACTIVATE)["switch"]["id"]), good)

    # One task, for the hosts that are left and need it. A host that fails is left no more.

    def answer(self, host: str, task: str) -> Json:
        return cast(Json, self.answers[host].get(task, {}))

    def needed(self) -> list[str]:
        return [host for host in self.play if self.answer(host, BEGIN).get("needed", True)]

    def each(self, task: str, request: Callable[[str], Json], among: Json | None = None) -> None:
        for host in self.needed():
            if (among is None or host in among) and self.one(task, host, host, request(host)) is None:
                self.play.remove(host)

    def delegated(self, task: str, request: Callable[[str, Json], Json], comes: Json) -> None:
        """Ask the hosts from which nodes come."""
        for host in [host for host in self.needed() if host in comes]:
            if None in [self.one(task, host, one["host"], request(host, one)) for one in comes[host]]:
                self.play.remove(host)

    def until(self, task: str, request: Callable[[str], Json], good: Sequence[str]) -> None:
        """Ask hosts again until their switch has ended. Without a `good` end they fail, as those do that go back."""
        for host in self.needed():
            for left in reversed(range(90)):
                answer = self.one(task, host, host, request(host))
                phase = self.answer(host, task).get("switch", {}).get("phase")
                if phase in (None, *ENDS) or (answer is None and self.failures[-1].kind == "unreachable"):
                    break
                if answer is None and left:
                    self.failures.pop()  # it is asked again
            if answer is not None and (not good or phase not in (None, *good)):
                self.failures.append(Event("failed", host, task, "failed", answer))
            if answer is None or not good or phase not in (None, *good):
                self.play.remove(host)

    def one(self, task: str, host: str, to: str, request: Json) -> Json | None:
        """Ask one host; None where it does not answer, or refuses."""
        try:
            answer = self.controller.message(to, request)
        except SilentError:
            self.failures.append(Event("unreachable", host, task, "Failed to connect to the host via ssh: timed out"))
            return None
        received = {**answer, "received": EPOCH + self.controller.world.now}
        self.answers[host][task] = received
        if not answer["ok"]:
            self.failures.append(Event("failed", host, task, answer["message"], received))
            return None
        return received

    # Requests, as vars/main.yml has them.

    def own(self, host: str, do: str, **facts: Any) -> Json:
        given = self.given
        return {
            "format": 1, "owner": given["fleet_host_run"], "dead": given["fleet_host_dead"],
            "claimed": given.get("fleet_host_claimed", False), "clear": host in given["fleet_host_clear"],
            "restart": given["fleet_host_restart"].get(host, []), "do": do, **facts,
        }  # fmt: skip

    def whole(self, host: str, do: str, **facts: Any) -> Json:
        given, now = self.given, datetime.fromtimestamp(EPOCH + self.controller.world.now, UTC)
        created = given.get("fleet_host_plan_created", f"{now:%Y-%m-%dT%H:%M:%SZ}")
        return self.own(
            host, do, wanted=wanted_of(self.tree, host), skip=[],
            plan={"created": created, "seal": given.get("fleet_host_plan_seal", "-")},
            back_to=given["fleet_host_back_to"].get(host, ""), renamed=False,
            values={"env": {"RPC_URL": f"https://rpc/{SECRET}"}}, **facts,
        )  # fmt: skip

    def beginning(self, host: str) -> Json:
        return self.whole(host, "begin", needs=[])

    def staging(self, host: str) -> Json:
        return self.whole(host, "stage", archive=archive_of(self.tree, host))

    def retiring(self, host: str, one: Json) -> Json:
        wanted = wanted_of(self.tree, host)
        return {
            "format": 1, "do": "retire", "fleet": wanted["fleet"], "host": one["host"], "nodes": one["nodes"],
            "seconds": wanted["seconds"], "lease": self.answer(host, EXPECT)["seconds"],
            "owner": self.given["fleet_host_run"], "dead": self.given["fleet_host_dead"],
            "claimed": self.given.get("fleet_host_claimed", False),
        }  # fmt: skip

    def letting_go(self, host: str) -> Json:
        stays = self.given.get("fleet_host_stays", {})
        return self.own(host, "left", nodes=stays[host]) if host in stays else self.own(host, "end", keep=3)


@cache
def wanted_of(tree: Tree, host: str) -> Json:
    """What the role tells a host of its release."""
    files = tree.as_mapping()
    told = plain(json.loads(files[f"ansible/host_vars/{host}.json"].content))
    shared = plain(json.loads(files["ansible/inventory.json"].content))["all"]["vars"]
    own = {
        key: told.get(f"fleet_host_{key}")
        for key in ("fleet", "owner", "runtime", "seconds", "keep", "live", "services")
    }
    out = told.get("fleet_host_out", [])
    digests = {one["name"]: one["digest"] for one in (*told["fleet_host_services"], *out)}
    rest = {"out": {one["name"]: one["why"] for one in out}, "setters": shared["fleet_host_setters"], "stack": None}
    return {**own, **rest, "host": host, "digest": host_digest(digests)}


def plain(value: Any) -> Any:
    """Variables of Ansible without its marks of texts that are no templates."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return (
            value["__ansible_unsafe"]
            if "__ansible_unsafe" in value
            else {key: plain(item) for key, item in value.items()}
        )
    return value


@cache
def archive_of(tree: Tree, host: str) -> str:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for path, artifact in sorted(tree.as_mapping().items()):
            if is_released(path) and path.startswith(f"hosts/{host}/"):
                member = tarfile.TarInfo(path.split("/", 2)[2])
                member.size = len(artifact.content)
                tar.addfile(member, io.BytesIO(artifact.content))
    return base64.b64encode(packed.getvalue()).decode()


class Place(PurePosixPath):
    """The directory of the journal, on a simulated disk."""

    def mkdir(self, **_: object) -> None:
        pass


class Controller:
    """A machine from which people roll out."""

    def __init__(self, world: World, name: str) -> None:
        self.world, self.name = world, name
        self.disk = Disk(lambda what, path: None, hash)
        self.disk.makedirs("/journal")
        self.runs = self.plays = 0
        self.dead = False
        self.heard: dict[object, int] = {}
        """The last answer of each host to each request, by the runs of Ansible."""
        self.journal_key: int | None = None

    def copy(self) -> Any:
        return self.runs, self.disk.copy()

    def restore(self, copied: Any) -> None:
        self.runs, disk = copied
        self.disk.restore(disk)
        self.dead, self.journal_key = False, None
        self.heard.clear()

    def digest(self) -> object:
        """What its journal says and what it has heard, without times."""
        if self.journal_key is None:
            file = self.disk.at("/journal/aurora.jsonl")
            self.journal_key = hash((file and without_times(file.content, b"-"), frozenset(self.heard.items())))
        return self.journal_key

    def entries(self) -> tuple[Any, ...]:
        file = self.disk.at("/journal/aurora.jsonl")
        return () if file is None else tuple(decode(file.content, "aurora").entries)

    def message(self, host: str, request: Json) -> Json:
        """Hand a request to a host and wait for its answer."""
        self.alive()
        try:
            answer: Json | None = self.world.step(lambda: self.sent(host, request))
        except SilentError:
            answer = None
        self.heard[self.plays, host, request["do"]] = without_times(json.dumps(answer).encode(), b"-")
        self.journal_key = None
        if answer is None:
            raise SilentError
        return answer

    def sent(self, host: str, request: Json) -> Json:
        world, do = self.world, request["do"]
        self.world.sleep(1)
        try:
            world.point(None, f"{self.name} asks {host}: {do}")
            self.alive()
            answer = world.machines[host].ask(request)
            world.point(None, f"{host} answers {self.name}: {do}")
        except LostError:
            raise SilentError from None
        self.alive()
        return answer

    def alive(self) -> None:
        if self.dead:
            raise Died

    def roll_out(
        self, compiled: Any, goal: Goal = DEPLOY, stated: Stated = NOTHING_STATED, limit: tuple[str, ...] = ()
    ) -> Outcome | None:
        """A rollout; None where the controller dies in it."""
        process = Process(None)
        self.dead, self.runs, self.plays, self.journal_key = False, self.runs + 1, 0, None
        self.heard.clear()
        try:
            return self.world.run(process, lambda: self.rolled_out(compiled, goal, stated, limit))  # type: ignore[no-any-return]
        except Died:
            return None
        finally:
            self.dead, self.journal_key = False, None
            self.heard.clear()

    def rolled_out(self, compiled: Any, goal: Goal, stated: Stated, limit: tuple[str, ...]) -> Outcome:
        tree, blueprint = compiled
        owner = {"id": f"{self.name}-{self.runs}", "who": self.name}
        with (
            self.outside(owner),
            journals.opened(cast(Any, Place("/journal")), blueprint.fleet, owner["id"]) as journal,
        ):
            return deploy_tree(tree, blueprint, Settings(), limit, False, lambda event: None, journal, goal, stated)

    @contextmanager
    def outside(self, owner: Json) -> Iterator[None]:
        """What the modules of the rollout see of the outside."""
        world, ansible = self.world, Ansible(self)
        clock = SimpleNamespace(time=lambda: EPOCH + world.now, monotonic=lambda: world.now)

        def wait(seconds: float = 0) -> None:
            world.step(lambda: world.sleep(seconds))

        @contextmanager
        def project(tree: Tree) -> Iterator[Any]:
            yield SimpleNamespace(tree=tree)

        def rollout(*values: Any) -> Any:
            made = _Rollout(*values)
            made.interrupted = cast(Any, SimpleNamespace(is_set=lambda: False, wait=wait, set=lambda: None))
            return made

        def write(journal: journals.Journal, what: str, **facts: Any) -> None:
            self.alive()
            world.step(lambda: world.point(None, f"{self.name} writes: {what}"))
            self.alive()
            _write(journal, what, **facts)
            self.journal_key = None

        given: dict[Any, Json] = {
            rolling: {"run_playbook": ansible.run, "time": clock, "this_run": lambda: owner},
            deploying: {
                "time": clock, "this_run": lambda: owner, "private_project": project, "Rollout": rollout,
                "secret_values": lambda *_: {}, "on_interrupt": lambda *_: None, "restore": lambda _: None,
            },
            journals: {
                "os": os_of(self.disk, bytes, lambda number: None),
                "fcntl": SimpleNamespace(flock=lambda *_: None, LOCK_EX=2, LOCK_NB=4),
                "datetime": SimpleNamespace(now=lambda zone: datetime.fromtimestamp(EPOCH + world.now, zone)),
            },
            journals.Journal: {"write": write, "keep_spec": lambda *_: None},
        }  # fmt: skip
        before = {place: {name: vars(place)[name] for name in names} for place, names in given.items()}
        for place, names in given.items():
            for name, value in names.items():
                setattr(place, name, value)
        try:
            yield
        finally:
            for place, names in before.items():
                for name, value in names.items():
                    setattr(place, name, value)


_Rollout, _write = rolling.Rollout, journals.Journal.write


@cache
def compiled(text: str) -> tuple[Tree, Blueprint]:
    """A spec, compiled once."""
    made = compile_text(text)
    assert made.tree is not None and made.blueprint is not None, text
    return made.tree, made.blueprint
