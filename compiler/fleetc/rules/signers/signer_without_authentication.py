"""A remote signer listens beyond loopback and admits everybody.

Why: anyone who can reach the signer can spend the deposit of its wallet. The node refuses to start like this, unless
you state explicitly that the port is protected.

Example:

    [remote_signers.signer]
    http = "0.0.0.0:8935"

Instead:

    [remote_signers.signer]
    http = "0.0.0.0:8935"
    auth_webhook = "https://auth.example.net/signer"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.places.diagnostic import Diagnostic, Label, error, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the listeners of signers. It is a warning if stated explicitly, and in releases that start anyway."""
    for name, signer in sorted(fleet.remote_signers.items()):
        node = Node("remote_signers", name, signer)
        listener = effective.helper_http(node, signer).value
        if listener.is_loopback or signer.auth_webhook is not None:
            continue
        aloud = signer.allow_no_auth is True
        refuses = effective.knows(fleet, node, "remoteSignerAllowNoAuth")
        if aloud:
            advice = "keep that port behind a firewall"
        elif effective.knows(fleet, node, "remoteSignerWebhookUrl"):
            advice = 'write auth_webhook = "https://auth.example.net/signer"'
            advice += ", or allow_no_auth = true if a firewall protects the port" if refuses else ""
        else:
            advice = (
                f'write http = "127.0.0.1:{listener.port}", or protect the port: this release cannot check who calls'
            )
        report = error if refuses and not aloud else warning
        yield report(
            "signer-without-authentication",
            f"anyone who can reach {listener} can spend the deposit of signer {name}",
            Label((*node.path, "http")),
            [Label((*node.path, "allow_no_auth"), "stated explicitly")] if aloud else [],
            advice,
        )
