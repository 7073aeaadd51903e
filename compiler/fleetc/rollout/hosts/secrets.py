"""Secrets of a rollout: the user's variables, and the password of the vault.

In: a blueprint, names of hosts, paths. Out: values, which are handed on and never looked at.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from fleetc.blueprint.blueprint import Blueprint
from fleetc.blueprint.out import running_on
from fleetc.text.counting import first_of


class DeployError(Exception):
    """The rollout could not start. `exit_code` is 2 for wrong usage, 1 for a missing secret."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


SecretValues = Mapping[str, Mapping[str, str]]
"""Values of secrets by name, by their Ansible variable."""

_NAMED = 4

SHORTEST = 4
"""Characters of a secret that Ansible may hide: shorter ones are part of too many words of an answer."""


def secret_variables(blueprint: Blueprint, hosts: tuple[str, ...]) -> dict[str, str]:
    """The environment variables that secrets refer to. Their values are handed on.

    Raises DeployError where one is not set, or too short.
    """
    needed = names_needed(blueprint, hosts, "env")
    missing = sorted(name for name in needed if not os.environ.get(name))
    if missing:
        names = ", ".join(f"{name} (for {needed[name]})" for name in missing)
        example = f"read -rs {missing[0]} && export {missing[0]}"
        message = f"these environment variables must hold secrets of the fleet, but are not set: {names}"
        raise DeployError(f"{message}; set each, such as: {example}", 1)
    short = sorted(name for name in needed if len(os.environ[name]) < SHORTEST)
    if short:
        names = ", ".join(f"{name} (for {needed[name]})" for name in short)
        message = (
            f"these secrets have fewer than {SHORTEST} characters: {names}; Ansible hides each of them wherever it"
        )
        raise DeployError(f"{message} occurs, which would garble what hosts answer: take longer ones", 1)
    return {name: os.environ[name] for name in sorted(needed)}


def names_needed(blueprint: Blueprint, hosts: tuple[str, ...], kind: str) -> dict[str, str]:
    """The targets of one kind of secret reference on these hosts, each with its users, in words."""
    users: dict[str, list[str]] = {}
    for host in blueprint.hosts:
        for owner, secrets in running_on(host).secrets() if host.name in hosts else ():
            for secret in secrets:
                if secret.kind == kind:
                    users.setdefault(secret.reference, []).append(f"{host.name}/{owner}")
    return {reference: first_of(list(dict.fromkeys(named)), _NAMED) for reference, named in users.items()}


def vault_password(path: Path | None) -> tuple[Path | None, bytes | None]:
    """The file with the vault's password; if it is a program, its output.

    A program runs here and not below Ansible, because it may need private variables. Raises DeployError where it fails.
    """
    if path is None or not (path.is_file() and os.access(path, os.X_OK)):
        return path, None
    words = ["--vault-id", "default"] if path.stem.endswith("-client") else []  # as Ansible asks such programs
    program = f"the vault password program {path}"
    try:
        done = subprocess.run([str(path), *words], stdout=subprocess.PIPE, check=False)
    except OSError as failure:
        raise DeployError(f"{program} cannot be run: {failure.strerror}", 1) from None
    if done.returncode:
        raise DeployError(f"{program} ended with exit code {done.returncode}", 1)
    return None, done.stdout.strip(b"\r\n")


def absolute(path: Path | None) -> Path | None:
    """A path with the home directory filled in, from the working directory of now."""
    return None if path is None else path.expanduser().absolute()
