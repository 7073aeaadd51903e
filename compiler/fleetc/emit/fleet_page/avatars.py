"""Avatar stacks, their slots and who may call them as rows of `FLEET.md`.

In: the stack of a host. Out: rows for the template.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from fleetc.blueprint.blueprint import FIREWALL_ALLOWLIST, POWER_ALLOWLIST, AvatarSlot, HostBlueprint, StackBlueprint
from fleetc.emit.fleet_page.cells import cell, word
from fleetc.emit.templates import Encoded, Word


class SlotRow(NamedTuple):
    """One avatar slot; an empty game port is one that is not published, an empty network one that Docker chooses."""

    host: Encoded
    slot: int
    avatar: Encoded
    gpu: Word
    project: Encoded
    signaling: int
    runner: int
    recorder: int
    game: int | str
    network: str


def stack_row(host: HostBlueprint, avatar: StackBlueprint) -> tuple[object, ...]:
    relay = Word(f"{avatar.relay[0]}-{avatar.relay[1]}") if avatar.relay is not None else ""
    return (
        *(cell(avatar.name), cell(host.name), word(avatar.release), word(avatar.image_tag)),
        *(len(avatar.slots), relay, cell(avatar.checkout)),
    )


def slot_row(host: HostBlueprint, slot: AvatarSlot) -> SlotRow:
    ports = dict(slot.ports)
    return SlotRow(
        host=cell(host.name),
        slot=slot.number,
        avatar=cell(slot.avatar),
        gpu=word(slot.gpu),
        project=cell(slot.project),
        signaling=ports["signaling"],
        runner=ports["runner"],
        recorder=ports["recorder"],
        game=ports.get("game", ""),
        network=cell(slot.network) if slot.network else "",
    )


def image_rows(avatar: StackBlueprint) -> Iterator[tuple[object, ...]]:
    """Each service whose image follows no tag, with the image that it is pinned to, "" where it is not."""
    for image in avatar.images:
        yield cell(avatar.name), cell(image.service), cell(image.image) if image.image else ""


def caller_rows(host: HostBlueprint, avatar: StackBlueprint) -> Iterator[tuple[object, ...]]:
    """Each network that may call, and whether it reaches the ports and may put the host to sleep."""
    lists = {listed.file: listed.texts for listed in avatar.allowlists}
    ports, power = lists[FIREWALL_ALLOWLIST], lists[POWER_ALLOWLIST]
    for text in dict.fromkeys((*ports, *power)):
        yield cell(host.name), cell(text), "yes" if text in ports else "", "yes" if text in power else ""
