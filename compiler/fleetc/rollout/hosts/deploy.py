"""Rolls a compiled tree out to its hosts, batch by batch.

In: the tree and the blueprint it was made from, and the tool's settings. Out: an `Outcome` that says for each host what
happened. First every host says what there is to do there; hosts where that is nothing are left out of the batches. Each
batch is one run of Ansible, and the next one begins when all hosts of the last one have confirmed their release.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from fleetc.blueprint.blueprint import Blueprint
from fleetc.emit.tree import Tree
from fleetc.rollout.hosts.gate import BEGIN, TASKS, HostOutcome, outcomes
from fleetc.rollout.hosts.owner import is_dead, this_run
from fleetc.rollout.hosts.runner import Event, InterruptedRunError, RunOptions, RunResult, reaching, run_playbook
from fleetc.rollout.plan.data import NewestPlan
from fleetc.settings import Settings

SITE_PLAYBOOK = "site.yml"
BEGIN_PLAYBOOK = "begin.yml"


class DeployError(Exception):
    """The rollout could not start. `exit_code` is 2 for wrong usage, 1 for a missing secret."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


@dataclass(frozen=True, slots=True)
class Step:
    """One step that a host takes, or would take: `do` and `node` are those of a plan's `Action`."""

    host: str
    do: str
    node: str
    reason: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a rollout did, host by host in the order of the rollout; `steps` are what each was to do."""

    hosts: tuple[HostOutcome, ...]
    steps: tuple[Step, ...]
    check: bool
    last_words: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 if every host runs its release, 5 if one is unknown or in quarantine, 4 if one went back, else 1."""
        results = {host.result for host in self.hosts}
        if results & {"unknown", "quarantined"}:
            return 5
        if "reverted" in results:
            return 4
        return 0 if results <= {"new", "unchanged"} else 1


class Stated(NamedTuple):
    """What a person states about hosts: those in quarantine that are tried again, and those that had another name."""

    clear: tuple[str, ...] = ()
    renamed: tuple[str, ...] = ()


_NOTHING_STATED = Stated()

Watch = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class Rollout:
    """Everything that the runs of one rollout share."""

    tree: Tree
    options: RunOptions
    values: Mapping[str, str]
    on_event: Watch

    def run(self, playbook: str, hosts: Sequence[str], **variables: Any) -> RunResult:
        """One run over some hosts."""
        given = {**self.options.variables, "fleet_batches": [list(hosts)], **variables}
        options = replace(self.options, limit=tuple(hosts), variables=given)
        try:
            return run_playbook(self.tree, playbook, options, self.values, self.on_event, TASKS)
        except InterruptedRunError:
            return RunResult("canceled", None, None)


def deploy_tree(
    tree: Tree,
    blueprint: Blueprint,
    settings: Settings,
    limit: tuple[str, ...],
    check: bool,
    on_event: Watch,
    sealed: NewestPlan | None = None,
    stated: Stated = _NOTHING_STATED,
) -> Outcome:
    """Bring all hosts, or those in `limit`, to the tree's releases.

    Each host writes down that it was given the plan `sealed`, or a rollout without one. Raises DeployError before any
    host is touched.
    """
    hosts = _hosts(blueprint, limit)
    values = _secret_variables(blueprint, hosts)
    _hosts(blueprint, (*stated.clear, *stated.renamed))
    rollout = Rollout(tree, options_of(settings, check, sealed, stated), values, on_event)
    begun = rollout.run(BEGIN_PLAYBOOK, hosts)
    found = {outcome.host: outcome for outcome in outcomes(hosts, begun)}
    steps = tuple(step for host in hosts for step in _steps(host, begun))
    ready = all(_answered(host, begun) for host in hosts)
    if check or not ready:
        told = tuple(_begun(found[host], ready, _answered(host, begun)) for host in hosts)
        return Outcome(told, steps, check, begun.last_words)
    last_words: tuple[str, ...] = ()
    halted = ""
    dead = [host for host in hosts if is_dead(_owner(host, begun))]
    for batch in blueprint.batches:
        changing = [host for host in batch if host in found and found[host].result != "unchanged"]
        if not changing:
            continue
        if halted:
            found |= {host: found[host]._replace(result="old", reason=halted) for host in changing}
            continue
        done = rollout.run(SITE_PLAYBOOK, changing, fleet_host_take_over=dead)
        last_words = done.last_words
        found |= {outcome.host: outcome for outcome in outcomes(changing, done)}
        bad = [host for host in changing if found[host].result not in ("new", "unchanged")]
        halted = f"not begun, because of {', '.join(bad)}" if bad else ""
    return Outcome(tuple(found[host] for host in hosts), steps, check, last_words)


def record_plan(
    tree: Tree, blueprint: Blueprint, settings: Settings, hosts: tuple[str, ...], on_event: Watch, sealed: NewestPlan
) -> Outcome:
    """Have hosts write down that a plan is the newest one they were given, though there is nothing to do."""
    rollout = Rollout(tree, options_of(settings, False, sealed), {}, on_event)
    done = rollout.run(BEGIN_PLAYBOOK, _hosts(blueprint, hosts), fleet_host_beginning="record")
    return Outcome(outcomes(hosts, done), (), False, done.last_words)


def options_of(
    settings: Settings, check: bool, sealed: NewestPlan | None, stated: Stated = _NOTHING_STATED
) -> RunOptions:
    """How to reach the hosts, as the settings say. Raises DeployError where the vault's password cannot be had."""
    password_file, password = vault_password(_absolute(settings.vault_password_file))
    variables: dict[str, Any] = {
        "fleet_host_run": this_run(),
        "fleet_host_clear": list(stated.clear),
        "fleet_host_renamed": list(stated.renamed),
    }
    if sealed:
        variables |= {"fleet_host_plan_created": sealed.created, "fleet_host_plan_seal": sealed.seal}
    return replace(
        reaching(settings),
        check=check,
        vault_file=_absolute(settings.vault_file),
        vault_password_file=password_file,
        vault_password=password,
        variables=variables,
    )


def _owner(host: str, begun: RunResult) -> object:
    """Who began the switch that has not ended on a host."""
    state = begun.answers.get(host, {}).get(BEGIN, {}).get("state")
    switch = state.get("switch") if isinstance(state, dict) else None
    return switch.get("owner") if isinstance(switch, dict) else None


def _answered(host: str, begun: RunResult) -> bool:
    """Whether a host said what there is to do."""
    answer = begun.answers.get(host, {}).get(BEGIN, {})
    return answer.get("format") == 1 and answer.get("ok") is True


def _begun(outcome: HostOutcome, ready: bool, answered: bool) -> HostOutcome:
    """A host of a rollout that changed nothing: a dry run, or one in which a host could not take part."""
    if outcome.result == "unchanged" or not answered:
        return outcome if outcome.result == "unchanged" else outcome._replace(result="old")
    if ready:
        return outcome._replace(result="new", reason="")
    return outcome._replace(result="old", reason="not begun, because another host cannot take part")


def _steps(host: str, begun: RunResult) -> list[Step]:
    answer = begun.answers.get(host, {}).get(BEGIN, {})
    found = []
    for step in answer.get("steps") or ():
        if isinstance(step, dict) and step.get("do") != "keep":
            found.append(Step(host, *(str(step.get(key, ""))[:200] for key in ("do", "node", "reason"))))
    return found


def _hosts(blueprint: Blueprint, limit: tuple[str, ...]) -> tuple[str, ...]:
    known = tuple(host.name for host in blueprint.in_order)
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
