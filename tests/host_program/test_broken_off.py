"""Switches that break off, and what the host says of them; `tests/explore` has each moment at which one may.

The program is real, and so are its files; systemd is a stand-in that remembers what each unit was started from.
"""

from __future__ import annotations

import base64
import errno
import io
import itertools
import json
import os
import re
import socket
import sys
import tarfile
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.host_program.program import Program, loaded

NODES = ("gate", "orch")


class Machine:
    """A host, its stand-in for systemd, and its program."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.running: dict[str, bytes] = {}
        self.ill: set[bytes] = set()
        self.reborn()

    def reborn(self) -> None:
        """A process of the program that knows nothing but what lies on the disk."""
        self.program = loaded(self.root)
        self.program["run"] = self.systemd
        self.program |= {"unwell": self.is_ill, "start_apart": lambda *_: None, "make_places": lambda _: None}
        self.program |= {
            "last_words": lambda *_: [],
            "drift_of_process": lambda *_: [],
            "need_programs": lambda _: None,
        }

    def unit(self, node: str) -> bytes:
        """What systemd reads to start a node: everything behind its link."""
        directory = Path(self.program["CURRENT"], node)
        unit = Path(self.program["UNITS"], f"livepeer-{node}.service")
        secrets = Path(self.program["SECRETS"], node, "secrets.env")
        assert unit.read_bytes() == (directory / unit.name).read_bytes()
        return unit.read_bytes() + (directory / "node.env").read_bytes() + secrets.read_bytes()

    def systemd(self, *words: str, **_: Any) -> Any:
        done = self.program["Done"]
        if words[0] == "docker":
            return done(1, "", "Cannot connect to the Docker daemon")
        if words[:2] == ("systemctl", "show"):
            names = [word.removesuffix(".service").removeprefix("livepeer-") for word in words[3:]]
            blocks = []
            for name in names:
                active, pid = ("active", 1000 + NODES.index(name)) if name in self.running else ("inactive", 0)
                blocks.append(f"Id=livepeer-{name}.service\nActiveState={active}\nMainPID={pid}\nNRestarts=0\n")
            return done(0, "\n".join(blocks), "")
        if words[:2] == ("systemctl", "is-system-running"):
            return done(0, "running\n", "")
        for word in words[2:]:
            node = word.removesuffix(".service").removeprefix("livepeer-")
            if words[:2] == ("systemctl", "stop"):
                self.running.pop(node, None)
            elif words[:2] == ("systemctl", "start"):
                self.running[node] = self.unit(node)
        return done(0, "", "")

    def is_ill(self, service: dict[str, Any], _wanted: dict[str, Any], pid: int) -> str:
        name = service["name"]
        return "" if pid and not any(mark in self.running[name] for mark in self.ill) else f"{name} is ill"

    def ask(self, do: str, **more: Any) -> dict[str, Any]:
        answer: dict[str, Any] = self.program["answer"]({"format": 1, "do": do, **more})
        return answer

    def begin(self, release: int) -> dict[str, Any]:
        """Stage a release, and write down a switch to it that nobody has begun."""
        staged = self.ask("stage", **request(release, self.program))
        assert staged["ok"], staged
        switch: dict[str, Any] = self.program["begin_switch"](staged["release"], {"id": staged["switch"]})
        return switch

    def forward(self, release: int) -> str:
        """Bring the host to a release and confirm it; the phase of the switch, "" once it is confirmed."""
        switch = self.begin(release)
        self.program["carry_out"](switch)
        if switch["phase"] == "healthy":
            assert self.ask("confirm", id=switch["id"])["ok"]
            return ""
        return str(switch["phase"])

    def release(self) -> int:
        """The release that the host runs, wholly: processes, links, markers and the record say the same."""
        found = set()
        for node in NODES:
            assert self.running[node] == self.unit(node), "a process of another release than its link"
            found.add(int(self.running[node].partition(b"release ")[2].split()[0]))
            link = self.program["release_at"](f"{self.program['CURRENT']}/{node}")
            assert json.loads(Path(self.program["RECORD"]).read_text())["release"] == link
            directory = f"{self.program['RELEASES']}/{link}/{node}"
            marker = Path(self.program["MARKERS"], node).read_text().split()
            digests = [self.program[name](directory) for name in ("digest_of_files", "secrets_digest")]
            assert marker == [*digests, "systemd"]
        assert len(found) == 1, found
        return found.pop()


def request(number: int, program: Program) -> dict[str, Any]:
    """A request that wants a release of two nodes, whose files and secrets hold its number."""
    files = {
        f"{node}/{name}": f"# {name} of release {number} \n".encode()
        for node in NODES
        for name in (f"livepeer-{node}.service", "node.env")
    }
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for path, content in files.items():
            member = tarfile.TarInfo(path)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))

    def digest(node: str) -> str:
        names = sorted(path for path in files if path.startswith(f"{node}/"))
        lines = [f"{path.partition('/')[2]} 0644 {program['hexdigest'](files[path])}\n" for path in names]
        return str(program["hexdigest"]("".join(sorted(lines)).encode()))

    secret = {"variable": "LP_ETHURL", "kind": "env", "reference": "RPC"}
    services = [
        {"name": node, "digest": digest(node), "data_dir": f"/var/lib/{node}", "secrets": [secret]} for node in NODES
    ]
    whole = program["hexdigest"]("".join(f"{node} {digest(node)}\n" for node in NODES).encode())
    wanted = {
        "fleet": "aurora", "host": "edge", "digest": whole, "owner": "root",
        "runtime": "systemd", "seconds": {"stable": 0, "deadline": 0, "confirm": 60}, "keep": 2,
        "services": services, "stack": None,
    }  # fmt: skip
    archive = base64.b64encode(packed.getvalue()).decode()
    return {"wanted": wanted, "values": {"env": {"RPC": f"https://rpc/{number}"}}, "archive": archive}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A host that runs release 1."""
    made = Machine(tmp_path)
    assert made.forward(1) == ""
    assert made.release() == 1
    return made


