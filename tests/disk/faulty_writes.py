"""A real write of a tree in a process of its own, whose system calls strace makes fail or answers with death.

In: strace's arguments, a target and a tree. Out: how the write ended, what it said, and the trace. One Python that has
fleetc in memory forks a child for each write; strace holds the child before its write begins, and misses no call of it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from fleetc.emit.tree import Tree

_WRITER = """
import json, os, select, sys
from pathlib import Path
from fleetc.disk.files import FilesError, write_tree
from fleetc.emit.tree import Artifact, tree_of

def write(target, tree):
    os.access("/mark-begin", os.F_OK)
    try:
        write_tree(tree, Path(target))
    except FilesError as error:
        print(json.dumps([error.code, error.message, error.path, error.exit_code]))
        return error.exit_code
    finally:
        os.access("/mark-end", os.F_OK)
    return 0

def child(order, go):
    for number, name in enumerate(("stdout", "stderr"), 1):
        os.dup2(os.open(order[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    tree = tree_of(Artifact(path, content.encode()) for path, content in order["files"].items())
    code = 70
    try:
        os.write(answers, b"%d\\n" % os.getpid())
        select.select([go], [], [])  # until strace is there; a write makes no such call, so that none is counted twice
        code = write(order["target"], tree)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)

answers = os.dup(1)
for line in sys.stdin:
    go, start = os.pipe()
    pid = os.fork()
    if pid == 0:
        child(json.loads(line), go)
    sys.stdin.readline()
    os.write(start, b"x")
    status = os.waitpid(pid, 0)[1]
    os.write(answers, b"%d\\n" % os.waitstatus_to_exitcode(status))
    os.close(go)
    os.close(start)
"""


class Ended(NamedTuple):
    """How a write ended: the exit code, or the number of a signal below zero; and what it printed."""

    returncode: int
    stdout: str
    stderr: str


class Writer:
    """The Python that forks; `close` ends it."""

    def __init__(self, directory: Path) -> None:
        self._said = {name: directory / name for name in ("stdout", "stderr")}
        environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
        self._process = subprocess.Popen(
            [sys.executable, "-IB", "-c", _WRITER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def close(self) -> None:
        """End it: nothing more is asked."""
        self._process.communicate(timeout=60)

    def traced(self, arguments: Sequence[str], target: Path, tree: Tree, trace: Path) -> Ended:
        """Write a tree under strace with these arguments; the calls are then in the file `trace`."""
        files = {a.path: a.content.decode() for a in tree.artifacts}
        said = {name: str(path) for name, path in self._said.items()}
        pid = self._ask(json.dumps({"target": str(target), "files": files, **said}))
        strace = subprocess.Popen(
            ["strace", "-f", "-o", str(trace), *arguments, "-p", str(pid)], stderr=subprocess.PIPE, text=True
        )
        assert strace.stderr is not None
        attached = strace.stderr.readline()
        code = self._ask("go")
        _, more = strace.communicate(timeout=60)
        assert attached.endswith(" attached\n"), attached + more
        return Ended(code, *(self._said[name].read_text() for name in ("stdout", "stderr")))

    def _ask(self, line: str) -> int:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())
