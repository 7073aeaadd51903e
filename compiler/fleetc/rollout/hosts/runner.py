"""Runs playbooks through ansible_runner, and is the only module that imports it.

In: a tree with a stock Ansible project, and the values of secrets. Out: `RunResult`, and events while it runs.
Ansible sees a private copy of the tree, so nothing beside the tree on disk can take part in the run. The runs of a
project have their own directories, one of them in memory, and their own connections, and leave nothing behind. Their
processes only get the variables of this module, so no value of a secret is in an environment.
"""

from __future__ import annotations

import json
import os
import secrets
import shlex
import shutil
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from fleetc.disk.files import write_tree
from fleetc.emit.tree import Tree
from fleetc.rollout.hosts.events import BROKE_OFF, INTERRUPTED, Event, Notes, RunResult
from fleetc.rollout.hosts.private import RUN_VARIABLE, memory_place, private_directory, sweep, write_private
from fleetc.rollout.hosts.processes import bound_to_fleetc, end_gently, on_interrupt, restore
from fleetc.rollout.hosts.secrets import SecretValues, absolute
from fleetc.rollout.hosts.worker import Ended, job, run_on_worker
from fleetc.settings import Settings

ANSIBLE_DIRECTORY = "ansible"

_KEPT_VARIABLES = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "SSH_AUTH_SOCK", "TMPDIR")
"""Variables of fleetc's own environment that Ansible and ssh get too."""
_OF_THE_RUNNER = (
    "ANSIBLE_CALLBACK_PLUGINS",
    "ANSIBLE_RETRY_FILES_ENABLED",
    "ANSIBLE_STDOUT_CALLBACK",
    "AWX_ISOLATED_DATA_DIR",
)
"""Variables for the events of Ansible to ansible_runner."""
_OF_A_WORKER = (
    "ANSIBLE_FORKS",
    "ANSIBLE_HOST_KEY_CHECKING",
    "ANSIBLE_INJECT_FACT_VARS",
    "ANSIBLE_NOCOLOR",
    "ANSIBLE_SSH_EXTRA_ARGS",
    "ANSIBLE_TIMEOUT",
    "LC_ALL",
    "PYTHONDONTWRITEBYTECODE",
)
"""Variables that a worker is sent; the others are its own."""
_VALUES = "values.json"
_VARIABLES = "variables.json"
_LAST_WORDS = 15


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to reach the hosts. Paths are absolute. `vault_password` is what a program said, instead of a file."""

    limit: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    skip_tags: tuple[str, ...] = ()
    check: bool = False
    forks: int = 25
    connect_timeout: int = 15
    ssh_key: Path | None = None
    ssh_known_hosts: Path | None = None
    vault_file: Path | None = None
    vault_password_file: Path | None = None
    variables: Mapping[str, Any] = field(default_factory=dict)
    """Variables of Ansible that are stronger than all others."""
    vault_password: bytes | None = field(default=None, repr=False)
    worker: tuple[str, ...] = ()
    """A command that starts `ansible-runner worker`; then all paths are those of its machine."""


def reaching(settings: Settings, hosts: Sequence[str] = ()) -> RunOptions:
    """How to reach hosts, by the settings; without secrets."""
    there = bool(settings.worker)
    return RunOptions(
        limit=tuple(hosts),
        forks=settings.forks,
        connect_timeout=settings.connect_timeout,
        ssh_key=settings.ssh_key if there else absolute(settings.ssh_key),
        ssh_known_hosts=settings.ssh_known_hosts if there else absolute(settings.ssh_known_hosts),
        worker=tuple(shlex.split(settings.worker)),
    )


class Project(NamedTuple):
    """A private copy of an Ansible project at `path`, and the directory of its runs, which share their connections."""

    path: Path
    work: Path
    in_memory: bool


@contextmanager
def private_project(tree: Tree) -> Iterator[Project]:
    """The Ansible project of a tree, for runs until the end of the block; then nothing of it is left.

    Before anything else, what runs left that died is removed.
    """
    sweep()
    memory = memory_place()
    with private_directory(memory) as work, private_directory() as place:
        copy = place / "copies/tree"  # where a tree is written, the directory that holds it is locked
        copy.parent.mkdir()
        write_tree(tree, copy)
        (work / "cp").mkdir(mode=0o700)
        try:
            yield Project(copy / ANSIBLE_DIRECTORY, work, memory is not None)
        finally:
            _close_connections(work)


def run_playbook(
    project: Project,
    playbook: str,
    options: RunOptions,
    values: SecretValues,
    on_event: Callable[[Event], None],
    tasks: Collection[str] = (),
) -> RunResult:
    """Run `playbook` of a project. A run that a person interrupts is "canceled", and has what hosts said until then.

    `values` are those of the secrets that the spec names by a variable or a command. Ansible reads them from a file in
    memory, which is removed before a task starts; no process has them in its environment. `asked` are names of tasks
    with wanted results.
    """
    if not project.in_memory and not options.worker and (values or options.vault_file):
        on_event(Event("warning", "", "", _NO_MEMORY))
    own_umask = os.umask(0o077)
    own = project.work / secrets.token_hex(8)
    own.mkdir()
    interrupted, notes = threading.Event(), Notes(on_event, tasks, own / _VALUES)
    previous = on_interrupt(interrupted, partial(on_event, INTERRUPTED))
    try:
        run = _run_there if options.worker else _run_here
        ended = run(project, own, playbook, options, values, notes, interrupted)
        if interrupted.is_set():
            return notes.canceled()
        words = () if notes.stats else (*_lines_of(*ended.outputs), *ended.words)
        return notes.result(ended.status, ended.rc, words)
    finally:
        restore(previous)
        os.umask(own_umask)
        shutil.rmtree(own, ignore_errors=True)
        on_event(Event("ended", "", "", ""))


def ask_playbook(
    project: Project, playbook: str, options: RunOptions, on_event: Callable[[Event], None], task: str
) -> RunResult:
    """Run a playbook that only asks with `task`. An interrupt ends the command."""
    result = run_playbook(project, playbook, options, {}, on_event, (task,))
    if result.status == "canceled":
        raise KeyboardInterrupt
    return result


_NO_MEMORY = (
    "XDG_RUNTIME_DIR and /dev/shm are not private directories in memory. So secrets are in a temporary file while "
    "Ansible starts, readable only by this user"
)


def _run_here(
    project: Project,
    own: Path,
    playbook: str,
    options: RunOptions,
    values: SecretValues,
    notes: Notes,
    interrupted: threading.Event,
) -> Ended:
    import ansible_runner

    end_gently(ansible_runner)
    environment = _environment(project.path, project.work, options)

    def handle_status(data: dict[str, Any], runner_config: Any) -> None:
        """Take out what ansible_runner copied from fleetc's environment before it starts Ansible, and bind the two."""
        if data["status"] == "starting":
            kept = {*environment, *_OF_THE_RUNNER}
            runner_config.env = {name: value for name, value in runner_config.env.items() if name in kept}
            runner_config.command = bound_to_fleetc(runner_config.command)

    runner = ansible_runner.run(
        private_data_dir=str(own),
        project_dir=str(project.path),
        playbook=playbook,
        inventory=str(project.path / "inventory.json"),
        ident=own.name,
        quiet=True,
        cmdline=_command_line(own, options, values),
        envvars=environment,
        fact_cache_type="",
        suppress_env_files=True,
        settings={"pexpect_timeout": 1, "suppress_env_files": True},
        event_handler=notes.take,
        status_handler=handle_status,
        cancel_callback=interrupted.is_set,
    )
    artifacts = Path(runner.config.artifact_dir)
    if notes.begun:
        return Ended(runner.status, runner.rc, (), (BROKE_OFF,))
    return Ended(runner.status, runner.rc, (artifacts / "stdout", artifacts / "stderr"))