def test_boot_finishes_with_the_python_that_the_rollout_had(machine: Machine) -> None:
    unit = Path(machine.program["UNITS"], "fleetc-host.service").read_text()
    assert f"ExecStart={sys.executable} {machine.program['PROGRAM']} resume --boot\n" in unit


def test_releases_that_fail_do_not_use_up_the_way_back(machine: Machine) -> None:
    """The host keeps two releases: those that ran last."""
    program, path = machine.program, Path(machine.program["RECORD"])
    first = state(path)["release"]
    machine.ill |= {b"release 2 ", b"release 3 "}
    assert [machine.forward(release) for release in (2, 3)] == ["reverted", "reverted"]
    assert machine.forward(4) == ""
    assert program["kept_releases"]() == [first, state(path)["release"]] == state(path)["ran"]
    assert machine.forward(5) == ""
    assert len(program["kept_releases"]()) == 2 and first not in program["kept_releases"]()


def state(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    return found


@pytest.mark.parametrize("step", [-1e8, 600.0, 1e8])
def test_clock_that_steps_moves_no_timer(machine: Machine, step: float) -> None:
    """Whenever it is read, the clock of the host has been set by so many seconds; the kernel's seconds go on."""
    offsets, kernel = itertools.count(), [time.monotonic()]

    def clock() -> float:
        return time.time() + step * next(offsets)

    moved = SimpleNamespace(**{**vars(time), "time": clock, "monotonic": lambda: kernel[0]})
    machine.program["time"] = moved
    switch = machine.begin(2)
    machine.program["carry_out"](switch)
    assert switch["phase"] == "healthy"
    kernel[0] += 59
    machine.program["resume"](False)
    assert machine.program["open_switch"]()["phase"] == "healthy" and machine.release() == 2
    assert machine.program["ended"](switch)["seconds"] == 59
    kernel[0] += 2  # confirm is 60
    machine.program["resume"](False)
    assert json.loads(Path(machine.program["SWITCH"]).read_text())["phase"] == "reverted"
    assert machine.release() == 1 and next(offsets) > 5


def healthy(machine: Machine) -> dict[str, Any]:
    """A switch to release 2 that waits for its confirmation."""
    switch = machine.begin(2)
    machine.program["carry_out"](switch)
    assert switch["phase"] == "healthy"
    return switch


def test_what_fails_after_a_confirmation_does_not_undo_its_answer(machine: Machine) -> None:
    def failing(_keep: int) -> None:
        raise PermissionError(1, "Operation not permitted", "/opt/fleetc/releases/x")

    switch = healthy(machine)
    machine.program["prune"] = failing
    assert machine.ask("confirm", id=switch["id"]) == {"format": 1, "ok": True, "changed": True}


def test_next_timer_runs_before_the_one_before_is_stopped(machine: Machine) -> None:
    """Whoever kills the program between the two leaves a host that goes back by itself."""
    done: list[tuple[str, str]] = []
    systemd = machine.program["run"]

    def running(*words: str, **options: Any) -> Any:
        if words[:2] == ("systemctl", "stop") and words[2].endswith(".timer"):
            done.append(("stop", words[2].removesuffix(".timer")))
        return systemd(*words, **options)

    machine.program["run"] = running
    machine.program["start_apart"] = lambda unit, *_: done.append(("start", unit))
    switch = machine.begin(2)
    machine.program["carry_out"](switch)
    first, second = (f"fleetc-revert-{switch['id']}-{number}" for number in (1, 2))
    assert [one for one in done if "revert" in one[1]] == [("start", first), ("start", second), ("stop", first)]


def test_revert_leaves_the_work_to_its_worker_and_makes_no_reason_up(machine: Machine) -> None:
    switch = healthy(machine)

    def worker(*_: Any) -> None:
        threading.Timer(0.5, work).start()

    def work() -> None:
        with machine.program["locked"](60):
            machine.program["back"](machine.program["open_switch"](), [])

    machine.program["start_apart"] = lambda unit, *words: worker() if words[-1] == "carry-out" else None
    answer = machine.ask("revert", id=switch["id"], why="core failed")
    assert (answer["switch"]["phase"], answer["switch"]["reasons"]) == ("reverted", ["core failed"])
    assert machine.release() == 1


def test_host_answers_while_its_switch_goes_on_and_says_what_it_waits_for(machine: Machine) -> None:
    """The same request again goes on waiting for the same switch, also once that has ended."""
    machine.forward(1)
    staged = machine.ask("stage", **request(2, machine.program))
    machine.program["SLICE_SECONDS"] = 0.3
    asked = {"release": staged["release"], "id": staged["switch"]}
    at_first = machine.ask("activate", **asked)["switch"]
    assert (at_first["id"], at_first["phase"]) == (staged["switch"], "armed")
    switch = machine.program["open_switch"]()
    machine.program["healthy"] = lambda *words: words[3](["gate: it is slow"], time.monotonic() - 40, 180) or again()

    def again() -> list[str]:
        said = machine.ask("activate", **asked)["switch"]
        facts = [said[key] for key in ("id", "phase", "waits", "waited", "limit")]
        assert facts == [staged["switch"], "watching", ["gate: it is slow"], 40, 180]
        assert 90 < said["returns"] < 24 * 3600
        return []

    with machine.program["locked"](1):
        machine.program["carry_out"](switch)
    ended = machine.ask("activate", **asked)["switch"]
    assert (ended["id"], ended["phase"]) == (staged["switch"], "healthy")
    assert machine.ask("revert", id=staged["switch"])["switch"]["phase"] == "reverting"
    machine.program["healthy"] = lambda *words: words[3](["gate: it is slow"], time.monotonic(), 180) or back()

    def back() -> list[str]:
        assert machine.ask("revert", id=staged["switch"])["switch"]["waits"] == ["going back: gate: it is slow"]
        return []

    with machine.program["locked"](1):
        machine.program["back"](machine.program["open_switch"](), [])
    for do, more in (("revert", {"id": staged["switch"]}), ("activate", asked)):
        assert machine.ask(do, **more)["switch"]["phase"] == "reverted"
    assert machine.release() == 1


def test_release_that_cannot_run_now_is_not_taken_for_an_ill_one(machine: Machine) -> None:
    """The host tries again until it can go back. After some tries whoever asks for the end is told so at once."""
    switch, program = healthy(machine), machine.program
    why = ["Docker does not answer"]
    program["hindrance"] = lambda *_: why[0]
    machine.ill |= {b"release 1 "}
    for phase in ("reverting", "reverting", "reverting", "stuck"):
        with pytest.raises(program["RefusedError"], match="Docker does not answer"):
            program["back"](program["open_switch"](), [])
        told = program["ended"](program["open_switch"]())["switch"]
        assert told["phase"] == phase
        assert told["waits"] == ["going back: Docker does not answer; the host tries again every 20 s"]
        assert told["returns"] == 20 and not Path(program["QUARANTINE"]).exists()
    begun = time.monotonic()
    assert program["wait_for_end"](switch["id"])["id"] == switch["id"] and time.monotonic() - begun < 1
    asked = request(2, program)
    assert machine.ask("stage", **asked)["code"] == "not-now"
    why[0] = ""
    machine.ill.clear()
    program["resume"](False, switch["id"])
    assert json.loads(Path(program["SWITCH"]).read_text())["phase"] == "reverted" and machine.release() == 1


def test_whoever_clears_a_host_that_cannot_go_back_now_gives_its_way_back_up(machine: Machine) -> None:
    switch, program = healthy(machine), machine.program
    program["hindrance"] = lambda *_: "port 8935 is held by nginx (process 7), which is not a node of fleetc"
    machine.ill |= {b"release 1 "}
    with pytest.raises(program["RefusedError"], match="held by nginx"):
        program["back"](switch, [])
    refused = machine.ask("stage", **request(3, program))
    assert refused["code"] == "not-now" and refused["message"].endswith("end that, or deploy with --clear edge")
    assert machine.ask("stage", clear=True, **request(3, program))["ok"]
    assert program["open_switch"]() is None
    assert machine.forward(3) == "" and machine.release() == 3


def test_what_keeps_a_host_from_running_any_release(machine: Machine) -> None:
    program = machine.program
    hindrance, failed = program["hindrance"], program["RefusedError"]
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        port = stranger.getsockname()[1]
        wanted = {"runtime": "systemd", "services": [{"name": "gate", "health": {"ports": [port]}}]}
        held = rf"port {port} is held by \S+ \(process {os.getpid()}\), which is not a node of fleetc"
        assert re.fullmatch(held, hindrance(wanted, None))
    assert hindrance(wanted, None) == hindrance(wanted, FileNotFoundError(errno.ENOENT, "gone", "/opt/x")) == ""
    full = OSError(errno.EROFS, "Read-only file system", "/opt/x")
    assert hindrance(wanted, full) == "/opt/x: Read-only file system"
    refusal = failed("step-failed", "gate does not stop: Cannot connect to the Docker daemon at unix:///x")
    assert hindrance({"runtime": "docker", "services": []}, refusal) == "Docker does not answer"
    assert hindrance({"runtime": "docker", "services": []}, None) == "Docker does not answer"


def test_unit_that_was_disabled_gets_its_links_back_and_its_node_goes_on(machine: Machine) -> None:
    """Its record says that it runs in a unit, so nobody asks Docker for it."""
    program, units = machine.program, Path(machine.program["UNITS"])
    links = [units / "livepeer-gate.service", units / "multi-user.target.wants/livepeer-gate.service"]
    for path in links:
        path.unlink()
    (process, _) = program["look"]()["processes"]
    words = [f"its unit is disabled: the link {links[0]} is gone"]
    told = {key: process[key] for key in ("runtime", "running", "drift", "unlinked")}
    assert told == {"runtime": "systemd", "running": True, "drift": [], "unlinked": words}
    begun = machine.ask("begin", plan=PLAN, **request(1, program))
    assert [(one["do"], one["node"], one["reason"]) for one in begun["steps"] if one["node"]] == [
        ("ensure", "gate", words[0]),
        ("keep", "orch", ""),
    ]
    assert begun["needed"]
    switch = machine.begin(1)
    program["carry_out"](switch)
    assert (switch["phase"], switch["restarted"]) == ("healthy", [])
    assert all(path.is_symlink() for path in links) and machine.release() == 1


def test_failure_that_nobody_thought_of_takes_the_release_back(machine: Machine) -> None:
    def failing(service: dict[str, Any], _wanted: dict[str, Any], _pid: int) -> str:
        if b"release 2 " in machine.running[service["name"]]:
            raise RecursionError("maximum recursion depth exceeded")
        return ""

    machine.program["unwell"] = failing
    switch = machine.begin(2)
    machine.program["carry_out"](switch)
    assert switch["phase"] == "reverted"
    assert switch["reasons"] == ["RecursionError: maximum recursion depth exceeded"]
    assert machine.release() == 1


PLAN = {"created": "2026-03-01T12:00:00Z", "seal": "-"}


def test_clearing_a_quarantine_is_not_used_up_by_a_rollout_that_is_refused(machine: Machine) -> None:
    machine.ill |= {b"release 2 ", b"release 1 "}
    assert machine.forward(2) == "quarantined"
    machine.ill.clear()

    def refusing(*_: Any) -> None:
        raise machine.program["RefusedError"]("program-missing", "there is no program")

    need_stack = machine.program["need_stack"]
    machine.program["need_stack"] = refusing
    three = request(3, machine.program)
    assert machine.ask("begin", plan=PLAN, clear=True, **three)["code"] == "program-missing"
    machine.program["need_stack"] = need_stack
    refused = machine.ask("begin", plan=PLAN, **three)
    assert refused["code"] == "host-quarantined" and "--clear edge" in refused["message"]
    assert machine.ask("begin", plan=PLAN, clear=True, **three)["needed"]
    staged = machine.ask("stage", **three)
    assert machine.ask("activate", release=staged["release"], id=staged["switch"])["code"] == "host-quarantined"
    machine.program["wait_for_end"] = lambda _: machine.program["open_switch"]()
    assert (
        machine.ask("activate", release=staged["release"], id=staged["switch"], clear=True)["switch"]["phase"]
        == "armed"
    )
    assert not Path(machine.program["QUARANTINE"]).exists()


def test_host_in_quarantine_that_already_runs_what_is_wanted_is_cleared(machine: Machine) -> None:
    Path(machine.program["QUARANTINE"]).write_text('{"why": "it could not go back"}')
    one = request(1, machine.program)
    assert machine.ask("begin", plan=PLAN, clear=True, check=True, **one)["needed"] is False
    assert Path(machine.program["QUARANTINE"]).exists(), "a dry run changes nothing"
    assert machine.ask("begin", plan=PLAN, clear=True, **one)["needed"] is False
    assert not Path(machine.program["QUARANTINE"]).exists()


def test_fewer_releases_stay_once_the_spec_says_so(machine: Machine) -> None:
    """Also where nothing else is to be done; a dry run removes none."""
    for number in (2, 3):
        machine.forward(number)
        assert machine.release() == number
    asked = request(3, machine.program)
    asked["wanted"]["keep"] = 1
    kept = machine.program["kept_releases"]()
    assert len(kept) > 1
    assert machine.ask("begin", plan=PLAN, check=True, **asked)["needed"] is False
    assert machine.program["kept_releases"]() == kept
    assert machine.ask("begin", plan=PLAN, **asked)["needed"] is False
    assert len(machine.program["kept_releases"]()) == 1


def test_failure_that_nobody_thought_of_is_an_answer_without_secrets(machine: Machine) -> None:
    def failing(_request: dict[str, Any]) -> None:
        raise KeyError("https://rpc/key of s3cr3t")

    machine.program["need_own_release"] = lambda *_: failing({})
    answer = machine.ask("begin", plan=PLAN, **{**request(2, machine.program), "values": {"env": {"RPC": "s3cr3t"}}})
    assert answer == {
        "format": 1, "ok": False, "changed": False, "code": "host-failed",
        "message": "KeyError: 'https://*** of ***'",
    }  # fmt: skip


@pytest.mark.parametrize("content", ["", "{", "[]"])
@pytest.mark.parametrize(
    ("name", "cure"), [("RECORD", 'write {"release": "NAME"} there'), ("SWITCH", "then remove it, and deploy again")]
)
def test_damaged_state_is_refused_and_not_taken_for_none(machine: Machine, name: str, cure: str, content: str) -> None:
    """A host that seems to have run nothing would go back to nothing."""
    Path(machine.program[name]).write_text(content)
    for do in ("observe", "begin", "stage"):
        refused = machine.ask(do, plan=PLAN, **request(2, machine.program))
        assert refused["code"] == "state-damaged", do
        assert machine.program[name] in refused["message"] and cure in refused["message"]
    assert sorted(machine.running) == ["gate", "orch"]
