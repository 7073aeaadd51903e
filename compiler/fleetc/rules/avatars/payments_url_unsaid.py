"""A host registers with a payments service whose address is not written.

Why: without `payments.url` the Compose file of the host takes http://payments-backend:8081, a name that only a Docker
network with the payments service on it knows. Everywhere else the registration calls nobody, and the host is not paid.

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
    """Look at the stacks with a registration; one without a payments service is another rule's."""
    for stack in fleet.stacks:
        payments = stack.settings.payments
        if stack.settings.registration is not None and payments is not None and payments.url is None:
            yield warning(
                "payments-url-unsaid",
                f"{stack.name} registers with the payments service, and nothing says at which address",
                Label((*stack.path, "payments"), "no url", on_key=True),
                [Label((*stack.path, "registration"), "the registration", on_key=True)],
                'write payments.url, such as "http://203.0.113.90:8081"; or silence the warning where the '
                "Docker network of the host has a payments-backend",
            )
