"""The file of a fleet's journal: read, locked for one rollout at a time, and only ever added to.

In: its directory and the name of the fleet. Out: a `Journal`. The kernel drops the lock when its rollout dies in any
way, so no lock is taken over by age.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fleetc.disk.manifest import FilesError, failure
from fleetc.disk.whole import write_whole
from fleetc.rollout.journal.history import History, history_of
from fleetc.rollout.journal.lines import Decoded, JournalEntry, JournalLineError, decode, encode
from fleetc.text.encoders import visible

_LIMIT_BYTES = 256 * 1024 * 1024
_SPECS = 5
"""The specs of so many rollouts stay: as a rule, hosts keep fewer releases."""
_TIME = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(slots=True)
class Journal:
    """An open journal. `write` adds a line and returns once it is on the disk."""

    path: Path
    fleet: str
    history: History
    run: str
    dropped: bool
    """Whether its last line was torn, and dropped."""

    _descriptor: int | None
    _chain: str
    heard: Callable[[JournalEntry], None] = lambda entry: None
    """Who hears of each line once it is on the disk."""

    commit: str = ""
    """What the checkout of the spec is at; "" outside of one."""

    def write(self, what: str, **facts: Any) -> None:
        """Add a line about this run. Raises FilesError journal-not-written."""
        assert self._descriptor is not None, "a journal that is only read"  # noqa: S101
        now = datetime.now(UTC).strftime(_TIME)
        entry = JournalEntry(now, self.run, what, facts)
        line, chain = encode(entry, self.fleet, self._chain)
        before = os.fstat(self._descriptor).st_size
        try:
            while line:
                line = line[os.write(self._descriptor, line) :]
            os.fsync(self._descriptor)
        except OSError as problem:
            with suppress(OSError):  # else the next line would be glued to half of this one
                os.ftruncate(self._descriptor, before)
            message = f"{visible(str(self.path))} cannot be written: {os.strerror(problem.errno or 0)}"
            advice = "make room, or name another directory with --journal; what a rollout did must be on record"
            raise FilesError("journal-not-written", message, path=str(self.path), advice=advice) from None
        self._chain = chain
        self.heard(entry)

    def keep_spec(self, manifest: str, files: Mapping[str, bytes]) -> None:
        """Keep the texts that a tree was compiled from: hosts keep its release, but not what it means."""
        texts = {path: content.decode() for path, content in files.items()}
        write_whole(self._specs / f"{manifest}.json", json.dumps(texts).encode())
        for path in self._kept()[_SPECS:]:
            path.unlink(missing_ok=True)

    def specs(self) -> Iterator[Mapping[str, bytes]]:
        """The texts of the last rollouts, newest first."""
        for path in self._kept():
            with suppress(OSError, ValueError):  # without it, a release is only not explained
                yield {name: text.encode() for name, text in json.loads(path.read_bytes()).items()}

    @property
    def _specs(self) -> Path:
        return self.path.with_name(f"{self.fleet}.specs")

    def _kept(self) -> list[Path]:
        return sorted(self._specs.glob("*.json"), key=lambda path: path.stat().st_mtime_ns, reverse=True)


@contextmanager
def opened(directory: Path, fleet: str, run: str) -> Iterator[Journal]:
    """The journal of a fleet, for the rollout `run` alone.

    Raises FilesError: journal-busy, journal-unreadable, and what is wrong with its lines.
    """
    path = path_of(directory, fleet)
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(path, flags, 0o600)
    except OSError as problem:
        raise _unreadable(path, problem) from None
    try:
        _lock(descriptor, path, fleet)
        content = _content(descriptor, path)
        decoded = _checked(content, fleet, path)
        if decoded.size != len(content):
            os.ftruncate(descriptor, decoded.size)
        history = history_of(decoded.entries)
        yield Journal(path, fleet, history, run, decoded.size != len(content), descriptor, decoded.chain)
    finally:
        os.close(descriptor)


def to_read(directory: Path, fleet: str) -> Journal:
    """The journal of a fleet without its lock, for readers; empty if there is none."""
    path = path_of(directory, fleet)
    content = b""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            content = _content(descriptor, path)
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        pass
    except OSError as problem:
        raise _unreadable(path, problem) from None
    decoded = _checked(content, fleet, path)
    return Journal(path, fleet, history_of(decoded.entries), "", False, None, decoded.chain)


def path_of(directory: Path, fleet: str) -> Path:
    """The journal of a fleet; names of fleets are file names."""
    return directory / f"{fleet}.jsonl"


def _lock(descriptor: int, path: Path, fleet: str) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        who = ""
        with_lines = _content(descriptor, path)
        try:
            run = history_of(decode(with_lines, fleet).entries).broken_off
        except JournalLineError:
            run = None
        if run is not None:
            who = f" of {visible(run.who)} since {run.begun}"
        message = f"another rollout of the fleet {fleet} is on its way: {'that' + who if who else 'it has just begun'}"
        advice = "wait for its end; if it dies, the journal is free again"
        raise FilesError("journal-busy", message, path=str(path), advice=advice) from None
    except OSError as problem:
        raise _unreadable(path, problem) from None


def _content(descriptor: int, path: Path) -> bytes:
    try:
        size = os.fstat(descriptor).st_size
        if size > _LIMIT_BYTES:
            message = f"{visible(str(path))} has more than {_LIMIT_BYTES // 1024 // 1024} MiB"
            advice = "move it away: what its hosts run is then unknown until the next rollout"
            raise FilesError("journal-unreadable", message, path=str(path), advice=advice)
        return os.pread(descriptor, size, 0)
    except OSError as problem:
        raise _unreadable(path, problem) from None


def _checked(content: bytes, fleet: str, path: Path) -> Decoded:
    try:
        return decode(content, fleet)
    except JournalLineError as problem:
        message = f"line {problem.line} of {visible(str(path))} cannot be used: {problem}"
        raise FilesError(problem.code, message, path=str(path), advice=_ADVICE[problem.code]) from None


_ADVICE = {
    "journal-damaged": "restore it from a copy, or move it away: hosts that left the spec are unknown without it",
    "journal-newer": "use the fleetc that wrote it",
    "journal-other-fleet": "name the directory with the journal of this fleet: --journal DIR",
}


def _unreadable(path: Path, problem: OSError) -> FilesError:
    reason = failure(problem, str(path), "open")
    advice = "name a directory in which you may write: --journal DIR"
    return FilesError("journal-unreadable", str(reason), path=str(path), advice=advice)
