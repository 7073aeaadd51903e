"""Starts the process that runs rules, and finds out how a rule ended it.

In: rules, views, the day. Out: a `TaskAnswer` for each rule, in their order. The process has no environment, no file
descriptors but pipes, and the root as its directory; `worker.py` gives up the rest.

What a rule does is bounded by steps, so that the same rule ends in the same way everywhere. Time is only a last resort.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from fleetc.policy.views import FIELDS, NUMBERS, TABLES

STEPS, MEMORY_MIB, DEPTH = 100_000_000, 256, 100
"""What one function of a rule may take: steps, memory besides the views, and calls within calls."""
_MEMORY_TIMES = 10  # a rule about more takes more
_SECONDS, _ALL_SECONDS, _TRACE_SECONDS = 10, 60, 5
_ANSWER_BYTES = 64 * 1024 * 1024


class Task(NamedTuple):
    """A function of a rule to run: the file's name for messages, its text, and which views it gets."""

    file: str
    text: str
    function: str
    sides: tuple[int, ...]


class Fault(NamedTuple):
    """Why a rule gave no findings: `kind` is one of those in `policy/judging.py`; line and column from 1,
    0 is not known, and line -1 the end."""

    kind: str
    message: str
    line: int = 0
    column: int = 0


class TaskAnswer(NamedTuple):
    """What came of a task."""

    findings: tuple[Mapping[str, Any], ...] = ()
    fault: Fault | None = None


class NoInterpreterError(Exception):
    """The package that runs rules is not installed."""


@dataclass
class _Run:
    """What is known of some tasks so far."""

    tasks: Sequence[Task]
    views: Sequence[bytes]
    today: str
    until: float
    answers: dict[int, TaskAnswer] = field(default_factory=dict)


def run(tasks: Sequence[Task], views: Sequence[str], today: str) -> list[TaskAnswer]:
    """Run some tasks on the views. Raises `NoInterpreterError`."""
    if find_spec("starlark") is None:
        raise NoInterpreterError
    state = _Run(tasks, [view.encode() for view in views], today, monotonic() + _ALL_SECONDS)
    left = list(range(len(tasks)))
    while left:
        if monotonic() >= state.until:
            state.answers.update((key, TaskAnswer(fault=Fault("late", ""))) for key in left)
            break
        guilty, kind = _start(state, left)
        if guilty is not None:
            state.answers[guilty] = TaskAnswer(fault=Fault(kind, "", _line_of(state, guilty)))
        elif not set(left) <= state.answers.keys():
            state.answers.update((key, TaskAnswer(fault=Fault("crashed", ""))) for key in left)
        left = [key for key in left if key not in state.answers]
    return [state.answers[key] for key in range(len(tasks))]


def _start(state: _Run, keys: Sequence[int]) -> tuple[int | None, str]:
    """Run these tasks in a process; the task that ended it before its time, and what for."""
    job = _job(state, keys, _SECONDS, None)
    output, status, late = _process(job, state.views, max(0.1, state.until - monotonic()))
    begun = None
    for line in output[:_ANSWER_BYTES].splitlines():
        try:
            message = json.loads(line)
        except ValueError:
            break  # cut off
        if "begin" in message:
            begun = int(message["begin"])
        elif "end" in message:
            begun = None
            state.answers[int(message["end"])] = _answer(message)
    if begun is None or begun not in keys:
        return None, ""
    return begun, "time" if late or status in (-signal.SIGXCPU, -signal.SIGKILL) else _DEATHS.get(status, "crashed")


_DEATHS = {-signal.SIGABRT: "memory", -signal.SIGSEGV: "depth", -signal.SIGBUS: "depth"}
"""Rust aborts when it gets no memory; deep recursion inside of the interpreter runs off the stack."""


def _answer(message: Mapping[str, Any]) -> TaskAnswer:
    if "fault" in message:
        return TaskAnswer(fault=Fault(message["fault"], message["message"], message["line"], message["column"]))
    return TaskAnswer(tuple(message["findings"]))


def _line_of(state: _Run, key: int) -> int:
    """The line at which a task kills the process: a second run notes each line in shared memory."""
    shared = os.memfd_create("fleetc-trace")
    try:
        os.ftruncate(shared, os.sysconf("SC_PAGESIZE"))
        job = _job(state, [key], _TRACE_SECONDS, shared)
        _process(job, state.views, _TRACE_SECONDS * 2, shared)
        return int.from_bytes(os.pread(shared, 4, 0), "little")
    finally:
        os.close(shared)


def _job(state: _Run, keys: Sequence[int], seconds: int, trace: int | None) -> bytes:
    rules = [{"key": key, **state.tasks[key]._asdict()} for key in keys]
    job = {
        "rules": rules,
        "sizes": list(map(len, state.views)),
        "today": state.today,
        "limits": {
            "steps": STEPS,
            "memory": MEMORY_MIB * 2**20 + _MEMORY_TIMES * sum(map(len, state.views)),
            "depth": DEPTH,
            "seconds": seconds,
        },
        "fields": {name: list(keys) for name, keys in FIELDS.items()},
        "numbers": {name: list(keys) for name, keys in NUMBERS.items()},
        "tables": len(TABLES),
        "trace": trace,
    }
    return json.dumps(job).encode() + b"\n"


def _process(job: bytes, views: Sequence[bytes], seconds: float, *shared: int) -> tuple[bytes, int, bool]:
    """What the process said, how it ended, and whether it was too late."""
    spec = find_spec("starlark")
    packages = Path(spec.origin).parent.parent if spec is not None and spec.origin else Path()
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-X", "utf8", str(Path(__file__).with_name("worker.py")), str(packages)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={},
        cwd="/",
        pass_fds=shared,
    )
    try:
        output, _ = process.communicate(b"".join((job, *views)), timeout=seconds)
        return output, process.returncode, False
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
        return output, process.returncode, True
    except BaseException:
        process.kill()
        process.wait()
        raise
