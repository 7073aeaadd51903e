"""The program of the process that runs rules: reads its job, gives up what it could do harm with, runs rule by rule.

In: on standard input a line of JSON, then the views of each side; a memory file for traces. Out: a line of JSON when a
rule begins and one when it ends. It is started by path, with nothing of fleetc loaded, so it imports nothing of it.

It stops a rule after so many steps or with too much memory. The kernel bounds a single step: then the process dies, and
`run.py` names the rule. After the first line of a rule this process can open nothing any more: no file, no directory,
no socket.
"""

from __future__ import annotations

import json
import mmap
import os
import re
import resource
import sys
from collections.abc import Callable, Iterator
from datetime import date
from importlib import import_module
from typing import Any

sys.path.append(sys.argv[1])  # where the interpreter is; nothing else of it is wanted

import starlark as sl

_OWN = ("finding", "compare", "scaled", "price", "wei", "today")
"""What rules can use besides the language itself."""
_STEPS_A_TICK = 1000  # so often the interpreter asks whether to go on
_PAGE = resource.getpagesize()
_MOST_FINDINGS = 1000
_LONGEST = 2000
_FRAME = r"^  \* {}:([0-9]+), in"
_PLACE = r"^ *--> {}:([0-9]+):([0-9]+)$"


def main() -> None:
    """Run the job."""
    job = json.loads(sys.stdin.buffer.readline())
    texts = [sys.stdin.buffer.read(size).decode() for size in job["sizes"]]
    trace = mmap.mmap(job["trace"], _PAGE) if job["trace"] is not None else None
    memory = os.open("/proc/self/statm", os.O_RDONLY)
    prelude = _prelude(job, texts)
    if trace is not None:
        import_module("ast")  # which `_traced` needs, and cannot open any more
    _give_up(job["limits"], memory)
    for rule in job["rules"]:
        _say({"begin": rule["key"]})
        _allow_time(job["limits"]["seconds"])
        _say({"end": rule["key"], **_run(rule, job["limits"], prelude, memory, trace)})


def _say(answer: dict[str, Any]) -> None:
    os.write(1, json.dumps(answer).encode() + b"\n")


# --- bounds ---------------------------------------------------------------------------------------


def _give_up(limits: dict[str, int], memory: int) -> None:
    """No files, sockets or processes, and at most so much more memory."""
    _limit(resource.RLIMIT_AS, int(os.pread(memory, 100, 0).split()[0]) * _PAGE + limits["memory"] * 2)
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_NPROC, 0)
    _limit(resource.RLIMIT_NOFILE, 0)


def _limit(kind: int, most: int) -> None:
    now = resource.getrlimit(kind)[1]
    most = most if now == resource.RLIM_INFINITY else min(most, now)
    resource.setrlimit(kind, (most, most))


