"""A write that dies or whose system calls fail: strace kills the real program at a call, or makes the call fail.

strace counts calls by name from where it comes in, so a clean run's trace gives the points: the n-th call of a name,
between two marks that the program sets. Needs strace and the right to trace; skips loudly without.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from fleetc.disk.files import FilesError, read_tree, stale, write_tree
from fleetc.emit.tree import Tree
from tests.disk.faulty_writes import Writer
from tests.disk.test_files import contents, fleet_tree, names, snapshot, wanted_contents

pytestmark = pytest.mark.usefixtures("processes")

OLD = fleet_tree({"FLEET.md": "same\n", "hosts/a/x": "same\n", "hosts/a/y": "old\n", "gone/z": "old\n"})
NEW = fleet_tree({"FLEET.md": "same\n", "hosts/a/x": "same\n", "hosts/a/y": "new\n", "hosts/b/n": "new\n"})
NOTE = "hosts/note"  # somebody else's file

MARKS = "?access,?faccessat,?faccessat2"
NO_EXCHANGE = ("-e", "inject=renameat2:error=EXDEV:when=1")

# Calls that change something on disk; of the others some are sampled.
CHANGING = re.compile(r"\w*(mkdir|link|rename|write|chmod|sync|flock)\w*\(|openat\(.*O_CREAT")

MEMORY = ("brk", "mmap", "munmap", "mremap", "madvise", "futex")  # their number varies with the address layout


class Point(NamedTuple):
    """The `number`-th call named `name` since strace came, and whether it changes something."""

    name: str
    number: int
    changes: bool


@pytest.fixture(scope="module")
def writer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Writer]:
    """What writes; skip where strace is missing or may not trace."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed, so no crash was tried")
    command = ["strace", "-f", "-e", "inject=chdir:error=EIO", "-o", "/dev/null", "true"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"strace cannot trace here, so no crash was tried: {done.stderr.strip()}")
    made = Writer(tmp_path_factory.mktemp("writer"))
    yield made
    made.close()


def prepared(directory: Path, fresh: bool = False) -> Path:
    """A target with the old tree and somebody else's file, or one that is not there yet."""
    target = directory / "out"
    if not fresh:
        write_tree(OLD, target)
        (target / NOTE).write_text("theirs\n")
    return target


def points(writer: Writer, directory: Path, extra: tuple[str, ...] = (), fresh: bool = False) -> list[Point]:
    """Every system call of a clean write: its name, and its number among the calls of that name."""
    directory.mkdir()
    target = prepared(directory, fresh)
    trace = directory / "trace"
    done = writer.traced([*extra], target, NEW, trace)
    assert done.returncode == 0, done.stderr
    assert contents(target) == {**wanted_contents(NEW), **({} if fresh else {NOTE: b"theirs\n"})}
    count: Counter[str] = Counter()
    found = []
    inside = False
    for line in trace.read_text().splitlines():
        match = re.match(r"\d+\s+(\w+)\(", line)
        if match is None:
            continue
        count[match[1]] += 1
        if "/mark-" in line:
            inside = "/mark-begin" in line
        elif inside and match[1] not in MEMORY:
            call = line.partition(" ")[2].strip()
            found.append(Point(match[1], count[match[1]], CHANGING.match(call) is not None))
    assert len(found) > 50
    return found


def sampled(every: list[Point], looking: int) -> list[Point]:
    """All calls that change something, and each `looking`-th of the others."""
    rest = [point for point in every if not point.changes]
    return [point for point in every if point.changes] + rest[::looking]


def inject(name: str, number: int, what: str) -> list[str]:
    """strace's arguments for one fault."""
    return ["-e", f"trace={name},{MARKS}", "-e", f"inject={name}:{what}:when={number}"]


def whole(target: Path) -> str:
    """Which of the two trees a target is, whole and with somebody else's file; all else fails the test."""
    here = contents(target) if target.exists() else {}
    kept = here.pop(NOTE, None)
    if not here:
        return "nothing"
    assert here in (wanted_contents(OLD), wanted_contents(NEW))
    assert kept in (b"theirs\n", None)
    return ("old" if here == wanted_contents(OLD) else "new") + ("" if kept else " without the note")


def fixed(target: Path, tree: Tree) -> None:
    """The next run succeeds and leaves nothing behind."""
    write_tree(tree, target)
    assert {path: content for path, content in contents(target).items() if path != NOTE} == wanted_contents(tree)
    assert [name for name in names(target.parent) if name.startswith(".")] == []


def kill_everywhere(writer: Writer, directory: Path, chosen: list[Point], fresh: bool) -> Counter[str]:
    """Kill the writer at each point, look at the target, and run again: now the new tree, now the old one."""
    seen: Counter[str] = Counter()
    for turn, (name, number, _) in enumerate(chosen):
        place = directory / f"{turn}"
        place.mkdir()
        target = prepared(place, fresh)
        done = writer.traced(inject(name, number, "signal=KILL"), target, NEW, directory / "trace")
        assert done.returncode == -9, (name, number, done.stderr)
        assert "/mark-begin" in (directory / "trace").read_text(), (name, number)
        seen[whole(target)] += 1
        fixed(target, (NEW, OLD)[turn % 2])
        assert fresh or (target / NOTE).read_text() == "theirs\n"
    return seen


