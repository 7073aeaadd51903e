"""The units of an avatar stack as processes of a sealed plan.

In: the host variables of a stack. Out: `ProcessState` values named as reviews name them (avatar/firewall, avatar/host,
avatar/turn, avatar/slot-NN). The program on the host names them in the same way.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fleetc.blueprint.blueprint import AVATAR_DIRECTORY
from fleetc.planner.data import ProcessState

FIREWALL = f"{AVATAR_DIRECTORY}/firewall"
HOST = f"{AVATAR_DIRECTORY}/host"
TURN = f"{AVATAR_DIRECTORY}/turn"
_SLOT = f"{AVATAR_DIRECTORY}/slot-"

_NO_TURN = hashlib.sha256(b"").hexdigest()
"""Digest of turn.env where the host has no TURN server: the file is empty."""


def is_unit(process: ProcessState) -> bool:
    """Whether a process is a unit of an avatar stack."""
    return process.node.startswith(f"{AVATAR_DIRECTORY}/")


def recorded_units(variables: Mapping[str, Any]) -> list[ProcessState]:
    """The units of the stack that host variables speak of, none without a stack.

    Raises KeyError or TypeError if the variables do not define the start of a stack.
    """
    slots = variables.get("fleet_host_stack_slots", [])
    if not slots:
        return []
    digests = {name: str(digest) for name, digest in variables["fleet_host_stack_digests"].items()}
    secrets = variables["fleet_host_stack_secrets"]
    of_host, of_turn = (secret_places([s for s in secrets if s["file"] == file]) for file in ("host", "turn"))
    units = [firewall_unit(digests["firewall"], None), *host_units(digests["host"], digests["turn"], None)]
    units = [replace(unit, secrets={HOST: of_host, TURN: of_turn}.get(unit.node, "")) for unit in units]
    for slot in slots:
        own = (str(slot["environment"]), str(slot["arguments"]))
        unit = slot_unit(str(slot["name"]), str(slot["project"]["__ansible_unsafe"]), own, digests["turn"], None)
        units.append(replace(unit, secrets=", ".join(text for text in (of_host, of_turn) if text)))
    return units


def secret_places(secrets: Sequence[Mapping[str, Any]]) -> str:
    """Where the secrets of host variables are read: variable, kind and reference of each, as one text."""
    places = []
    for secret in secrets:
        name, reference = (secret[key]["__ansible_unsafe"] for key in ("variable", "reference"))
        places.append(f"{name} {secret['kind']} {reference}")
    return ", ".join(sorted(places))


def firewall_unit(digest: str, running: bool | None) -> ProcessState:
    """The rules of the packet filter, which a unit of systemd loads."""
    return ProcessState(FIREWALL, digest, "systemd", running)


def host_units(host: str, turn: str, running: bool | None) -> list[ProcessState]:
    """The services of the host, and TURN where there is one. A start that was not completed is of the host alone."""
    units = [ProcessState(HOST, host, "docker", running)]
    if turn and turn != _NO_TURN:
        units.append(ProcessState(TURN, turn, "docker", running))
    return units


def slot_unit(name: str, project: str, own: Sequence[str], turn: str, running: bool | None) -> ProcessState:
    """A slot, such as "slot-00"; `own` are the digests of its environment and its Compose file."""
    digest = hashlib.sha256(" ".join(own).encode()).hexdigest() if all(own) else ""
    return ProcessState(f"{AVATAR_DIRECTORY}/{name}", digest, "docker", running, project=project, turn=turn)


def reads_elsewhere(then: ProcessState, wanted: ProcessState) -> bool:
    """Whether secrets are known to be read from another place. Whether their values differ, no plan can see."""
    return then.secrets is not None and wanted.secrets is not None and then.secrets != wanted.secrets
