"""A simulated host: its disk, its systemd, its nodes, and the program of fleetc as processes.

In: requests and words, as Ansible and systemd hand them to the program. Out: answers, and what the host does.

The program is real. What it sees of the outside are the names of `Machine.given`, set in its modules. A process that
waits lets others of the world run to their end; it goes on after that. Faults come from `World.point`.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
import urllib.parse
from collections.abc import Callable
from concurrent.futures import Executor, Future
from copy import copy
from functools import cache
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from tests.explore.disk import Disk, os_of, shutil_of
from tests.host_program.program import loaded

Json = dict[str, Any]
UNITS = "/etc/systemd/system"
WANTS = UNITS + "/multi-user.target.wants"
RESTART_SECONDS = 5
SESSION_SECONDS = 4
BOOTING_SECONDS = 20
EPOCH = 1_780_000_000.0
"""What the wall clock says when the world begins."""


STATE = ("nodes", "units", "waiting", "failing", "kept_up", "state", "is_on", "booted", "boots", "pids", "randoms")
"""What a host is at beside its disk."""


def fresh(value: Any) -> Any:
    """A copy that changes alone."""
    if isinstance(value, dict):
        return {name: fresh(inside) for name, inside in value.items()}
    return value.copy() if isinstance(value, (list, set, Node)) else value


class Died(BaseException):
    """The process that runs now is no more."""


class Blocked(BaseException):
    """A process waits for a lock that another one holds: it begins once that is free."""


class SilentError(Exception):
    """A host does not answer."""


class Process:
    """A process of the program, or the controller."""

    def __init__(self, machine: Machine | None, waits: bool = False) -> None:
        self.machine, self.dead, self.waits, self.until = machine, False, waits, 0.0


class Node:
    """A process of a node: what it was started from, and what it was set to since."""

    def __init__(self, pid: int, began: int, unit: str, environment: bytes, read: tuple[str, ...]) -> None:
        self.pid, self.began, self.unit, self.environment, self.read = pid, began, unit, environment, read
        command = unit.partition("ExecStart=")[2].replace("\\\n", " ").partition("\n")[0]
        self.argv = re.findall(r'"([^"]*)"', command)
        self.settings = dict(word.lstrip("-").partition("=")[::2] for word in self.argv[1:])
        self.busy = 0.0
        """Until when it has sessions, once it shall take no more."""

    def copy(self) -> Node:
        made = copy(self)
        made.settings = dict(self.settings)
        return made

    @property
    def is_ill(self) -> bool:
        return "-maxSessions=13" in self.argv


class World:
    """All machines, their one clock, and what is to happen."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.now = 0.0
        self.stack: list[Process] = []
        self.timers: list[tuple[float, int, Machine, str, tuple[str, ...]]] = []
        self.numbers = itertools.count(1)
        self.point: Callable[[Machine | None, str], None] = lambda machine, what: None
        """Hears of each effect before it happens; may raise, kill and cut."""
        self.watch: Callable[[], None] = lambda: None
        """Hears of each start and stop of a node."""
        self.step: Callable[[Callable[[], Any]], Any] = lambda do: do()
        """Does what the world does between two moves of the controller."""
        self.machines = {name: Machine(self, name) for name in names}

    def copy(self) -> Any:
        """All that is in it now, between two steps."""
        return self.now, self.timers[:], next(self.numbers), [machine.copy() for machine in self.machines.values()]

    def restore(self, copied: Any) -> None:
        self.now, timers, number, machines = copied
        self.timers, self.numbers, self.stack = timers[:], itertools.count(number), []
        for machine, content in zip(self.machines.values(), machines, strict=True):
            machine.restore(content)

    def alive(self) -> None:
        """End the process that runs now if it was killed meanwhile."""
        if self.stack and self.stack[-1].dead:
            raise Died

    def sleep(self, seconds: float) -> None:
        """Let time go by, and everything happen that is due until then."""
        self.alive()
        end = self.now + seconds
        if self.stack:
            self.stack[-1].until = end
        while due := [timer for timer in self.timers if timer[0] <= end]:
            timer = min(due, key=lambda timer: timer[:2])
            self.timers.remove(timer)
            self.now = max(self.now, timer[0])
            timer[2].begin(timer)
        self.now = max(self.now, end)
        if seconds >= 30:
            for machine in self.machines.values():
                machine.disk.settle()
        self.alive()

    def due(self, seconds: float, machine: Machine, unit: str, words: tuple[str, ...]) -> None:
        self.timers.append((self.now + seconds, next(self.numbers), machine, unit, words))

    def settle(self) -> None:
        """Let everything come to its end, and then some time go by."""
        self.quiet()
        self.sleep(3000)
        self.quiet()

    def quiet(self) -> None:
        """Let all timers fire, as long as there are any."""
        for _ in range(400):
            if not self.timers:
                return
            self.sleep(max(0.0, min(timer[0] for timer in self.timers) - self.now) + 1)
        raise AssertionError(f"the world does not get quiet: {self.timers[:3]}")

    def run(self, process: Process, do: Callable[[], Any]) -> Any:
        """What a process does; None where it dies on the way."""
        self.stack.append(process)
        try:
            return do()
        except Died:
            return None
        finally:
            process.dead = True
            self.stack.pop()
            if process.machine:
                process.machine.unlock(process)


