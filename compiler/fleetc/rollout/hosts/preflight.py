"""Asks hosts what would keep their release from running there, and changes nothing.

In: a compiled tree, its blueprint, names of hosts, the tool's settings. Out: findings of all hosts, also unreachable
ones.
"""

from __future__ import annotations

from dataclasses import replace

from fleetc.blueprint.blueprint import Blueprint
from fleetc.emit.tree import Tree
from fleetc.rollout.findings import UNREACHABLE, HostFinding
from fleetc.rollout.hosts.begun import findings_in
from fleetc.rollout.hosts.gate import as_mapping, reason_of
from fleetc.rollout.hosts.rolling import Stated, Watch, hosts_of, options_of
from fleetc.rollout.hosts.runner import InterruptedRunError, RunResult, private_project, run_playbook
from fleetc.rollout.hosts.secret_commands import secret_values
from fleetc.settings import Settings

PREFLIGHT_PLAYBOOK = "preflight.yml"
TASK = "Ask the host what would keep its release from running"


def preflight(
    tree: Tree, blueprint: Blueprint, settings: Settings, limit: tuple[str, ...], on_event: Watch, stated: Stated
) -> tuple[HostFinding, ...]:
    """All findings of all hosts, or of those in `limit`, without skipped ones. Raises DeployError."""
    hosts = hosts_of(blueprint, limit)
    values = {} if settings.worker else secret_values(blueprint, hosts, settings)
    options = replace(options_of(settings, False, None, stated), limit=hosts)
    with private_project(tree) as project:
        try:
            run = run_playbook(project, PREFLIGHT_PLAYBOOK, options, values, on_event, (TASK,))
        except InterruptedRunError:
            raise KeyboardInterrupt from None
    skipped = {code for code, _ in stated.skip}
    return tuple(finding for host in hosts for finding in _of(host, run) if finding.code not in skipped)


def _of(host: str, run: RunResult) -> tuple[HostFinding, ...]:
    answer = as_mapping(run.answers.get(host, {}).get(TASK))
    if answer.get("format") == 1 and answer.get("ok") is True:
        return findings_in(host, answer)
    return (HostFinding(host, UNREACHABLE, reason_of(host, run) or "Ansible did not ask it"),)