def _run_there(
    project: Project,
    own: Path,
    playbook: str,
    options: RunOptions,
    values: SecretValues,
    notes: Notes,
    interrupted: threading.Event,
) -> Ended:
    """The same by a worker, which has the secrets: no value is sent."""
    import ansible_runner

    here = _environment(project.path, project.work, options)
    there = {name: text for name, text in here.items() if name in _OF_A_WORKER}
    tree = project.path.parent
    try:
        with job(tree, tree.parent.parent / own.name, options.limit) as place:
            sent = {
                "private_data_dir": str(place),
                "playbook": f"{ANSIBLE_DIRECTORY}/{playbook}",
                "inventory": str(place / "project" / ANSIBLE_DIRECTORY / "inventory.json"),
                "cmdline": _command_line(own, options, values),
                "envvars": there | {"ANSIBLE_CONFIG": f"{ANSIBLE_DIRECTORY}/ansible.cfg"},
                "fact_cache_type": "",
                "suppress_env_files": True,
                "settings": {"pexpect_timeout": 1, "suppress_env_files": True},
            }
            return run_on_worker(
                ansible_runner.run, bound_to_fleetc(options.worker), here, sent, own, notes.take, interrupted
            )
    except OSError as problem:
        words = f"the worker {options.worker[0]} cannot be started: {problem.strerror}"
        return Ended("error", None, (), (words,))


