"""Runs the user's configured commands that print secrets, such as those of a password manager.

In: names of commands, and the settings. Out: what each printed, which is handed on and never looked at. A command runs
without shell, terminal and input, in the root directory, which no checkout can write. No message has its output: also
its errors may contain the secret.
"""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from fleetc.blueprint.blueprint import Blueprint
from fleetc.rollout.hosts.processes import bound_to_fleetc
from fleetc.rollout.hosts.secrets import SHORTEST, DeployError, SecretValues, names_needed, secret_variables
from fleetc.settings import Settings, own_configuration
from fleetc.text.encoders import visible

SECONDS = 30.0
"""How long a command may take."""
_LIMIT_BYTES = 64 * 1024
_CHUNK = 16 * 1024
_ENDS_SECONDS = 0.2
"""How long a command that has ended is read on: a process that it left behind may hold the pipe open for ever."""
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


class _FailedError(Exception):
    """Why a command gave no secret, as the end of a sentence that begins with its name."""


def secret_values(blueprint: Blueprint, hosts: tuple[str, ...], settings: Settings) -> SecretValues:
    """All that a rollout of these hosts passes on: values of variables, and what commands print.

    Raises DeployError where one of them cannot be had.
    """
    commands = names_needed(blueprint, hosts, "command")
    need_defined(commands, settings.secret_commands)
    variables = secret_variables(blueprint, hosts)
    given = {"fleet_environment": variables, "fleet_commands": printed_secrets(commands, settings)}
    return {variable: values for variable, values in given.items() if values}


def printed_secrets(needed: Mapping[str, str], settings: Settings) -> dict[str, str]:
    """What the commands print, by their names; each runs once. `needed` has the purpose of each.

    Raises DeployError before any of them runs where one is not defined, and at the end with all that failed.
    """
    need_defined(needed, settings.secret_commands)
    printed, failed = {}, []
    for name in sorted(needed):
        try:
            printed[name] = _secret(settings.secret_commands[name])
        except _FailedError as problem:
            failed.append(f"{visible(name)} (for {needed[name]}) {problem}")
    if failed:
        several = "s" if len(failed) > 1 else ""
        message = f"{len(failed)} secret command{several} failed: {'; '.join(failed)}"
        raise DeployError(f"{message}. fleetc never shows their output: run them yourself to see it", 1)
    return printed


def need_defined(needed: Mapping[str, str], defined: Collection[str]) -> None:
    """Refuse to begin without a command that the spec names. Raises DeployError."""
    missing = sorted(name for name in needed if name not in defined)
    if missing:
        names = ", ".join(f"{visible(name)} (for {needed[name]})" for name in missing)
        message = f"the spec names secret commands that your own configuration does not define: {names}"
        example = f'{missing[0]} = ["/usr/bin/pass", "show", "fleet/{missing[0]}"]'
        raise DeployError(f"{message}; write [secret_commands] with {example} into {own_configuration()}", 1)


def _secret(words: Sequence[str]) -> str:
    """What a command prints, once it is known to be a secret that can be handed on."""
    content = _output(words).removesuffix(b"\n")
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise _FailedError("printed no UTF-8 text") from None
    if not text:
        raise _FailedError("printed nothing")
    if _CONTROL.search(text):
        raise _FailedError("printed several lines or a control character, and a secret is one line of text")
    if len(text) < SHORTEST:
        raise _FailedError(f"printed fewer than {SHORTEST} characters, which could not be hidden in what hosts answer")
    return text


def _output(words: Sequence[str]) -> bytes:
    """What a command writes to its standard output until it ends."""
    program = shutil.which(words[0])
    if program is None:
        raise _FailedError("cannot be run: its program does not exist, or is not executable")
    if not Path(program).is_absolute():
        raise _FailedError("cannot be run: PATH leads to its program through the working directory")
    try:
        process = subprocess.Popen(
            bound_to_fleetc([program, *words[1:]]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,  # no terminal to ask, and one group to end
        )
    except OSError as problem:
        raise _FailedError(f"cannot be run: {os.strerror(problem.errno or 0)}") from None
    try:
        content = _read(process, time.monotonic() + SECONDS)
    except BaseException:
        _end(process)
        raise
    if process.returncode < 0:
        raise _FailedError(f"was ended by signal {-process.returncode}")
    if process.returncode:
        raise _FailedError(f"ended with exit code {process.returncode}")
    return content


def _read(process: subprocess.Popen[bytes], end: float) -> bytes:
    """Read until the command has ended, within its time and the most bytes that a secret may have."""
    assert process.stdout is not None  # noqa: S101  # it is a pipe
    content = bytearray()
    waiting = select.poll()  # select accepts no descriptor above 1023
    waiting.register(process.stdout, select.POLLIN)
    with process.stdout as pipe:
        while (left := end - time.monotonic()) > 0:
            ended = process.poll() is not None
            if waiting.poll(min(left, _ENDS_SECONDS) * 1000):
                chunk = os.read(pipe.fileno(), _CHUNK)
                content += chunk
                if len(content) > _LIMIT_BYTES:
                    raise _FailedError(f"printed more than {_LIMIT_BYTES // 1024} KiB")
                if not chunk:
                    break
            elif ended:
                break
        with suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, end - time.monotonic()))
            return bytes(content)
    raise _FailedError(f"took longer than {SECONDS:g} seconds")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a command and all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
