"""The units of an avatar stack as processes of a sealed plan, and what a rollout does with each.

In: what host variables say of a stack, or what its markers on the host say, and two states of a host. Out: `Process`es
named as reviews name them (avatar/firewall, avatar/host, avatar/turn, avatar/slot-NN), and `Action`s. The order and the
conditions are those of `fleet_avatar`: when the role changes, this changes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fleetc.blueprint.blueprint import AVATAR_DIRECTORY
from fleetc.rollout.plan.data import Action, HostState, Process

FIREWALL = f"{AVATAR_DIRECTORY}/firewall"
HOST = f"{AVATAR_DIRECTORY}/host"
TURN = f"{AVATAR_DIRECTORY}/turn"
_SLOT = f"{AVATAR_DIRECTORY}/slot-"

HOST_PROJECT = "vtuber-host"
"""The Compose project of the host's own services, TURN among them."""

_NO_TURN = hashlib.sha256(b"").hexdigest()
"""Digest of turn.env where the host has no TURN server: the file is empty."""


def is_unit(process: Process) -> bool:
    """Whether a process is a unit of an avatar stack."""
    return process.node.startswith(f"{AVATAR_DIRECTORY}/")


# --- what there is ----------------------------------------------------------------------------------


def recorded_units(variables: Mapping[str, Any]) -> list[Process]:
    """The units of the stack that host variables speak of, none without a stack.

    Raises KeyError or TypeError where the variables do not say what a stack is started from.
    """
    slots = variables.get("fleet_avatar_slots", [])
    if not slots:
        return []
    digests = {name: str(digest) for name, digest in variables["fleet_avatar_digests"].items()}
    secrets = variables["fleet_avatar_secrets"]
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
    found = []
    for secret in secrets:
        name, reference = (secret[key]["__ansible_unsafe"] for key in ("variable", "reference"))
        found.append(f"{name} {secret['kind']} {reference}")
    return ", ".join(sorted(found))


def observed_units(markers: Sequence[str], projects: set[str] | None, filtered: bool | None) -> list[Process]:
    """The units that lines about markers speak of: the name of the marker, then the digests that it holds.

    `projects` are Compose projects that have containers, `filtered` says whether the packet filter has the table of the
    stack; None where nobody could tell. Raises ValueError where a line has no name.
    """
    units = []
    for line in markers:
        name, *words = line.split()
        digests = [word for word in words if _is_digest(word)]
        if name == "firewall":
            units.append(firewall_unit(_sole(digests), filtered))
        elif name == "host":
            host, turn = digests if len(digests) == 2 else ("", "")
            units += host_units(host, turn, None if projects is None else HOST_PROJECT in projects)
        elif name.startswith("slot-"):
            slot, _, project = name.partition(".")
            *own, turn = digests if len(digests) == 3 else ("", "", "")
            running = None if projects is None else project in projects
            units.append(slot_unit(slot, project, own, turn, running))
    return units


def _is_digest(word: str) -> bool:
    return len(word) == 64 and set(word) <= set("0123456789abcdef")


def _sole(digests: Sequence[str]) -> str:
    return digests[0] if len(digests) == 1 else ""


def firewall_unit(digest: str, running: bool | None) -> Process:
    """The rules of the packet filter, which a unit of systemd loads."""
    return Process(FIREWALL, digest, "systemd", running)


def host_units(host: str, turn: str, running: bool | None) -> list[Process]:
    """The services of the host, and TURN where there is one. A start that was not completed is of the host alone."""
    units = [Process(HOST, host, "docker", running)]
    if turn and turn != _NO_TURN:
        units.append(Process(TURN, turn, "docker", running))
    return units


def slot_unit(name: str, project: str, own: Sequence[str], turn: str, running: bool | None) -> Process:
    """A slot, such as "slot-00"; `own` are the digests of its environment and its Compose file."""
    digest = hashlib.sha256(" ".join(own).encode()).hexdigest() if all(own) else ""
    return Process(f"{AVATAR_DIRECTORY}/{name}", digest, "docker", running, project=project, turn=turn)


# --- what leads from one to the other ---------------------------------------------------------------


def stack_actions(now: HostState, wanted: HostState) -> Iterator[Action]:
    """The steps that bring the stack of a host from what it runs now to what is wanted.

    Slots that are gone or moved stop first, so that their ports are free; then come the packet filter, the services of
    the host, and each slot by its number. A stack without slots is taken down whole.
    """
    units = [process for process in wanted.processes if is_unit(process)]
    there = {(process.node, process.project): process for process in now.processes if is_unit(process)}
    kept = {(unit.node, unit.project) for unit in units}
    gone = [process for key, process in sorted(there.items()) if key not in kept]
    for process in gone:
        if process.node.startswith(_SLOT):
            yield Action("retire", process.node, "", _why_gone(process, units))
    firewall = [unit for unit in units if unit.node == FIREWALL]
    yield from (_unit_action(unit, there) for unit in firewall)
    for node in (TURN, HOST, FIREWALL):
        if any(process.node == node for process in gone):
            yield Action("retire", node, "", "has no place here any more")
    rest = (unit for unit in units if unit not in firewall)
    yield from (_unit_action(unit, there) for unit in sorted(rest, key=_place))


def _place(unit: Process) -> tuple[bool, str]:
    """The services of the host and TURN before slots; each in the order of their names."""
    return unit.node.startswith(_SLOT), unit.node


def _why_gone(process: Process, units: Sequence[Process]) -> str:
    moved = [unit.node for unit in units if unit.project == process.project]
    taken = [unit.project for unit in units if unit.node == process.node]
    if moved:
        return f"{process.project} moves to {moved[0]}"
    return f"{process.project} gives way to {taken[0]}" if taken else f"{process.project} has no place here any more"


def _unit_action(unit: Process, units: Mapping[tuple[str, str], Process]) -> Action:
    """One unit, where `units` is what the host has. One that sleeps counts as running: it is left asleep."""
    there, host = units.get((unit.node, unit.project)), units.get((HOST, ""))
    if unit.node == TURN and there is None and host is not None and not host.digest:
        return Action("restart", TURN, unit.digest, "its last start was not completed")
    action = start_action(unit, there)
    if action.do in ("keep", "ensure") and there is not None and there.turn != unit.turn:
        return Action(
            "restart", unit.node, unit.digest, "the settings of TURN change, which signaling and recorder read"
        )
    return action


def start_action(wanted: Process, there: Process | None) -> Action:
    """What a rollout does to run `wanted` where `there` is what the host has of it."""
    node, digest = wanted.node, wanted.digest
    if there is None:
        return Action("start", node, digest, "is new here")
    if there.running is False:
        return Action("start", node, digest, "does not run")
    if not there.digest:
        return Action("restart", node, digest, "its last start was not completed")
    if there.digest != digest:
        return Action("restart", node, digest, "its files change")
    if reads_elsewhere(there, wanted):
        return Action("ensure", node, digest, "its secrets are read elsewhere")
    return Action("keep", node, digest)


def reads_elsewhere(then: Process, wanted: Process) -> bool:
    """Whether secrets are known to be read from another place. Whether their values differ, no plan can see."""
    return then.secrets is not None and wanted.secrets is not None and then.secrets != wanted.secrets
