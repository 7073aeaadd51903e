"""Answers that cannot be written: a full disk, and a standard output that the shell closed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests import forked
from tests.support import INVENTORIES, ROOT

pytestmark = pytest.mark.usefixtures("processes")

FULL = "error[disk-full]: cannot write standard output: No space left on device\n"
CLOSED = "error[system-refused]: cannot write standard output: Bad file descriptor\n"
REGIONS = INVENTORIES / "two-regions"
ANSWERS = (
    ("--version",),
    ("--help",),
    ("explain",),
    ("explain", "--all"),
    ("explain", "--schema", "spec"),
    ("check", REGIONS, "--resolved"),
    ("todo", REGIONS),
    ("check", REGIONS, "--explain-prices"),
    ("check", REGIONS, "--format", "json"),
    ("diff", REGIONS),
    ("diff", REGIONS, "--format", "html"),
    ("why", REGIONS / "rendered" / "FLEET.md:3"),
    ("why", "rollout.canary", "--spec", REGIONS),
    ("diff", "--release", "v0.9.0", REGIONS),
)


def redirected(where: str, *arguments: object, unbuffered: bool = False) -> subprocess.CompletedProcess[str]:
    """Run fleetc with a shell's redirection."""
    real = [sys.executable, *(["-u"] if unbuffered else []), "-I", "-m", "fleetc"]
    program = real if unbuffered or "&-" in where else [str(forked.program())]
    command = ["sh", "-c", f'"$@" {where}', "sh", *program, *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("arguments", ANSWERS, ids=lambda arguments: " ".join(map(str, arguments[:2]))[-40:])
def test_full_disk_is_a_diagnostic(arguments: tuple[object, ...]) -> None:
    done = redirected(">/dev/full", *arguments)
    assert done.returncode == 3
    assert FULL in done.stderr and "internal error" not in done.stderr and "Traceback" not in done.stderr
    assert done.stderr.count("error") == 1


def test_full_disk_without_buffers_is_a_diagnostic() -> None:
    done = redirected(">/dev/full", "explain", "--schema", "spec", unbuffered=True)
    assert done.returncode == 3 and done.stderr.startswith(FULL)


@pytest.mark.parametrize("arguments", ANSWERS[:4], ids=" ".join)
def test_closed_output_is_a_diagnostic(arguments: tuple[str, ...]) -> None:
    done = redirected(">&-", *arguments)
    assert done.returncode == 3 and done.stderr.startswith(CLOSED)


def test_command_that_answers_nothing_needs_no_output() -> None:
    done = redirected(">&-", "fmt", INVENTORIES / "demo", "--check")
    assert done.returncode == 0 and "Bad file" not in done.stderr


@pytest.mark.parametrize(("where", "code"), [("2>/dev/full", 3), ("2>&-", 1)])
def test_messages_that_nobody_takes_make_no_traceback(where: str, code: int) -> None:
    done = redirected(where, "check", "no-such-spec")
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")
