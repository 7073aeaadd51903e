"""A signer asks a webhook about each payment, and a gateway of the fleet sends nothing that it could know it by.

Why: only the headers of a request identify the gateway to the webhook. Without headers, the webhook cannot tell a
gateway from a stranger: it refuses the gateway, or admits everybody.

Example:

    [remote_signers.signer]
    auth_webhook = "https://accounts.example.net/signer"

    [gateways.live]
    remote_signer = { signer = "signer" }

Instead:

    [remote_signers.signer]
    auth_webhook = "https://accounts.example.net/signer"

    [gateways.live]
    remote_signer = { signer = "signer", headers = { host_file = "/etc/livepeer/signer-headers" } }
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the gateways of signers with a webhook; older releases have no such headers."""
    for name, gateway in sorted(fleet.gateways.items()):
        remote = gateway.remote_signer
        if remote is None or remote.signer is None or remote.headers is not None:
            continue
        known = effective.knows(fleet, Node("gateways", name, gateway), "remoteSignerHeaders")
        if known and fleet.remote_signers[remote.signer].auth_webhook is not None:
            yield warning(
                "signer-webhook-knows-nobody",
                f"gateway {name} sends no headers, so the webhook of signer {remote.signer} cannot tell who asks",
                Label(("gateways", name, "remote_signer")),
                [Label(("remote_signers", remote.signer, "auth_webhook"), "the webhook")],
                'add headers = { host_file = "/etc/livepeer/signer-headers" }, a file like Authorization:Bearer TOKEN',
            )
