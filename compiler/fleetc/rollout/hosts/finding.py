"""Asks a host for all running nodes, and marks those that a rollout shall keep.

In: a compiled tree, a host of it, the tool's settings. Out: the answer of the program on the host, as bounded data.
Secrets stay there: the program puts a number in the place of each. `adopt/` makes processes of the answer. No process
is touched by either.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fleetc.disk.manifest import FilesError
from fleetc.emit.tree import Tree
from fleetc.rollout.hosts.gate import as_mapping, reason_of
from fleetc.rollout.hosts.rolling import Watch
from fleetc.rollout.hosts.runner import ask_playbook, private_project, reaching
from fleetc.settings import Settings
from fleetc.upstream import FLAGS

FIND_PLAYBOOK = "find.yml"
TASK = "Find the node processes of the host"
TAKE_PLAYBOOK = "take.yml"
TAKE_TASK = "Write down which nodes run as their releases want"
FILES = (
    "config", "aiModels", "transcodingOptions", "pricePerGateway", "pricePerBroadcaster", "maxPricePerCapability",
    "aiRunnerImageOverrides", "aiMinRunnerVersion", "liveRunnerConfig",
)  # fmt: skip
"""Flags that may name a file that a spec needs. None of them names a keystore or a file with a password."""
ROLES = ("gateway", "broadcaster", "orchestrator", "transcoder", "aiWorker", "remoteSigner", "redeemer")
_LIMIT = 32 * 1024 * 1024

READS = (
    "processes of livepeer, or with its flags: arguments, variables, user and directory (/proc)",
    "the unit or the container of each: systemctl show and the unit's files, docker container inspect",
    f"files that these flags name, if they are JSON or settings: {', '.join(f'-{flag}' for flag in FILES)}",
    "no keystore or password file; secrets never leave the host, which sends a number for each",
)
"""What the program on a host reads, for the question before."""


def find(tree: Tree, hosts: Sequence[str], settings: Settings, on_event: Watch) -> dict[str, Mapping[str, Any]]:
    """What runs on each host, by name. It needs no secret and reads none.

    Raises FilesError where a host does not answer.
    """
    wanted = {
        "types": {name: flag.type for name, flag in FLAGS.items()},
        "secret": sorted(name for name, flag in FLAGS.items() if flag.secret),
        "files": [flag for flag in FILES if flag in FLAGS],
        "roles": list(ROLES),
    }
    answers = _asked(tree, hosts, settings, on_event, FIND_PLAYBOOK, TASK, {"fleet_host_find": wanted})
    for host, answer in answers.items():
        if len(json.dumps(answer, default=str)) > _LIMIT:
            raise _unread(host, "its answer is too long")
    return answers


def take(tree: Tree, host: str, processes: Mapping[str, str], settings: Settings, on_event: Watch) -> None:
    """Have a host know which of its processes are as good as the releases of their nodes in a tree.

    `processes` has by node what the host calls its process. Raises FilesError if the host refuses; then none is marked.
    """
    nodes = {"nodes": sorted(processes), "processes": dict(processes)}
    _asked(tree, (host,), settings, on_event, TAKE_PLAYBOOK, TAKE_TASK, {"fleet_host_take": nodes})


def _asked(
    tree: Tree, hosts: Sequence[str], settings: Settings, on_event: Watch, playbook: str, task: str,
    variables: dict[str, Any],
) -> dict[str, Mapping[str, Any]]:  # fmt: skip
    """What each host answers in the one task of a playbook. Raises FilesError where one gives no answer."""
    options = replace(reaching(settings, tuple(hosts)), variables=variables)
    with private_project(tree) as project:
        run = ask_playbook(project, playbook, options, on_event, task)
    answers = {host: as_mapping(run.answers.get(host, {}).get(task)) for host in hosts}
    for host, answer in answers.items():
        if answer.get("format") != 1 or answer.get("ok") is not True:
            last = run.last_words[-1] if run.last_words else "Ansible did not ask it"
            raise _unread(host, reason_of(host, run) or last)
    return answers


def _unread(host: str, reason: str) -> FilesError:
    return FilesError(
        "adopt-host-unread", f"host {host} does not answer: {reason}", path=host,
        advice="see that ssh reaches it as the user who may read all processes; fleetc explain adopt-host-unread",
        exit_code=3,
    )  # fmt: skip