class Machine:
    """One host."""

    def __init__(self, world: World, name: str) -> None:
        self.world, self.name = world, name
        self.state, self.is_on, self.booted, self.boots, self.pids = "running", True, -100.0, 1, 1000
        self.disk = Disk(self.effect, lambda content: without_times(content, b"boot-%d" % self.boots))
        self.disk.special = self.proc
        for path in ("/var/lib/livepeer", "/etc/livepeer", WANTS, "/opt", "/run/systemd/system", "/usr/local/bin"):
            self.disk.makedirs(path)
        self.nodes: dict[str, Node] = {}
        self.units: dict[str, str] = {}
        """The units as systemd has read them."""
        self.locks: dict[int, tuple[int, Process]] = {}
        self.waiting: list[tuple[float, int, Machine, str, tuple[str, ...]]] = []
        self.randoms = 0
        self.failing: set[str] = set()
        self.kept_up: set[str] = set()
        """Units that systemd starts again when they are killed."""
        self.program = loaded(cast(Path, ""))
        self.given()

    def effect(self, what: str, path: str) -> None:
        self.world.alive()
        self.world.point(self, f"{what} {path}")

    def copy(self) -> Any:
        return [fresh(vars(self)[name]) for name in STATE], self.disk.copy()

    def restore(self, copied: Any) -> None:
        values, disk = copied
        vars(self).update(zip(STATE, map(fresh, values), strict=True))
        self.locks.clear()
        self.disk.restore(disk)

    def random(self, count: int) -> bytes:
        self.randoms += 1
        return self.randoms.to_bytes(8, "big")[-count:].rjust(count, b"\0")

    def given(self) -> None:
        """Set the outside of the program."""
        world, program = self.world, self.program
        subprocess = SimpleNamespace(
            run=self.command, Popen=self.apart, PIPE=-1, DEVNULL=-3, TimeoutExpired=TimeoutError
        )
        time = SimpleNamespace(
            time=lambda: EPOCH + world.now,
            time_ns=lambda: int((EPOCH + world.now) * 1e9),
            monotonic=lambda: world.now - self.booted,
            sleep=world.sleep,
        )
        for module in program._modules:
            names = vars(module)
            outside = {
                "os": os_of(self.disk, self.random, self.closed),
                "shutil": shutil_of(self.disk),
                "subprocess": subprocess,
                "time": time,
                "fcntl": SimpleNamespace(flock=self.lock, LOCK_EX=2, LOCK_NB=4),
                "pwd": SimpleNamespace(getpwnam=lambda name: SimpleNamespace(pw_uid=0, pw_gid=0)),
                "ThreadPoolExecutor": Pool,
                "exchange": self.exchange,
                "listening_ports": self.listening,
                "listeners": lambda kind: [],
                "need_nothing": lambda request: [],
                "need_program": lambda *_: None,
                "own_modules": lambda: {"all.py": ""},
            }
            names.update((name, value) for name, value in outside.items() if name in names)
            names["open"] = self.disk.opened
        switch = import_module(program["main"].__module__)
        switch.sys = SimpleNamespace(argv=[], executable="python3", exit=sys.exit)  # type: ignore[attr-defined]
        self.argv = switch.sys.argv

    # The program as processes.

    def ask(self, request: Json) -> Json:
        """What the program answers; SilentError where it dies or the host is off."""
        if not self.is_on:
            raise SilentError
        process = Process(self)
        answer = self.world.run(process, lambda: self.program["answer"](json.loads(json.dumps(request))))
        if answer is None:
            raise SilentError
        return json.loads(json.dumps(answer))  # type: ignore[no-any-return]

    def begin(self, timer: tuple[float, int, Machine, str, tuple[str, ...]]) -> None:
        """Start what systemd has to start now."""
        words = timer[4]
        if words[0] == "boot":
            self.boot()
        elif words[0] == "off":
            self.turn_off(False, BOOTING_SECONDS)
        elif words[0] == "room":
            self.disk.full = False
        elif words[0] == "again":
            if words[1] in self.failing:
                self.failing.discard(words[1])
                self.start(words[1])
        elif self.is_on and (self.state == "running" or words[0] == "apart"):
            ended = self.world.run(Process(self, True), lambda: self.main(timer))
            if ended is None and self.is_on and timer[3] in self.kept_up:
                self.world.due(RESTART_SECONDS, self, timer[3], words)

    def main(self, timer: tuple[float, int, Machine, str, tuple[str, ...]]) -> bool:
        """Run the program for a timer; True once it ends, unless it is killed."""
        self.argv[:] = ["fleetc_host.pyz", *(word for word in timer[4] if word != "apart")]
        try:
            self.program["main"]()
        except Blocked:
            self.waiting.append(timer)
        except (Exception, SystemExit):  # what it could not do, it tries again by itself, or nobody does
            return True
        return True

    # The kernel.

    def lock(self, number: int, how: int) -> None:
        """Take a lock. A process of systemd that does not get it begins again once it is free; a request sees it."""
        holder = self.locks.get(0)
        if holder is not None and not holder[1].dead:
            if self.world.stack[-1].waits:
                raise Blocked
            raise BlockingIOError
        self.locks[0] = (number, self.world.stack[-1])

    def closed(self, number: int) -> None:
        if self.locks.get(0, (0, None))[0] == number:
            self.free()

    def unlock(self, process: Process) -> None:
        if self.locks.get(0, (0, None))[1] is process:
            self.free()

    def free(self) -> None:
        del self.locks[0]
        for _, number, _, unit, words in self.waiting:
            self.world.timers.append((self.world.now, number, self, unit, words))
        self.waiting.clear()

    def proc(self, path: str) -> bytes | None:
        if path.endswith("boot_id"):
            return b"boot-%d\n" % self.boots
        pid, name = path.split("/")[2:4]
        node = next((node for node in self.nodes.values() if str(node.pid) == pid), None)
        if node is None:
            return None
        if name == "stat":
            return b"%d (livepeer) S%s %d 0" % (node.pid, b" 0" * 18, node.began)
        if name == "cmdline":
            return "".join(word + "\0" for word in node.argv).encode()
        entries = re.findall(rb'(?m)^([A-Z_a-z0-9]+)="?(.*?)"?$', node.environment)
        return b"".join(name + b"=" + value + b"\0" for name, value in entries)

    def listening(self, pid: int) -> range | list[int]:
        return range(1, 10000) if any(node.pid == pid for node in self.nodes.values()) else []

    def turn_off(self, lose: bool, seconds: float) -> None:
        """Lose the power; it comes back after some seconds."""
        if not self.is_on:
            return
        self.is_on = False
        self.nodes.clear()
        self.units.clear()
        self.locks.clear()
        self.waiting.clear()
        self.failing.clear()
        self.disk.cut(lose)
        self.world.timers = [timer for timer in self.world.timers if timer[2] is not self]
        for process in self.world.stack:
            if process.machine is self:
                process.dead = True
        self.world.due(seconds, self, "", ("boot",))

    def boot(self) -> None:
        self.is_on, self.state = True, "running"
        self.boots += 1
        self.disk.begin_again()
        self.booted = self.world.now - BOOTING_SECONDS
        self.read_units()
        for name in sorted(self.disk.listdir(WANTS)):
            if name.startswith("livepeer-") and self.disk.at(f"{WANTS}/{name}") is not None:
                self.start(name[len("livepeer-") : -len(".service")])
        is_left = self.disk.at("/var/lib/fleetc/switch.json") is not None
        if is_left and self.disk.at(f"{WANTS}/fleetc-host.service") is not None:
            text = self.disk.need(f"{WANTS}/fleetc-host.service").content
            self.kept_up |= {"fleetc-host"} if b"Restart=on-abnormal" in text else set()
            self.world.due(0, self, "fleetc-host", ("resume", "--boot"))

    def shut_down(self) -> None:
        """Begin an orderly shutdown: nodes stop, nothing starts any more, and soon the power is off."""
        self.state = "stopping"
        self.nodes.clear()
        self.world.due(5, self, "", ("off",))

    def disable(self, name: str) -> None:
        """`systemctl disable --now`: the unit is a link, so both of its links go."""
        self.stop(name)
        for path in (f"{WANTS}/livepeer-{name}.service", f"{UNITS}/livepeer-{name}.service"):
            if path in self.disk.names:
                self.disk.put(path, None)
        self.units.pop(name, None)

    def digest(self) -> int:
        """What this host is at. Times that are over, and numbers of processes, do not count."""
        uptime, switch = self.world.now - self.booted, self.disk.at("/var/lib/fleetc/switch.json")
        limits = LIMITS.findall(switch.content) if switch else ()
        until = [max(-STARTING_SECONDS, round(float(limit) - uptime)) for limit in limits]
        nodes = [
            (name, node.unit, node.read, frozenset(node.settings.items()), max(0, round(node.busy - self.world.now)))
            for name, node in self.nodes.items()
        ]
        own = (self.is_on, self.state, self.disk.full, bool(self.locks), tuple(sorted(self.failing)), len(self.waiting))
        return hash(
            (
                self.disk.digest,
                *(place for place, _ in self.disk.undo),
                *until,
                own,
                frozenset(nodes),
                frozenset(self.units.items()),
            )
        )

    # systemd.

    def command(self, words: list[str], **_: Any) -> Any:
        """What a program does that the host program runs."""
        status, said, failed = self.done(words)
        return SimpleNamespace(returncode=status, stdout=said.encode(), stderr=failed.encode())

    def apart(self, words: list[str], **_: Any) -> None:
        """Start a process of its own without systemd."""
        self.effect("start", " ".join(words[2:]))
        self.world.due(0, self, "", ("apart", *words[2:]))

    def done(self, words: list[str]) -> tuple[int, str, str]:
        if words[0] == "sync":
            self.disk.settle()
            return 0, "", ""
        if words[0] == "systemd-run":
            options = dict(word.lstrip("-").partition("=")[::2] for word in words[1:] if word.startswith("--"))
            own = words[words.index("/opt/fleetc/host/fleetc_host.pyz") + 1 :]
            self.effect("systemd-run", " ".join(own))
            if self.state != "running":
                return 1, "", "Transaction is destructive."
            self.kept_up |= {options["unit"]} if "--property=Restart=on-abnormal" in words else set()
            self.world.due(float(options.get("on-active", 0)), self, options["unit"], tuple(own))
            return 0, "", ""
        if words[0] != "systemctl":
            return 0, "", ""
        do = words[1]
        if do == "is-system-running":
            return int(self.state != "running"), self.state + "\n", ""
        names = [word.removesuffix(".service").removeprefix("livepeer-") for word in words[2:] if "--" not in word]
        if do == "show":
            return 0, "\n".join(self.shown(name) for name in names), ""
        self.effect("systemctl", " ".join(words[1:]))
        if do == "daemon-reload":
            self.read_units()
        elif do == "stop" and words[2].endswith(".timer"):
            unit = words[2].removesuffix(".timer")
            self.world.timers = [timer for timer in self.world.timers if timer[3] != unit or timer[2] is not self]
        elif do == "stop":
            self.stop(names[0])
        elif do == "start":
            if self.state != "running":
                return 1, "", "Transaction is destructive."
            return (0, "", "") if self.start(names[0]) else (1, "", f"Failed to start livepeer-{names[0]}.service.")
        return 0, "", ""

    def shown(self, name: str) -> str:
        node = self.nodes.get(name)
        state = "active" if node else "activating" if name in self.failing else "inactive"
        read = self.units.get(name)
        stale = read is not None and self.text_of(name) not in (None, read)
        return (
            f"Id=livepeer-{name}.service\nActiveState={state}\nMainPID={node.pid if node else 0}\nNRestarts=0\n"
            f"NeedDaemonReload={'yes' if stale else 'no'}\nDropInPaths=\n"
        )

    def text_of(self, name: str) -> str | None:
        file = self.disk.at(f"{UNITS}/livepeer-{name}.service")
        return None if file is None else file.content.decode()

    def read_units(self) -> None:
        """Read all units again; what is gone stays known as long as it runs."""
        names = [
            name[len("livepeer-") : -len(".service")]
            for name in self.disk.listdir(UNITS)
            if name.startswith("livepeer-")
        ]
        fresh = {name: text for name in names if (text := self.text_of(name)) is not None}
        self.units = {**{name: text for name, text in self.units.items() if name in self.nodes}, **fresh}

    def start(self, name: str) -> bool:
        """Start a node from its unit and the files of its environment. systemd tries again where one is gone."""
        if name in self.nodes:
            return True
        text = self.units.get(name) or self.text_of(name)
        if text is None:
            return False
        self.units[name] = text
        places = re.findall(r"(?m)^EnvironmentFile=(\S+)", text)
        files = [self.disk.at(place) for place in places]
        if None in files:
            self.failing.add(name)
            self.world.due(5, self, f"livepeer-{name}", ("again", name))
            return False
        self.failing.discard(name)
        self.pids += 1
        read = tuple(self.disk.place(place) for place in (f"{UNITS}/livepeer-{name}.service", *places))
        began = int((self.world.now - self.booted) * 100)
        self.nodes[name] = Node(self.pids, began, text, b"\n".join(file.content for file in files), read)
        self.world.watch()
        return True

    def stop(self, name: str) -> None:
        self.failing.discard(name)
        self.nodes.pop(name, None)
        self.world.watch()

    # Nodes, over HTTP.

    def exchange(
        self, where: str, method: str, path: str, body: bytes | None, headers: Json, seconds: float
    ) -> tuple[int, bytes]:
        port = int(where.rpartition(":")[2])
        ports = (
            f"-{flag}={address}:{port}" for flag in ("cliAddr", "httpAddr") for address in ("127.0.0.1", "0.0.0.0")
        )
        wanted = set(ports)
        node = next((node for node in self.nodes.values() if not wanted.isdisjoint(node.argv)), None)
        if node is None:
            raise ConnectionRefusedError
        if path == "/healthz":
            return (500 if node.is_ill else 200), b""
        if method == "POST":
            self.effect("set", f"{port}{path}")
            if node not in self.nodes.values():
                raise ConnectionResetError
            form = dict(urllib.parse.parse_qsl((body or b"").decode()))
            flag, parameter = SETTERS[path]
            node.settings[flag] = form[parameter]
            node.busy = self.world.now + SESSION_SECONDS
            return 200, b""
        return 200, said_by(node, path, node.busy > self.world.now)


