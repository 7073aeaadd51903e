"""A host registers with a payments service, but the spec lacks its address.

Why: without `payments.url`, the host's Compose file uses http://payments-backend:8081, a name that only exists in a
Docker network with the payments service. Everywhere else, the registration reaches nobody, and the host is not paid.

Example:

    [avatars.stage]
    slots = 2
    allow = ["payments"]
    payments = { addresses = ["203.0.113.90"] }
    registration = { id = "stage-1", address = "0x1111111111111111111111111111111111111111" }

Instead:

    [avatars.stage]
    slots = 2
    allow = ["payments"]
    payments = { addresses = ["203.0.113.90"], url = "http://203.0.113.90:8081" }
    registration = { id = "stage-1", address = "0x1111111111111111111111111111111111111111" }
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the stacks with a registration; another rule reports those without a payments service."""
    for stack in fleet.stacks:
        payments = stack.settings.payments
        if stack.settings.registration is not None and payments is not None and payments.url is None:
            yield warning(
                "payments-url-unsaid",
                f"{stack.name} registers with the payments service, but no field has its address",
                Label((*stack.path, "payments"), "no url", on_key=True),
                [Label((*stack.path, "registration"), "the registration", on_key=True)],
                'write payments.url, such as "http://203.0.113.90:8081"; or silence the warning if the '
                "host's Docker network has a payments-backend",
            )
