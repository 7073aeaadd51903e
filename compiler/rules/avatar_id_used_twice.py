"""Two slots have one avatar id.

Why: the id names the Compose project and the directories of the slot, in lower case, so one host cannot have it twice.
The matchmaker of an edge knows slots by their ids, so two hosts behind one edge cannot either. Where two hosts do not
say which edge they have it is a warning.

Example:

    [avatars.stage]
    slots = [{ avatar = "mira" }, { avatar = "Mira" }]

Instead:

    [avatars.stage]
    slots = [{ avatar = "mira" }, { avatar = "noor" }]
"""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Diagnostic, Label, error, warning
from compiler.model import effective_avatar
from compiler.model.effective_avatar import SlotInForce
from compiler.model.fleet import Fleet, Stack


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare the ids of all slots: first on each host, then over the hosts."""
    anywhere: dict[str, tuple[Stack, SlotInForce]] = {}
    for stack in fleet.stacks:
        here: dict[str, SlotInForce] = {}
        for slot in effective_avatar.slots_of(fleet, stack):
            before = here.setdefault(slot.slug, slot)
            if before is not slot:
                yield _on_one_host(stack, before, slot)
                continue
            other, elsewhere = anywhere.setdefault(slot.slug, (stack, slot))
            if other is not stack and elsewhere.avatar == slot.avatar:
                yield from _on_two_hosts(other, elsewhere, stack, slot)


def _on_one_host(stack: Stack, before: SlotInForce, slot: SlotInForce) -> Diagnostic:
    same = f'the avatar id "{slot.avatar}" stands twice in {stack.name}'
    if before.avatar != slot.avatar:
        same = f'"{before.avatar}" and "{slot.avatar}" of {stack.name} differ in case only: both are {slot.project}'
    return error(
        "avatar-id-used-twice",
        same,
        Label((*slot.path, "avatar"), f"slot {slot.number}"),
        [Label((*before.path, "avatar"), f"slot {before.number}")],
        f'give one of them another id, such as "{slot.slug}-{slot.number}"',
    )


def _on_two_hosts(other: Stack, elsewhere: SlotInForce, stack: Stack, slot: SlotInForce) -> Iterator[Diagnostic]:
    same_edge = _one_edge(other, stack)
    if same_edge is False:
        return
    report = error if same_edge else warning
    listed = isinstance(slot.path[-1], int)
    yield report(
        "avatar-id-used-twice",
        f'the avatar id "{slot.avatar}" stands in {other.name} and in {stack.name}'
        + (", which have one edge" if same_edge else ", and nothing says that they have different edges"),
        Label((*slot.path, "avatar") if listed else slot.path, stack.name),
        [Label((*elsewhere.path, "avatar") if isinstance(elsewhere.path[-1], int) else elsewhere.path, other.name)],
        f'give one of them another id, such as "{slot.slug}-{stack.name}"',
    )


def _one_edge(one: Stack, other: Stack) -> bool | None:
    """Whether two stacks have one edge; None where that cannot be told."""
    first, second = one.settings.edge, other.settings.edge
    if first is None or second is None:
        return None
    if first.url is not None and second.url is not None and first.url == second.url:
        return True
    if not first.addresses or not second.addresses:
        return None
    return bool(set(first.addresses) & set(second.addresses))