@pytest.mark.parametrize("looking", [40, pytest.param(1, marks=pytest.mark.slow)])
def test_killed_write_leaves_the_old_or_the_new_tree(writer: Writer, tmp_path: Path, looking: int) -> None:
    chosen = sampled(points(writer, tmp_path / "clean"), looking)
    seen = kill_everywhere(writer, tmp_path, chosen, fresh=False)
    assert set(seen) == {"old", "new"}


def test_killed_first_write_leaves_nothing_or_the_tree(writer: Writer, tmp_path: Path) -> None:
    chosen = sampled(points(writer, tmp_path / "clean", fresh=True), 20)
    seen = kill_everywhere(writer, tmp_path, chosen, fresh=True)
    assert set(seen) == {"nothing", "new without the note"}


@pytest.mark.parametrize("looking", [40, pytest.param(1, marks=pytest.mark.slow)])
def test_killed_write_without_exchange_is_noticed_and_mended(writer: Writer, tmp_path: Path, looking: int) -> None:
    every = points(writer, tmp_path / "clean", NO_EXCHANGE)
    noticed = 0
    for turn, (name, number, _) in enumerate(p for p in sampled(every, looking) if p[0] != "renameat2"):
        place = tmp_path / f"{turn}"
        place.mkdir()
        target = prepared(place)
        trace = f"trace={name},renameat2,{MARKS}"
        arguments = [*NO_EXCHANGE, *inject(name, number, "signal=KILL"), "-e", trace]
        done = writer.traced(arguments, target, NEW, tmp_path / "trace")
        assert done.returncode == -9, (name, number, done.stderr)
        assert (target / NOTE).read_text() == "theirs\n"
        if ".fleetc-out.apply" in names(place):
            noticed += 1
            with pytest.raises(FilesError) as caught:
                read_tree(target)
            assert caught.value.code == "tree-interrupted"
        else:
            assert whole(target) in ("old", "new")
        fixed(target, (NEW, OLD)[turn % 2])
        assert (target / NOTE).read_text() == "theirs\n"
    assert noticed > 3


FAULTS = [
    (
        "ENOSPC",
        ("mkdirat", "openat", "linkat", "write", "syncfs", "fsync", "renameat2", "renameat", "rename"),
    ),
    ("EIO", ("openat", "read", "write", "fchmod", "getdents64", "syncfs", "fsync", "renameat2", "unlinkat")),
    ("EACCES", ("openat", "mkdirat", "renameat2")),
    ("EDQUOT", ("write", "mkdirat")),
]


@pytest.mark.parametrize(("fault", "calls"), FAULTS, ids=[fault for fault, _ in FAULTS])
@pytest.mark.parametrize("looking", [6, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("fresh", [False, True], ids=["change", "first"])
def test_failing_call_is_named_and_leaves_the_old_tree(
    writer: Writer, tmp_path: Path, fault: str, calls: tuple[str, ...], fresh: bool, looking: int
) -> None:
    every = [p for p in points(writer, tmp_path / "clean", fresh=fresh) if p.name in calls]
    failed = 0
    for turn, (name, number, _) in enumerate(sampled(every, looking)):
        place = tmp_path / f"{turn}"
        place.mkdir()
        target = prepared(place, fresh)
        before = snapshot(place)
        done = writer.traced(inject(name, number, f"error={fault}"), target, NEW, tmp_path / "trace")
        where = (name, number, done.stdout, done.stderr)
        assert "INJECTED" in (tmp_path / "trace").read_text(), where
        assert "Traceback" not in done.stderr, where
        if done.returncode == 0:  # a call that a write can do without, such as reading /proc
            assert whole(target).startswith("new"), where
        else:
            failed += 1
            code, message, path, exit_code = json.loads(done.stdout)
            assert done.returncode == exit_code == 3, where
            assert str(target) in message and message.endswith(os.strerror(getattr(errno, fault))), where
            assert path.startswith(str(target)) and code, where
            if name != "unlinkat" and whole(target) != "new":
                assert snapshot(place) == before, where
        fixed(target, NEW)
    assert failed > 0


def test_failing_sync_is_never_a_success(writer: Writer, tmp_path: Path) -> None:
    for turn, (name, number, _) in enumerate(p for p in points(writer, tmp_path / "clean") if "sync" in p[0]):
        place = tmp_path / f"{turn}"
        place.mkdir()
        target = prepared(place)
        before = snapshot(place)
        done = writer.traced(inject(name, number, "error=EIO"), target, NEW, tmp_path / "trace")
        assert done.returncode == 3
        assert json.loads(done.stdout)[0] == "device-failed"
        assert snapshot(place) == before
    assert turn == 1


def test_hand_made_change_to_a_half_applied_tree_is_still_noticed(writer: Writer, tmp_path: Path) -> None:
    target = prepared(tmp_path)
    every = points(writer, tmp_path / "clean", NO_EXCHANGE)
    name, number, _ = [p for p in every if p[0].startswith("rename") and p[0] != "renameat2"][1]
    arguments = [*NO_EXCHANGE, *inject(name, number, "signal=KILL"), "-e", f"trace={name},renameat2,{MARKS}"]
    writer.traced(arguments, target, NEW, tmp_path / "trace")
    assert ".fleetc-out.apply" in names(tmp_path)
    assert stale(NEW, target) != ()
    (target / "FLEET.md").write_text("edited\n")
    with pytest.raises(FilesError) as caught:
        write_tree(NEW, target)
    assert caught.value.code == "artifact-edited"
    assert ".fleetc-out.apply" not in names(tmp_path)
