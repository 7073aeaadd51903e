"""Two hosts register with the same id, or one account registers with two ids.

Why: the payments service binds one account to one id, for one host. It refuses the second registration, and the host
reads that answer as "already registered": it looks fine and earns nothing.

Example:

    [avatars.stage]
    slots = 2
    registration = { id = "stage-1", address = "0x1111111111111111111111111111111111111111" }

    [avatars.studio]
    slots = 2
    registration = { id = "stage-2", address = "0x1111111111111111111111111111111111111111" }

Instead:

    [avatars.stage]
    slots = 2
    registration = { id = "stage-1", address = "0x1111111111111111111111111111111111111111" }

    [avatars.studio]
    slots = 2
    registration = { id = "stage-2", address = "0x2222222222222222222222222222222222222222" }
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective_avatar
from fleetc.language.fleet import Fleet, Stack
from fleetc.places.diagnostic import Diagnostic, Label, Path, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare the ids and the accounts of all registrations."""
    ids: dict[str, Stack] = {}
    accounts: dict[str, tuple[Stack, Path]] = {}
    for stack in fleet.stacks:
        if stack.settings.registration is None:
            continue
        name = stack.settings.registration.id
        before = ids.setdefault(name, stack)
        if before is not stack:
            yield error(
                "registration-used-twice",
                f'{before.name} and {stack.name} both register as "{name}"',
                Label((*stack.path, "registration", "id"), "again"),
                [Label((*before.path, "registration", "id"), "first here")],
                "give each host its own id",
            )
        account = effective_avatar.account(fleet, stack)
        if account is None:
            continue
        path = account.origin.paths[0]
        other, place = accounts.setdefault(str(account.value), (stack, path))
        if other is not stack:
            yield error(
                "registration-used-twice",
                f"{other.name} and {stack.name} both register the account {account.value}",
                Label(path, "again"),
                [Label(place, "first here")],
                "give each host its own account",
            )
