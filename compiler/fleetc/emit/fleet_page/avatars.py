"""Avatar stacks, their slots and who may call them as rows of `FLEET.md`.

In: the stack of a host. Out: rows for the template.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.blueprint.blueprint import FIREWALL_ALLOWLIST, POWER_ALLOWLIST, AvatarSlot, HostBlueprint, StackBlueprint
from fleetc.emit.fleet_page.cells import cell, word
from fleetc.emit.templates import Word
from fleetc.emit.traced import Mark
from fleetc.language.effective_avatar import LOOPBACK_ADDRESSES
from fleetc.places.origin import given


def stack_row(host: HostBlueprint, avatar: StackBlueprint, mark: Mark) -> object:
    """One stack; the relay ports are empty without TURN."""
    relay = Word(f"{avatar.relay[0]}-{avatar.relay[1]}") if avatar.relay is not None else ""
    cells = (
        *(cell(avatar.name), cell(host.name), word(avatar.release), word(avatar.image_tag)),
        *(len(avatar.slots), relay, cell(avatar.checkout)),
    )
    return mark(cells, given("avatars", avatar.name))


def slot_row(host: HostBlueprint, slot: AvatarSlot, mark: Mark) -> object:
    """One slot; an unpublished game port and a network that Docker chooses are empty."""
    ports = dict(slot.ports)
    cells = (
        *(cell(host.name), slot.number, cell(slot.avatar), word(slot.gpu), cell(slot.project)),
        *(ports["signaling"], ports["runner"], ports["recorder"], ports.get("game", "")),
        cell(slot.network) if slot.network else "",
    )
    return mark(cells, slot.origin)


def image_rows(avatar: StackBlueprint, mark: Mark) -> Iterator[object]:
    """Each service without a release tag, with its pinned image or ""."""
    for image in avatar.images:
        pinned = cell(image.image) if image.image else ""
        yield mark((cell(avatar.name), cell(image.service), pinned), given("avatars", avatar.name), image.origin)


def caller_rows(host: HostBlueprint, avatar: StackBlueprint, mark: Mark) -> Iterator[object]:
    """Each network that may call, and whether it can reach the ports and may put the host to sleep."""
    lists = {listed.file: listed.texts for listed in avatar.allowlists}
    ports, power = lists[FIREWALL_ALLOWLIST], lists[POWER_ALLOWLIST]
    for text in dict.fromkeys((*ports, *power)):
        own = text.partition("/")[0] in map(
            str, LOOPBACK_ADDRESSES
        )  # the packet filter passes what the host sends itself
        reaches, operates = "yes" if own or text in ports else "", "yes" if text in power else ""
        yield mark((cell(host.name), cell(text), reaches, operates), given("avatars", avatar.name, "allow"))
