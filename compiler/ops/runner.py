"""Runs one playbook through ansible_runner, and is the only module that imports it.

In: a directory with a stock Ansible project and the variables it may see. Out: `RunResult`, and events while it runs.
The run has a fresh private directory, a minimal environment and connections of its own; nothing of it stays behind.
"""

from __future__ import annotations

import json
import os
import secrets
import shlex
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

_KEPT_VARIABLES = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "SSH_AUTH_SOCK", "TMPDIR")
_TERM_SECONDS = 20.0
_MESSAGE_LIMIT = 2000
_LAST_WORDS = 15


class Event(NamedTuple):
    """Something that happened: `kind` is task, ok, changed, skipped, failed or unreachable."""

    kind: str
    host: str
    task: str
    message: str


@dataclass(frozen=True, slots=True)
class RunResult:
    """What the runner reported.

    `stats` is None when Ansible never got to the end; then `last_words` has the end of what it printed. `answers` are
    what the tasks that were asked for returned, by host and task.
    """

    status: str
    rc: int | None
    stats: Mapping[str, Mapping[str, int]] | None
    failures: tuple[Event, ...] = ()
    changed: tuple[str, ...] = ()
    last_words: tuple[str, ...] = ()
    answers: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to reach the hosts. Paths are absolute."""

    limit: tuple[str, ...] = ()
    check: bool = False
    forks: int = 10
    connect_timeout: int = 15
    ssh_key: Path | None = None
    ssh_known_hosts: Path | None = None
    vault_file: Path | None = None
    vault_password_file: Path | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    """Variables of Ansible that are stronger than all others."""


class InterruptedRunError(Exception):
    """The operator interrupted the run; hosts may be in the middle of a change."""


def run_playbook(
    project: Path,
    playbook: str,
    options: RunOptions,
    variables: Mapping[str, str],
    on_event: Callable[[Event], None],
    asked: Collection[str] = (),
) -> RunResult:
    """Run `playbook` of the Ansible project in `project`.

    `variables` are environment variables that the playbook looks secrets up in. They reach Ansible's process alone: the
    file in which the runner notes its environment is removed before a task starts. `asked` are names of tasks whose
    results are wanted.
    """
    import ansible_runner

    _end_gently(ansible_runner)
    work = Path(tempfile.mkdtemp(prefix="fleetc-run-"))
    interrupted = threading.Event()
    failures: list[Event] = []
    changed: list[str] = []
    answers: dict[str, dict[str, Mapping[str, Any]]] = {}

    stats: dict[str, Mapping[str, int]] = {}

    def handle_event(data: dict[str, Any]) -> bool:
        """Take note, and keep the runner from writing the event to disk."""
        if data.get("event") == "playbook_on_stats":
            stats.update({kind: hosts for kind, hosts in data["event_data"].items() if isinstance(hosts, dict)})
        event = _event(data)
        if event is not None:
            if event.kind in ("ok", "changed") and event.task in asked:
                answers.setdefault(event.host, {})[event.task] = data["event_data"].get("res") or {}
            if event.kind in ("failed", "unreachable"):
                failures.append(event)
            if event.kind == "changed":
                changed.append(f"{event.host}: {event.task}")
            on_event(event)
        return False

    def handle_status(data: dict[str, Any], runner_config: Any) -> None:
        if data["status"] == "running":
            with suppress(FileNotFoundError):
                Path(runner_config.artifact_dir, "command").unlink()

    previous = _on_interrupt(interrupted)
    try:
        runner = ansible_runner.run(
            private_data_dir=str(work),
            project_dir=str(project),
            playbook=playbook,
            inventory=str(project / "inventory.json"),
            ident=secrets.token_hex(8),
            quiet=True,
            cmdline=_command_line(options),
            envvars=_environment(project, work, options) | dict(variables),
            suppress_env_files=True,
            settings={"pexpect_timeout": 1, "suppress_env_files": True},
            event_handler=handle_event,
            status_handler=handle_status,
            cancel_callback=interrupted.is_set,
        )
        last_words = () if stats else _last_words(Path(runner.config.artifact_dir))
    finally:
        _restore(previous)
        _close_connections(work)
        shutil.rmtree(work, ignore_errors=True)
    if interrupted.is_set():
        raise InterruptedRunError
    return RunResult(runner.status, runner.rc, stats or None, tuple(failures), tuple(changed), last_words, answers)


def _command_line(options: RunOptions) -> str:
    """Options of ansible-playbook. Every word is of this module, a checked host name or a path of the settings."""
    words: list[str] = []
    if options.limit:
        words += ["--limit", ",".join(options.limit)]
    if options.check:
        words += ["--check", "--diff"]
    if options.ssh_key:
        words += ["--private-key", str(options.ssh_key)]
    if options.vault_file:
        words += ["--extra-vars", f"@{options.vault_file}"]
    if options.vault_password_file:
        words += ["--vault-password-file", str(options.vault_password_file)]
    if options.variables:  # the last ones count
        words += ["--extra-vars", json.dumps(dict(options.variables))]
    return shlex.join(words)


def _environment(project: Path, work: Path, options: RunOptions) -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    # fleetc's own ansible-playbook, also when its virtual environment is not activated.
    kept["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", os.defpath)])
    control = work / "cp"
    control.mkdir(mode=0o700)
    ssh = ["-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3", "-o", "BatchMode=yes"]
    if options.ssh_known_hosts:
        ssh += ["-o", f"UserKnownHostsFile={_ssh_quoted(options.ssh_known_hosts)}"]
        ssh += ["-o", "GlobalKnownHostsFile=/dev/null"]
    return kept | {
        "ANSIBLE_CONFIG": str(project / "ansible.cfg"),
        "ANSIBLE_HOME": str(work / "home"),
        "ANSIBLE_LOCAL_TEMP": str(work / "tmp"),
        "ANSIBLE_FORKS": str(options.forks),
        "ANSIBLE_TIMEOUT": str(options.connect_timeout),
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_SSH_CONTROL_PATH_DIR": str(control),
        "ANSIBLE_SSH_EXTRA_ARGS": shlex.join(ssh),
        "ANSIBLE_HOST_KEY_CHECKING": "True",
        "LC_ALL": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _ssh_quoted(path: Path) -> str:
    """A path as ssh reads it in an option: it splits at spaces outside double quotes and fills in % tokens."""
    text = str(path).replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{text}"'


def _event(data: dict[str, Any]) -> Event | None:
    details = data.get("event_data") or {}
    host, task = str(details.get("host", "")), str(details.get("task", ""))
    result = details.get("res") or {}
    name = data.get("event")
    if name == "playbook_on_task_start":
        return Event("task", "", task, "")
    if name == "runner_on_ok":
        return Event("changed" if result.get("changed") else "ok", host, task, "")
    if name == "runner_on_skipped":
        return Event("skipped", host, task, "")
    if name in ("runner_on_failed", "runner_on_unreachable"):
        kind = "unreachable" if name == "runner_on_unreachable" else "failed"
        if kind == "failed" and details.get("ignore_errors"):
            return None
        return Event(kind, host, task, _message(result))
    return None


def _message(result: dict[str, Any]) -> str:
    parts = [str(result[key]) for key in ("msg", "stderr") if result.get(key)]
    parts += [
        str(item["msg"])
        for item in result.get("results", [])
        if isinstance(item, dict) and item.get("failed") and item.get("msg")
    ]
    return "\n".join(dict.fromkeys(part.strip() for part in parts))[:_MESSAGE_LIMIT]


def _last_words(artifacts: Path) -> tuple[str, ...]:
    """The end of what Ansible printed before any task: a broken inventory, a missing vault file, a wrong option."""
    lines = [
        line for name in ("stdout", "stderr") for line in (artifacts / name).read_text(errors="replace").splitlines()
    ]
    return tuple(line for line in lines if line.strip())[-_LAST_WORDS:]


def _end_gently(module: Any) -> None:
    """Make a cancelled run end with SIGTERM first: the runner's own SIGKILL leaves Ansible's workers running."""

    def handle_termination(cls: Any, pid: int, is_cancel: bool = True) -> None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
            end = time.monotonic() + _TERM_SECONDS
            while time.monotonic() < end:
                # WNOWAIT: the runner's own library collects the exit status.
                if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                    return
                time.sleep(0.1)
            os.killpg(os.getpgid(pid), signal.SIGKILL)

    module.Runner.handle_termination = classmethod(handle_termination)


def _on_interrupt(interrupted: threading.Event) -> list[tuple[signal.Signals, Any]]:
    if threading.current_thread() is not threading.main_thread():
        return []
    return [(sig, signal.signal(sig, lambda *_: interrupted.set())) for sig in (signal.SIGINT, signal.SIGTERM)]


def _restore(previous: Sequence[tuple[signal.Signals, Any]]) -> None:
    for sig, handler in previous:
        signal.signal(sig, handler)


def _close_connections(work: Path) -> None:
    """End the ssh masters of this run: they outlive the play and would keep its options for the next one."""
    import subprocess

    for socket in (work / "cp").glob("*"):
        command = ["ssh", "-O", "exit", "-o", f"ControlPath={socket}", "fleetc"]
        subprocess.run(command, check=False, capture_output=True, timeout=10)