def _command_line(own: Path, options: RunOptions, values: SecretValues) -> str:
    """Options of ansible-playbook, once the files that they name are written.

    Every word is of this module, a checked host name or a path of the settings.
    """
    words: list[str] = []
    if options.limit:
        words += ["--limit", ",".join(options.limit)]
    if options.tags:
        words += ["--tags", ",".join(options.tags)]
    if options.skip_tags:
        words += ["--skip-tags", ",".join(options.skip_tags)]
    if options.check:
        words += ["--check", "--diff"]
    if options.ssh_key:
        words += ["--private-key", str(options.ssh_key)]
    if options.vault_file:
        words += ["--extra-vars", f"@{options.vault_file}"]
    password_file = options.vault_password_file
    if options.vault_password is not None:
        password_file = own / "vault-password"
        write_private(password_file, options.vault_password)
    if password_file:
        words += ["--vault-password-file", str(password_file)]
    if values:
        write_private(own / _VALUES, json.dumps(_never_templates(values)).encode())
        words += ["--extra-vars", f"@{own / _VALUES}"]
    if options.variables:  # the last ones count
        given = json.dumps(_never_templates(dict(options.variables)))
        if not options.worker:  # an argument has a limit, which the names of a large fleet exceed
            write_private(own / _VARIABLES, given.encode())
            given = f"@{own / _VARIABLES}"
        words += ["--extra-vars", given]
    return shlex.join(words)


def _never_templates(value: Any) -> Any:
    """Variables with literal texts: some came from hosts, and a template could run programs here."""
    if isinstance(value, Mapping):
        return {key: _never_templates(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_never_templates(item) for item in value]
    return {"__ansible_unsafe": value} if isinstance(value, str) else value


def _kept() -> dict[str, str]:
    return {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}


def _environment(project: Path, work: Path, options: RunOptions) -> dict[str, str]:
    """The environment of Ansible and its children, without _OF_THE_RUNNER."""
    kept = _kept()
    # fleetc's own ansible-playbook, also when its virtual environment is not activated.
    kept["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", os.defpath)])
    ssh = ["-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3", "-o", "BatchMode=yes"]
    if options.ssh_known_hosts:
        ssh += ["-o", f"UserKnownHostsFile={_ssh_quoted(options.ssh_known_hosts)}"]
        ssh += ["-o", "GlobalKnownHostsFile=/dev/null"]
    return kept | {
        "ANSIBLE_CONFIG": str(project / "ansible.cfg"),
        RUN_VARIABLE: str(work / "home"),
        "ANSIBLE_LOCAL_TEMP": str(work / "tmp"),
        "ANSIBLE_FORKS": str(options.forks),
        "ANSIBLE_TIMEOUT": str(options.connect_timeout),
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_INVENTORY_ENABLED": "ansible.builtin.yaml",  # the format of what is compiled; loading more takes time
        "ANSIBLE_INJECT_FACT_VARS": "False",  # no answer of a host replaces a variable of the play
        # ansible_runner would add these to its own.
        "ANSIBLE_CALLBACK_PLUGINS": "",
        "AWX_LIB_DIRECTORY": "",
        "ANSIBLE_SSH_CONTROL_PATH_DIR": str(work / "cp"),
        "ANSIBLE_SSH_EXTRA_ARGS": shlex.join(ssh),
        "ANSIBLE_HOST_KEY_CHECKING": "True",
        "LC_ALL": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _ssh_quoted(path: Path) -> str:
    """A path as ssh reads it in an option: it splits at spaces outside double quotes and fills in % tokens."""
    text = str(path).replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{text}"'


def _lines_of(*files: Path) -> tuple[str, ...]:
    """The end of what Ansible printed before any task: a broken inventory, a missing vault file, a wrong option."""
    lines = [line for file in files if file.exists() for line in file.read_text(errors="replace").splitlines()]
    return tuple(line for line in lines if line.strip())[-_LAST_WORDS:]


def _close_connections(work: Path) -> None:
    """End the ssh masters of this run: they outlive the play and would keep its options for the next one."""
    import subprocess

    for socket in (work / "cp").glob("*"):
        command = ["ssh", "-O", "exit", "-o", f"ControlPath={socket}", "fleetc"]
        subprocess.run(command, env=_kept(), check=False, capture_output=True, timeout=10)
