"""States of hosts: by a recorded tree, by the fleet, and the steps between.

In: files of a tree, a `HostState`. Out: states, and the steps that a rollout will take. These come from the program
that takes them: fleetc asks the same function of it as the host does.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from fleetc.blueprint.blueprint import AVATAR_DIRECTORY
from fleetc.emit.host_program import steps_in
from fleetc.emit.release import NOTHING, host_digest, releases_in
from fleetc.emit.tree import HOST_VARIABLES, MANIFEST, Artifact, Tree
from fleetc.planner.data import RECORDED, UNKNOWN, HostState, ProcessState, Step
from fleetc.planner.stacks import recorded_units, secret_places


class RecordError(ValueError):
    """A tree has no valid states: it is damaged, edited, or of another version of fleetc."""


def recorded_states(tree: Tree) -> dict[str, HostState]:
    """What each host of a tree runs once the tree has been rolled out, by host. Raises RecordError.

    Whether a process runs is not known from a tree.
    """
    releases = releases_in(tree)
    found = {}
    for artifact in _host_files(tree):
        state = recorded_state(artifact)
        if state.release != releases.get(state.host, NOTHING).host:
            raise RecordError(f"{artifact.path} does not name the files in hosts/{state.host}")
        found[state.host] = state
    return found


def recorded_places(tree: Tree) -> dict[str, tuple[str, int]]:
    """Address and SSH port of each host of a tree, by host: which machine its name means. Raises RecordError."""
    return {_host_of(artifact): recorded_place(artifact) for artifact in _host_files(tree)}


def release_in(tree: Tree, host: str) -> str:
    """The digest of the release that a compiled tree has for a host."""
    return _release_in(json.loads(tree.as_mapping()[f"{HOST_VARIABLES}{host}.json"].content))


def _release_in(variables: Mapping[str, Any]) -> str:
    """The digest of a host's release, from those of its nodes and of its avatar stack, running or not."""
    listed = (*variables["fleet_host_services"], *variables.get("fleet_host_out", ()))
    digests = {str(one["name"]["__ansible_unsafe"]): str(one["digest"]) for one in listed}
    stack = variables.get("fleet_host_stack_digests")
    return host_digest(digests | ({AVATAR_DIRECTORY: str(stack["stack"])} if stack else {}))


def _host_files(tree: Tree) -> Iterator[Artifact]:
    digests = _manifest_digests(tree)
    for artifact in tree.artifacts:
        if artifact.path.startswith(HOST_VARIABLES):
            if digests.get(artifact.path) not in ("", artifact.sha256):  # those of several nodes have none
                raise RecordError(f"{artifact.path} is not what the manifest lists")
            yield artifact


def _host_of(artifact: Artifact) -> str:
    return artifact.path.removeprefix(HOST_VARIABLES).removesuffix(".json")


def _manifest_digests(tree: Tree) -> dict[str, str]:
    try:
        listed = json.loads(tree.as_mapping()[MANIFEST].content)["files"]
        return {file["path"]: file.get("sha256", "") for file in listed}
    except (ValueError, KeyError, TypeError, AttributeError) as failure:
        raise RecordError(f"{MANIFEST} does not list its files") from failure


def recorded_place(artifact: Artifact) -> tuple[str, int]:
    """Address and SSH port of the host of one file of a tree. Raises RecordError."""
    try:
        variables = json.loads(artifact.content)
        return str(variables["ansible_host"]["__ansible_unsafe"]), int(variables["ansible_port"])
    except (ValueError, KeyError, TypeError) as failure:
        raise RecordError(f"{artifact.path} has no address of the host") from failure


def recorded_state(artifact: Artifact) -> HostState:
    """What the host of one file of a tree runs once the tree has been rolled out. Raises RecordError."""
    host = _host_of(artifact)
    try:
        variables = json.loads(artifact.content)
        runtime = str(variables["fleet_host_runtime"])
        processes = [
            ProcessState(
                str(service["name"]["__ansible_unsafe"]),
                str(service["digest"]),
                runtime,
                None,
                secrets=secret_places(service["secrets"]),
                rest=str(service["rest"]),
                live=_settings(service["live"]),
                silent=_settings(service["silent"]),
                exclusive=_settings(service.get("exclusive", [])),
            )
            for service in variables["fleet_host_services"]
        ]
        processes += recorded_units(variables)
        release = _release_in(variables)
    except (ValueError, KeyError, TypeError, AttributeError) as failure:
        raise RecordError(f"{artifact.path} has no state of the host") from failure
    return HostState(host, RECORDED, release, in_order(processes))


def recorded_out(artifact: Artifact) -> dict[str, str]:
    """Until when and why nodes of the host of one file of a tree are out of service."""
    listed = json.loads(artifact.content).get("fleet_host_out", ())
    return {one["name"]["__ansible_unsafe"]: one["why"]["__ansible_unsafe"] for one in listed}


def _settings(listed: Iterable[Any]) -> tuple[str, ...]:
    """Settings such as maxSessions=8; those with free text in them are marked for Ansible."""
    return tuple(str(text["__ansible_unsafe"] if isinstance(text, dict) else text) for text in listed)


def in_order(processes: Iterable[ProcessState]) -> tuple[ProcessState, ...]:
    """Processes as a state of a host has them."""
    return tuple(sorted(processes, key=lambda process: (process.node, process.project)))


def with_places_of_secrets(observed: HostState, recorded: HostState) -> HostState:
    """A host's answer, with the places of secrets of its processes, which only their tree has."""
    places = {(p.node, p.project, p.digest, p.turn): p.secrets for p in recorded.processes}
    processes = (replace(p, secrets=places.get((p.node, p.project, p.digest, p.turn))) for p in observed.processes)
    return replace(observed, processes=tuple(processes))


def is_reached(now: HostState, wanted: HostState) -> bool:
    """Whether a host already runs what is wanted, all of it and nothing else."""
    if now.known == UNKNOWN or now.release != wanted.release:
        return False
    has, gets = (
        [(p.node, p.runtime, p.project, p.digest, p.turn) for p in state.processes] for state in (now, wanted)
    )  # running or not
    return has == gets and not any(process.against for process in now.processes)


def steps_between(
    program: bytes,
    now: HostState,
    wanted: HostState,
    live: str = "try",
    order: Sequence[str] = (),
    out: Mapping[str, str] = {},
) -> tuple[Step, ...]:
    """The steps that bring a host from what it runs `now` to what is wanted, as the program on the host takes them.

    `live` is the mode for changes of running nodes: try, only or never; `order` names the nodes in the order of start,
    and `out` has until when and why nodes are out of service.
    """
    place = {name: number for number, name in enumerate(order)}
    before = None if now.known == UNKNOWN else _plain(now.release, now.processes)
    after = _plain(wanted.release, sorted(wanted.processes, key=lambda process: place.get(process.node, len(place))))
    return tuple(Step(**step) for step in steps_in(program)(before, after | {"live": live, "out": dict(out)}))


def _plain(release: str, processes: Iterable[ProcessState]) -> dict[str, Any]:
    """A state as the program has it."""
    return {"release": release, "processes": [asdict(process) for process in processes]}
