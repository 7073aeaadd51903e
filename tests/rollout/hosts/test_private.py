"""Directories of one run: where they are made, who can read them, and what a sweep removes."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleetc.rollout.hosts import private
from fleetc.rollout.hosts.private import memory_place, private_directory, sweep, write_private
from fleetc.rollout.hosts.secrets import DeployError, vault_password

MEMORY = Path("/dev/shm")


@pytest.fixture
def runtime() -> Iterator[Path]:
    """A directory in memory as a session has one."""
    if not MEMORY.is_dir():
        pytest.skip("this machine has no /dev/shm")
    path = Path(tempfile.mkdtemp(prefix="runtime-", dir=MEMORY))
    yield path
    shutil.rmtree(path)


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Temporary files of these tests alone."""
    path = tmp_path / "temporary"
    path.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(path))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    return path


def test_directory_of_the_session_is_taken_where_it_is_in_memory_and_for_this_user_alone(
    runtime: Path, tmp_path: Path, disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = tmp_path / "link"
    link.symlink_to(runtime)
    open_one = runtime / "open"
    open_one.mkdir(mode=0o755)
    on_disk = disk / "on-disk"
    on_disk.mkdir(mode=0o700)
    for given, taken in (
        (runtime, runtime),
        (open_one, MEMORY),
        (link, MEMORY),
        (on_disk, MEMORY),
        (runtime / "missing", MEMORY),
        (Path("relative"), MEMORY),
    ):
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(given))
        assert memory_place() == taken, given
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    assert memory_place() == MEMORY


def test_a_directory_on_disk_is_never_called_memory(disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private, "_MEMORY", disk)
    assert memory_place() is None
    monkeypatch.setattr(private, "_MEMORY", disk / "missing")
    assert memory_place() is None


def test_what_is_made_is_private_from_the_beginning_and_goes_at_the_end(temporary: Path) -> None:
    own_umask = os.umask(0)
    try:
        with private_directory() as work:
            assert work.parent == temporary
            assert work.stat().st_mode & 0o777 == 0o700
            write_private(work / "values", b"x")
            assert (work / "values").stat().st_mode & 0o777 == 0o600
            with pytest.raises(FileExistsError):
                write_private(work / "values", b"y")
            (work / "link").symlink_to(temporary / "elsewhere")
            with pytest.raises(FileExistsError):
                write_private(work / "link", b"y")
    finally:
        os.umask(own_umask)
    assert list(temporary.iterdir()) == []


HOLD = """
import sys, tempfile
from pathlib import Path
from fleetc.rollout.hosts.private import private_directory
tempfile.tempdir = sys.argv[1]
with private_directory() as work:
    (work / "deep").mkdir()
    (work / "deep/values").write_text("secret")
    print(work, flush=True)
    sys.stdin.read()
"""


@pytest.mark.usefixtures("processes")
def test_sweep_takes_what_the_dead_left_and_nothing_else(temporary: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(temporary)]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    held = Path(holder.stdout.readline().strip())
    outside = temporary / "outside"
    outside.mkdir()
    (outside / "kept").write_text("mine")
    (temporary / "fleetc-private-link").symlink_to(outside)
    (temporary / "fleetc-private-file").write_text("mine")
    open_one = temporary / "fleetc-private-open"
    open_one.mkdir()
    open_one.chmod(0o755)  # not as fleetc makes them
    with private_directory() as own:
        sweep()
        assert own.is_dir() and (held / "deep/values").is_file()
        helper = subprocess.Popen(["sleep", "600"], env={"ANSIBLE_HOME": f"{held}/home"})
        other = subprocess.Popen(["sleep", "600"], env={"ANSIBLE_HOME": f"{held}-other/home"})
        try:
            holder.kill()
            holder.wait()
            sweep()
            assert helper.wait(timeout=20) == -15
            assert other.poll() is None
        finally:
            for process in (helper, other):
                process.kill()
                process.wait()
        assert not held.exists() and own.is_dir()
    assert (outside / "kept").is_file() and open_one.is_dir()
    assert sorted(path.name for path in temporary.iterdir()) == [
        "fleetc-private-file",
        "fleetc-private-link",
        "fleetc-private-open",
        "outside",
    ]


@pytest.mark.usefixtures("processes")
def test_sweep_kills_what_does_not_end(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private, "_TERM_SECONDS", 0.2)
    dead = Path(tempfile.mkdtemp(prefix="fleetc-private-", dir=temporary))
    script = "trap '' TERM; echo ready; while :; do sleep 1; done"
    stubborn = subprocess.Popen(["sh", "-c", script], env={"ANSIBLE_HOME": f"{dead}/home"}, stdout=subprocess.PIPE)
    assert stubborn.stdout is not None and stubborn.stdout.readline() == b"ready\n"
    sweep()
    assert stubborn.wait(timeout=20) == -9
    assert not dead.exists()


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.usefixtures("processes")
def test_sweep_opens_nothing_for_processes_that_end_meanwhile(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def ended_meanwhile(process: Path, directory: Path) -> bool:
        raise ProcessLookupError

    monkeypatch.setattr(private, "_names", ended_meanwhile)
    dead, before = Path(tempfile.mkdtemp(prefix="fleetc-private-", dir=temporary)), _descriptors()
    sweep()
    assert _descriptors() == before
    assert not dead.exists()


@pytest.mark.usefixtures("processes")
def test_sweep_ends_processes_whatever_else_is_open(temporary: Path) -> None:
    dead = Path(tempfile.mkdtemp(prefix="fleetc-private-", dir=temporary))
    left = subprocess.Popen(["sleep", "600"], env={"ANSIBLE_HOME": f"{dead}/home"})
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    many = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        sweep()
        assert left.wait(timeout=20) == -15
    finally:
        left.kill()
        for descriptor in many:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def program(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.mark.usefixtures("processes")
def test_program_with_the_password_of_the_vault_runs_with_all_variables_and_its_word_goes_into_no_argument(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STORE", "the password")
    assert vault_password(None) == (None, None)
    plain = tmp_path / "plain"
    plain.write_text("word")
    assert vault_password(plain) == (plain, None)
    assert vault_password(tmp_path / "missing") == (tmp_path / "missing", None)  # Ansible says so
    assert vault_password(program(tmp_path / "store", 'echo "$STORE"')) == (None, b"the password")
    assert vault_password(program(tmp_path / "store-client.sh", 'echo "$*"')) == (None, b"--vault-id default")
    for text in ("exit 3", "echo word; exit 3"):
        with pytest.raises(DeployError, match="ended with exit code 3"):
            vault_password(program(tmp_path / "failing", text))
    (tmp_path / "no-program").write_bytes(b"#!/nonexistent\n")
    (tmp_path / "no-program").chmod(0o755)
    with pytest.raises(DeployError, match="cannot be run"):
        vault_password(tmp_path / "no-program")
