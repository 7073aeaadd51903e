"""TURN or a registration has no address that others can use.

Why: TURN sends viewers an IP address. Without one it sends 0.0.0.0, and viewers do not understand a name. The payments
service finds a host by the address in its health report, which must be public.

Example:

    [hosts.gpu]
    address = "203.0.113.20"

    [avatars.stage]
    host = "gpu"
    slots = 2
    turn = { user = { env = "TURN_USER" }, password = { env = "TURN_PASSWORD" } }

Instead:

    [hosts.gpu]
    address = "203.0.113.20"
    public = "203.0.113.20"

    [avatars.stage]
    host = "gpu"
    slots = 2
    turn = { user = { env = "TURN_USER" }, password = { env = "TURN_PASSWORD" } }
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective_avatar
from fleetc.language.fleet import Fleet, Stack
from fleetc.language.quantities import QuantityError, parse_ip
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the addresses that each stack gives to others."""
    for stack in fleet.stacks:
        if stack.settings.turn is not None:
            yield from _turn(fleet, stack)
        if stack.settings.registration is not None and effective_avatar.public_address(fleet, stack) is None:
            yield error(
                "turn-address-unknown",
                f"the registration of {stack.name} has no address at which others can reach the host",
                Label((*stack.path, "registration"), "the registration", on_key=True),
                help=f'write public = "203.0.113.20" in hosts.{stack.settings.host}, with its public address',
            )


def _turn(fleet: Fleet, stack: Stack) -> Iterator[Diagnostic]:
    found = effective_avatar.turn_address(fleet, stack)
    form = f'write turn.address = "203.0.113.20" in avatars.{stack.name}, with the IP address that viewers reach'
    if found is None:
        yield error(
            "turn-address-unknown",
            f"no field has the address at which viewers reach TURN of {stack.name}",
            Label((*stack.path, "turn"), "no address", on_key=True),
            help=form,
        )
        return
    try:
        parse_ip(found.value)
    except QuantityError:
        yield error(
            "turn-address-unknown",
            f"TURN of {stack.name} needs an IP address, but {found.value} is a name",
            Label((*stack.path, "turn"), "TURN", on_key=True),
            [Label(found.origin.paths[0], "the name")],
            form,
        )
