"""Two slots have the same avatar id, or two slots of a host the same number.

Why: the id names the Compose project and the directories of the slot, in lower case, so one host cannot have it twice.
The matchmaker of an edge knows slots by their ids, so two hosts behind one edge cannot either. If two hosts do not say
which edge they have, it is a warning. The number decides a slot's ports, network and file, so the second slot with it
cannot start.

Example:

    [avatars.stage]
    slots = [{ avatar = "mira" }, { avatar = "Mira" }]

Instead:

    [avatars.stage]
    slots = [{ avatar = "mira" }, { avatar = "noor" }]
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address
from typing import NamedTuple

from fleetc.language import effective_avatar
from fleetc.language.effective_avatar import SlotInForce
from fleetc.language.fleet import Fleet, Stack
from fleetc.places.diagnostic import Diagnostic, Label, error, warning

_CODE = "slot-used-twice"


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare the numbers and ids of all slots on each host, and the ids over the hosts."""
    anywhere: dict[str, _Holders] = {}
    for stack in fleet.stacks:
        yield from _numbers(fleet, stack)
        here: dict[str, SlotInForce] = {}
        for slot in effective_avatar.slots_of(fleet, stack):
            before = here.setdefault(slot.slug, slot)
            if before is not slot:
                yield _on_one_host(stack, before, slot)
                continue
            yield from anywhere.setdefault(slot.avatar, _Holders()).add(_Holder(stack, slot))


def _numbers(fleet: Fleet, stack: Stack) -> Iterator[Diagnostic]:
    """Numbers that are written twice; the others are chosen to be different."""
    slots = effective_avatar.slots_of(fleet, stack)
    taken = {slot.number for slot in slots}
    first: dict[int, SlotInForce] = {}
    for slot in slots:
        before = first.setdefault(slot.number, slot)
        if before is not slot:
            free = next(number for number in range(len(taken) + 1) if number not in taken)
            taken.add(free)
            yield error(
                _CODE,
                f"{before.avatar} and {slot.avatar} of {stack.name} both have slot {slot.number}",
                Label((*slot.path, "slot"), slot.avatar),
                [Label((*before.path, "slot"), before.avatar)],
                f"write slot = {free} for one of them, or remove the number",
            )


class _Holder(NamedTuple):
    """A slot with some avatar id, and its stack."""

    stack: Stack
    slot: SlotInForce


class _Holders:
    """The slots of all hosts with the same avatar id, by what is known about their edges.

    Each new slot is reported once: with a slot on the same edge, else with one that may be. It is found by the edge, so
    the time does not grow with the square of the hosts.
    """

    def __init__(self) -> None:
        self._by_address: dict[IPv4Address, _Holder] = {}
        self._by_control_plane: dict[str, _Holder] = {}
        self._first: _Holder | None = None
        self._without_address: _Holder | None = None

    def add(self, holder: _Holder) -> Iterator[Diagnostic]:
        """Report the slot with an earlier one, and keep it for later ones."""
        edge = holder.stack.settings.edge
        addresses = edge.addresses if edge is not None else ()
        control_plane = str(edge.url) if edge is not None and edge.url is not None else None
        meets = [self._by_address[address] for address in addresses if address in self._by_address]
        if control_plane in self._by_control_plane:
            meets.insert(0, self._by_control_plane[control_plane])
        uncertain = self._without_address if addresses else self._first
        if meets:
            yield _on_two_hosts(meets[0], holder, one_edge=True)
        elif uncertain is not None:
            yield _on_two_hosts(uncertain, holder, one_edge=False)
        for address in addresses:
            self._by_address.setdefault(address, holder)
        if control_plane is not None:
            self._by_control_plane.setdefault(control_plane, holder)
        if not addresses:
            self._without_address = self._without_address or holder
        self._first = self._first or holder


def _on_one_host(stack: Stack, before: SlotInForce, slot: SlotInForce) -> Diagnostic:
    same = f'{stack.name} has the avatar id "{slot.avatar}" twice'
    if before.avatar != slot.avatar:
        same = f'"{before.avatar}" and "{slot.avatar}" of {stack.name} differ only in case: both are {slot.project}'
    return error(
        _CODE,
        same,
        Label((*slot.path, "avatar"), f"slot {slot.number}"),
        [Label((*before.path, "avatar"), f"slot {before.number}")],
        f'give one of them another id, such as "{slot.slug}-{slot.number}"',
    )


def _on_two_hosts(before: _Holder, holder: _Holder, *, one_edge: bool) -> Diagnostic:
    (other, elsewhere), (stack, slot) = before, holder
    report = error if one_edge else warning
    listed = isinstance(slot.path[-1], int)
    return report(
        _CODE,
        f'{other.name} and {stack.name} both have the avatar id "{slot.avatar}"'
        + (" and share an edge" if one_edge else ", and nothing says that they have different edges"),
        Label((*slot.path, "avatar") if listed else slot.path, stack.name),
        [Label((*elsewhere.path, "avatar") if isinstance(elsewhere.path[-1], int) else elsewhere.path, other.name)],
        f'give one of them another id, such as "{slot.slug}-{stack.name}"',
    )