def _allow_time(seconds: int) -> None:
    """The kernel kills this process after so many more seconds of processor time."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + seconds, hard))


class _Meter:
    """Stops a rule, and keeps the reason."""

    def __init__(self, limits: dict[str, int], memory: int) -> None:
        self._left = limits["steps"] // _STEPS_A_TICK
        self._memory = memory
        self._most = self._resident() + limits["memory"] // _PAGE
        self.reason = ""

    def _resident(self) -> int:
        return int(os.pread(self._memory, 100, 0).split()[1])

    def __call__(self) -> bool:
        self._left -= 1
        if self._left < 0:
            self.reason = "steps"
        elif self._left % 16 == 0 and self._resident() > self._most:
            self.reason = "memory"
        return bool(self.reason)


# --- what rules get -------------------------------------------------------------------------------


def _dialect(load: bool) -> sl.Dialect:
    dialect = sl.Dialect.standard()
    dialect.enable_f_strings = True
    dialect.enable_lambda = True
    dialect.enable_keyword_only_arguments = True
    dialect.enable_load = load
    return dialect


_OURS = sl.Globals.extended_by(
    [sl.LibraryExtension.Json, sl.LibraryExtension.StructType, sl.LibraryExtension.CallStack]
)
_THEIRS = sl.Globals.extended_by([sl.LibraryExtension.StructType])


def _prelude(job: dict[str, Any], texts: list[str]) -> sl.FileLoader:
    """The module with the views and with what rules use; frozen, so that no rule changes what the next one sees."""
    module = sl.Module()
    module["_DAY"], module["_TABLES"], module["_NUMBERS"] = _day(job["today"]), job["tables"], job["numbers"]
    with open(os.path.join(os.path.dirname(__file__), "prelude.star"), encoding="utf-8") as file:  # noqa: PTH118, PTH120, PTH123
        code = file.read()  # pathlib takes as long to load as all of this
    sl.eval(module, sl.parse("fleetc", "\n".join((code, *_makers(job["fields"]))), _dialect(True)), _OURS)
    for number, text in enumerate(texts):
        module["_text"] = text
        sl.eval(module, sl.parse("fleetc", f"side_{number} = _fleet(_text)\n_text = None", _dialect(True)), _OURS)
    frozen = module.freeze()
    return sl.FileLoader(lambda name: frozen)


def _makers(fields: dict[str, list[str]]) -> Iterator[str]:
    """Code that makes structs of the columns of each list."""
    for name, keys in fields.items():
        pairs, names = ", ".join(f"{key} = {key}_" for key in keys), ", ".join(f"{key}_" for key in keys)
        columns = ", ".join(f'columns["{key}"]' for key in keys)
        yield f"def _make_{name}(columns):\n    return [struct({pairs}) for {names} in zip({columns})]\n"
    yield "_MAKERS = {" + ", ".join(f'"{name}": _make_{name}' for name in fields) + "}"
    yield "today = struct(**_DAY)"


def _day(text: str) -> dict[str, Any]:
    day = date.fromisoformat(text)
    weekdays = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
    return {
        "text": text,
        "year": day.year,
        "month": day.month,
        "day": day.day,
        "weekday": weekdays[day.weekday()],
        "number": day.toordinal(),
    }


# --- one rule -------------------------------------------------------------------------------------


def _run(
    rule: dict[str, Any], limits: dict[str, int], prelude: sl.FileLoader, memory: int, trace: mmap.mmap | None
) -> dict[str, Any]:
    """The findings of one function of a rule, or its fault."""
    meter = _Meter(limits, memory)
    options = sl.EvalOptions(check_cancelled=meter, max_callstack_size=limits["depth"])
    file, text = rule["file"], rule["text"]
    try:
        module = sl.Module()
        sl.eval(
            module, sl.parse("fleetc", f"load('fleetc', {', '.join(map(repr, _OWN))})", _dialect(True)), _OURS, prelude
        )
        if trace is not None:
            module.add_callable("_trace", _tracer(trace))
            text = _traced(text)
        sl.eval_with(options, module, sl.parse(file, text, _dialect(False)), _THEIRS)
        sides = [f"side_{number}" for number in rule["sides"]]
        call = f"load('fleetc', {', '.join(map(repr, sides))})\n{rule['function']}({', '.join(sides)})\n"
        value = sl.eval_with(options, module, sl.parse("call", call, _dialect(True)), _THEIRS, prelude).value
        return _answer(value, file)
    except MemoryError:
        return _fault("memory", "", file)
    except (sl.StarlarkError, ValueError, TypeError, RecursionError) as failure:
        kind = meter.reason or ("depth" if "call stack overflow" in str(failure) else "failed")
        return _fault(kind, str(failure), file)
    except BaseException as failure:  # a panic of the interpreter, which is none of Exception
        return _fault("memory" if "capacity" in str(failure) else "crashed", str(failure), file)


def _answer(value: Any, file: str) -> dict[str, Any]:
    if not isinstance(value, list):
        return _fault("answer", type(value).__name__, file)
    findings = []
    for item in value[: _MOST_FINDINGS + 1]:
        if not isinstance(item, dict) or set(item) != {"at", "message", "help", "severity", "line"}:
            return _fault("answer", "", file)
        frames = re.findall(_FRAME.format(re.escape(file)), str(item["line"]), re.MULTILINE)
        findings.append({key: _short(item[key]) for key in item} | {"line": int(frames[-1]) if frames else 0})
    if len(value) > _MOST_FINDINGS:
        last = findings[-1]
        last["message"] = f"{last['message']} (and {len(value) - _MOST_FINDINGS - 1} more like this)"
    return {"findings": findings}


def _short(value: Any) -> Any:
    """A value of a finding, within bounds; the other side validates it."""
    if isinstance(value, str):
        return value[:_LONGEST]
    if isinstance(value, list):
        return [_short(part) if isinstance(part, str) else part for part in value[:50] if isinstance(part, str | int)]
    return None


def _fault(kind: str, text: str, file: str) -> dict[str, Any]:
    """Why a rule failed, and its line: where it went wrong, or where it called what went wrong."""
    own = re.escape(file)
    place = re.search(_PLACE.format(own), text, re.MULTILINE)
    frames = re.findall(_FRAME.format(own), text, re.MULTILINE)
    words = re.search(r"^error: (.*)$", text, re.MULTILINE)
    line, column = (int(place[1]), int(place[2])) if place else (int(frames[-1]) if frames else 0, 0)
    if place and re.search(r"^ *[0-9]+ \|", text, re.MULTILINE) is None:
        line = -1  # behind the last line, which the interpreter calls the first
    message = (
        (words[1] if words else text)
        .removeprefix("fail: ")
        .removeprefix("Parse error: ")
        .partition(", expected one of ")[0]
    )
    return {"fault": kind, "message": message[:_LONGEST], "line": line, "column": column}


# --- traces: where a rule was when the process died -------------------------------------------------


def _tracer(trace: mmap.mmap) -> Callable[[int], None]:
    def note(line: int) -> None:
        trace[:4] = line.to_bytes(4, "little")

    return note


def _traced(text: str) -> str:
    """The text with a call before each statement on its own lines; unchanged if Python would read it differently."""
    import ast

    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    lines = text.split("\n")
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    inside = [each for function in functions for each in ast.walk(function) if isinstance(each, ast.stmt)]
    starts: dict[int, int] = {}
    for node in inside:
        starts[node.lineno] = min(node.col_offset, starts.get(node.lineno, node.col_offset))
    for number, column in sorted(starts.items(), reverse=True):
        before = lines[number - 1][:column]
        if not before.strip() and not re.match(r"def\b|elif\b", lines[number - 1][column:]):
            lines.insert(number - 1, f"{before}_trace({number})")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
