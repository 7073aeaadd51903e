"""A remote signer listens beyond loopback and admits everybody.

Why: whoever reaches the signer spends the deposit of its wallet. The node refuses to start like this, unless told aloud
that something else guards the port.

Example:

    [remote_signers.signer]
    http = "0.0.0.0:8935"

Instead:

    [remote_signers.signer]
    http = "0.0.0.0:8935"
    webhook = "https://auth.example.net/signer"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.places.diagnostic import Diagnostic, Label, error, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the listeners of signers. It is a warning when stated explicitly, and in releases that start all the
    same."""
    for name, signer in sorted(fleet.remote_signers.items()):
        node = Node("remote_signers", name, signer)
        listener = effective.helper_http(node, signer).value
        if listener.is_loopback or signer.webhook is not None:
            continue
        aloud = signer.allow_no_auth is True
        refuses = effective.knows(fleet, node, "remoteSignerAllowNoAuth")
        if aloud:
            advice = "keep that port behind a firewall"
        elif effective.knows(fleet, node, "remoteSignerWebhookUrl"):
            advice = 'write webhook = "https://auth.example.net/signer"'
            advice += ", or allow_no_auth = true when a firewall guards the port" if refuses else ""
        else:
            advice = f'write http = "127.0.0.1:{listener.port}", or guard the port: this release cannot ask who calls'
        report = error if refuses and not aloud else warning
        yield report(
            "signer-without-authentication",
            f"everybody who reaches {listener} can spend the deposit of signer {name}",
            Label((*node.path, "http")),
            [Label((*node.path, "allow_no_auth"), "stated explicitly")] if aloud else [],
            advice,
        )