TIMES = re.compile(rb"[0-9]+\.[0-9]+|[0-9]{4}-[0-9-]{5}T[0-9:]{8}Z")
LIMITS = re.compile(rb'"(?:until|entered)": ([0-9.]+)')
STARTING_SECONDS = 15


@cache
def without_times(content: bytes, boot: bytes) -> int:
    """The content of a file without times, and with this boot told from others."""
    if content.startswith(b'{"at"') and b"what" in content:
        return 0
    return hash(TIMES.sub(b"", content).replace(boot, b"this boot"))


SETTERS = {
    "/setMaxGasPrice": ("maxGasPrice", "amount"),
    "/setBroadcastConfig": ("maxPricePerUnit", "maxPricePerUnit"),
    "/setMaxSessions": ("maxSessions", "maxSessions"),
    "/setMinGasPrice": ("minGasPrice", "minGasPrice"),
    "/setPriceForBroadcaster": ("pricePerUnit", "pricePerUnit"),
    "/setLogLevel": ("v", "loglevel"),
}
"""What a node takes while it runs: the flag of the same setting, and the name of its value."""


def said_by(node: Node, path: str, is_busy: bool) -> bytes:
    """What a node says it has."""
    has = {"v": "3", "minGasPrice": "0", "maxGasPrice": "", **node.settings}
    if path == "/status":
        return json.dumps({"Version": "0.9.1", "BroadcasterPrices": {"default": has.get("pricePerUnit", "")}}).encode()
    if path == "/getBroadcastConfig":
        return json.dumps({"MaxPrice": has.get("maxPricePerUnit")}).encode()
    plain = {"/maxGasPrice": "maxGasPrice", "/minGasPrice": "minGasPrice", "/getLogLevel": "v"}
    return (has[plain[path]] if path in plain else f"livepeer_current_sessions_total {is_busy:d}\n").encode()


class Pool(Executor):
    """An executor that does everything at once, one after the other."""

    def __init__(self, **_: object) -> None:
        pass

    def submit(self, do: Callable[..., Any], /, *values: Any, **names: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(do(*values, **names))
        return future
