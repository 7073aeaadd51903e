"""A run of Ansible in another process, on this machine or elsewhere: ansible-runner's transmit, worker and process.

In: a job, and a command that starts `ansible-runner worker`, such as `ssh node-1 ansible-runner worker`. Out: what the
worker reported. A job is the Ansible project and files of its hosts, with secrets only by path. A worker sends its
whole environment back, so secrets are in files of its machine.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

_END_SECONDS = 20.0
_ANSIBLE, _HOSTS = "ansible", "hosts"


class Ended(NamedTuple):
    """The end of a run, the files with what it printed, and why it ended, where something says that."""

    status: str
    rc: int | None
    outputs: tuple[Path, ...]
    words: tuple[str, ...] = ()


@contextmanager
def job(tree: Path, place: Path, hosts: Iterable[str]) -> Iterator[Path]:
    """A private data directory at `place` with the Ansible project of a tree and the files of some of its hosts.

    The files are links to those of the tree, on the same file system. In the end nothing of it is left.
    """
    project = place / "project"
    try:
        shutil.copytree(tree / _ANSIBLE, project / _ANSIBLE, copy_function=os.link)
        for host in hosts:
            with suppress(FileNotFoundError):  # a host that left the spec has no files
                shutil.copytree(tree / _HOSTS / host, project / _HOSTS / host, copy_function=os.link)
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def run_on_worker(
    run: Callable[..., Any],
    command: Sequence[str],
    environment: Mapping[str, str],
    sent: Mapping[str, Any],
    private: Path,
    hear: Callable[[dict[str, Any]], bool],
    interrupted: threading.Event,
) -> Ended:
    """Send a job to a worker, and hear its events until its end.

    `run` is that of ansible_runner; `sent` are its arguments there. `private` is a directory for what comes back.
    Raises OSError where the command cannot be started.
    """
    explanations: list[str] = []

    def note_status(data: dict[str, Any], **_: Any) -> None:
        if data.get("job_explanation"):
            explanations.append(str(data["job_explanation"]))

    words = private / "worker-stderr"
    with (
        words.open("wb") as stderr,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, env=environment
        ) as worker,
    ):
        sender = threading.Thread(target=_send, args=(run, sent, worker, interrupted))
        watcher = threading.Thread(target=_end_when, args=(worker, interrupted))
        sender.start()
        watcher.start()
        try:
            done = run(
                streamer="process",
                private_data_dir=str(private),
                quiet=True,
                settings={},
                event_handler=hear,
                status_handler=note_status,
                cancel_callback=interrupted.is_set,
                _input=worker.stdout,
            )
        finally:
            _end(worker)
            sender.join()
            watcher.join()
    outputs = (words, private / "artifacts/stdout", private / "artifacts/stderr")
    return Ended(done.status, done.rc, outputs, tuple(explanations[-1:]))


def _send(
    run: Callable[..., Any], sent: Mapping[str, Any], worker: subprocess.Popen[bytes], interrupted: threading.Event
) -> None:
    """Send the job; missing output reveals a worker that ends too early."""
    with suppress(BrokenPipeError):
        run(streamer="transmit", cancel_callback=interrupted.is_set, _output=worker.stdin, **sent)
    with suppress(BrokenPipeError):
        assert worker.stdin is not None  # noqa: S101  # for the type checker
        worker.stdin.close()


def _end_when(worker: subprocess.Popen[bytes], interrupted: threading.Event) -> None:
    while worker.poll() is None:
        if interrupted.wait(0.2):
            worker.terminate()
            return


def _end(worker: subprocess.Popen[bytes]) -> None:
    """A worker has ended, or is about to, once it has said so."""
    try:
        worker.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        worker.kill()
