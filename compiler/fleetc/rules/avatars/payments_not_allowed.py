"""The payments service may not call a host that works for it.

Why: it asks for the state of the host, puts it to sleep and wakes it, upgrades it and starts recordings. A host that
does not know its address refuses every call. The word "payments" in `allow` puts its addresses into every allowlist in
the right notation. A wide network is not enough: runners and recorders compare whole addresses.

Example:

    [avatars.stage]
    slots = 2
    allow = ["198.51.100.7"]
    payments = { addresses = ["203.0.113.90"] }

Instead:

    [avatars.stage]
    slots = 2
    allow = ["payments", "198.51.100.7"]
    payments = { addresses = ["203.0.113.90"] }
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network

from fleetc.language import effective_avatar
from fleetc.language.avatar_fields import PAYMENTS
from fleetc.language.fleet import Fleet, Stack
from fleetc.language.quantities import IpAddress
from fleetc.places.diagnostic import Diagnostic, Label, error, warning

_FORM = 'write payments = { addresses = ["203.0.113.90"] } with the addresses that its calls come from'


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the allowlist of each stack."""
    for stack in fleet.stacks:
        settings = stack.settings
        if settings.payments is not None:
            yield from _addresses(stack, settings.payments.addresses)
        elif PAYMENTS in settings.allow:
            yield error(
                "payments-not-allowed",
                f"{stack.name} allows the payments service, but no field has its address",
                Label((*stack.path, "allow", settings.allow.index(PAYMENTS)), "which addresses?"),
                help=_FORM,
            )
        elif settings.registration is not None:
            yield error(
                "payments-not-allowed",
                f"{stack.name} registers with the payments service, which may not call it",
                Label((*stack.path, "registration"), "the registration", on_key=True),
                help=f'{_FORM}, and allow = ["{PAYMENTS}"]',
            )
        elif settings.allow:
            yield warning(
                "payments-not-allowed",
                f"no payments service may call {stack.name}",
                Label((*stack.path, "allow"), "it is not named here"),
                help=f'{_FORM}, and "{PAYMENTS}" in allow; if the host has no payments service, silence the warning',
            )


def _addresses(stack: Stack, addresses: tuple[IpAddress, ...]) -> Iterator[Diagnostic]:
    if PAYMENTS in stack.settings.allow:
        return
    allowed = effective_avatar.allowed(stack)
    for index, address in enumerate(addresses):
        covering = [a for a in allowed if a.network.version == address.version and address in a.network]
        if any(a.addresses for a in covering):
            continue
        own = ip_network(address)
        only = f"only by {covering[0].network}, too wide for runners and recorders" if covering else "by nothing"
        yield error(
            "payments-not-allowed",
            f"{own.network_address} of the payments service is allowed {only} in {stack.name}",
            Label((*stack.path, "payments", "addresses", index), "the payments service"),
            [Label((*stack.path, "allow"), "the allowlist")] if stack.settings.allow else [],
            f'write "{PAYMENTS}" into allow of avatars.{stack.name}',
        )
