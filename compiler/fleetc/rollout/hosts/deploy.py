"""Rolls a compiled tree out to its hosts.

In: the tree and the blueprint it was made from, and the tool's settings. Out: an `Outcome` that says for each host what
happened.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fleetc.blueprint.blueprint import Blueprint
from fleetc.emit.tree import Tree
from fleetc.rollout.hosts.gate import Judgement, judge
from fleetc.rollout.hosts.runner import Event, InterruptedRunError, RunOptions, RunResult, run_playbook
from fleetc.rollout.plan.data import NewestPlan
from fleetc.settings import Settings
from fleetc.text.encoders import plain_output

SITE_PLAYBOOK = "site.yml"
RECORD_PLAYBOOK = "record.yml"


class DeployError(Exception):
    """The rollout could not start. `exit_code` is 2 for wrong usage, 1 for a missing secret."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a rollout did. `hosts` are those it was meant for."""

    hosts: tuple[str, ...]
    result: RunResult
    judgement: Judgement
    check: bool

    @property
    def succeeded(self) -> bool:
        """Whether every host came through."""
        return self.judgement.verdict == "proceed"

    def lines(self) -> list[str]:
        """The report for people, safe to print."""
        lines = []
        for event in self.result.failures:
            lines.append(plain_output(f"{event.host}: {event.kind}: {event.task}"))
            lines += [f"    {plain_output(line)}" for line in event.message.splitlines()]
        lines += [f"    {plain_output(line)}" for line in self.result.last_words]
        verb = "would change" if self.check else "changed"
        lines += [plain_output(f"{verb}: {line}") for line in self.result.changed]
        if self.succeeded:
            count = f"{len(self.hosts)} host{'s' if len(self.hosts) != 1 else ''}"
            lines.append(
                f"{count} {'checked' if self.check else 'deployed'}, {len(self.result.changed)} tasks {verb} something"
            )
        else:
            lines += [plain_output(f"not deployed: {reason}") for reason in self.judgement.reasons]
            if self.judgement.verdict == "halt_unknown":
                lines.append("run fleetc deploy again: it checks what each host has before it changes anything")
        return lines


def deploy_tree(
    tree: Tree,
    blueprint: Blueprint,
    settings: Settings,
    limit: tuple[str, ...],
    check: bool,
    on_event: Callable[[Event], None],
    sealed: NewestPlan | None = None,
    playbook: str = SITE_PLAYBOOK,
) -> Outcome:
    """Run the tree's Ansible project over its hosts, or over those in `limit`.

    Each host writes down that it was given the plan `sealed`, or a rollout without one. RECORD_PLAYBOOK does nothing
    else. Raises DeployError before any host is touched.
    """
    hosts = _hosts(blueprint, limit)
    values = _secret_variables(blueprint, hosts) if playbook == SITE_PLAYBOOK else {}
    password_file, password = vault_password(_absolute(settings.vault_password_file))
    options = RunOptions(
        limit=hosts if limit else (),
        check=check,
        forks=settings.forks,
        connect_timeout=settings.connect_timeout,
        ssh_key=_absolute(settings.ssh_key),
        ssh_known_hosts=_absolute(settings.ssh_known_hosts),
        vault_file=_absolute(settings.vault_file),
        vault_password_file=password_file,
        vault_password=password,
        variables={"fleet_plan_created": sealed.created, "fleet_plan_seal": sealed.seal} if sealed else {},
    )
    try:
        result = run_playbook(tree, playbook, options, values, on_event)
    except InterruptedRunError:
        result = RunResult("canceled", None, None)
    return Outcome(hosts, result, judge(hosts, result.status, result.rc, result.stats), check)


def _hosts(blueprint: Blueprint, limit: tuple[str, ...]) -> tuple[str, ...]:
    known = tuple(host.name for host in blueprint.hosts)
    for name in limit:
        if name not in known:
            from fleetc.text.suggestions import did_you_mean

            raise DeployError(f'there is no host "{name}"; {did_you_mean(name, known)}', 2)
    return tuple(name for name in known if name in limit) if limit else known


def _secret_variables(blueprint: Blueprint, hosts: tuple[str, ...]) -> dict[str, str]:
    """The environment variables that secrets refer to. Their values are handed on and never looked at."""
    needed = {
        secret.reference: f"{host.name}/{owner}"
        for host in blueprint.hosts
        if host.name in hosts
        for owner, secrets in host.secrets()
        for secret in secrets
        if secret.kind == "env"
    }
    missing = sorted(name for name in needed if not os.environ.get(name))
    if missing:
        names = ", ".join(f"{name} (for {needed[name]})" for name in missing)
        raise DeployError(f"these environment variables must hold secrets of the fleet, but are not set: {names}", 1)
    return {name: os.environ[name] for name in sorted(needed)}


def vault_password(path: Path | None) -> tuple[Path | None, bytes | None]:
    """The file with the vault's password; or, where it is a program, what that says.

    A program runs here rather than below Ansible, because it may need variables that nobody else gets. Raises
    DeployError where it fails.
    """
    if path is None or not (path.is_file() and os.access(path, os.X_OK)):
        return path, None
    asked = ["--vault-id", "default"] if path.stem.endswith("-client") else []  # as Ansible asks such programs
    program = f"the vault password program {path}"
    try:
        done = subprocess.run([str(path), *asked], stdout=subprocess.PIPE, check=False)
    except OSError as failure:
        raise DeployError(f"{program} cannot be run: {failure.strerror}", 1) from None
    if done.returncode:
        raise DeployError(f"{program} ended with exit code {done.returncode}", 1)
    return None, done.stdout.strip(b"\r\n")


def _absolute(path: Path | None) -> Path | None:
    return None if path is None else path.expanduser().absolute()
