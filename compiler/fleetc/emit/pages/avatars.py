"""The avatar stack of a host, its slots and who may call them, as a part of the page of that host.

In: a host. Out: a part of the view.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.blueprint.blueprint import FIREWALL_ALLOWLIST, POWER_ALLOWLIST, AvatarSlot, HostBlueprint, StackBlueprint
from fleetc.emit.pages.cells import cell, word
from fleetc.emit.templates import View, Word
from fleetc.emit.traced import Mark
from fleetc.language.effective_avatar import LOOPBACK_ADDRESSES
from fleetc.places.origin import given


def stack_view(host: HostBlueprint, mark: Mark) -> View:
    """The stack; without one, `stack` is empty."""
    avatar = host.avatar
    if avatar is None:
        return {"stack": ""}
    relay = Word(f"{avatar.relay[0]}-{avatar.relay[1]}") if avatar.relay is not None else ""
    cells = (cell(avatar.name), word(avatar.release), word(avatar.image_tag), relay, cell(avatar.checkout))
    return {
        "stack": mark(cells, given("avatars", avatar.name)),
        "slots": [_slot(slot, mark) for slot in avatar.slots],
        "images": [
            mark(
                (cell(image.service), cell(image.image) if image.image else ""),
                given("avatars", avatar.name),
                image.origin,
            )
            for image in avatar.images
        ],
        "callers": [*_callers(avatar, mark)],
        "stack_secrets": [
            mark((cell(secret.name), word(secret.kind), cell(secret.reference)), secret.origin)
            for secret in sorted(avatar.secrets)
        ],
    }


def _slot(slot: AvatarSlot, mark: Mark) -> object:
    """One slot; an unpublished game port and a network that Docker chooses are empty."""
    ports = dict(slot.ports)
    cells = (
        *(slot.number, cell(slot.avatar), word(slot.gpu), cell(slot.project)),
        *(ports["signaling"], ports["runner"], ports["recorder"], ports.get("game", "")),
        cell(slot.network) if slot.network else "",
    )
    return mark(cells, slot.origin)


def _callers(avatar: StackBlueprint, mark: Mark) -> Iterator[object]:
    """Each network that may call, and whether it can reach the ports and may put the host to sleep."""
    lists = {listed.file: listed.texts for listed in avatar.allowlists}
    ports, power = lists[FIREWALL_ALLOWLIST], lists[POWER_ALLOWLIST]
    for text in dict.fromkeys((*ports, *power)):
        # The packet filter passes what the host sends itself.
        own = text.partition("/")[0] in map(str, LOOPBACK_ADDRESSES)
        reaches, operates = "yes" if own or text in ports else "", "yes" if text in power else ""
        yield mark((cell(text), reaches, operates), given("avatars", avatar.name, "allow"))
