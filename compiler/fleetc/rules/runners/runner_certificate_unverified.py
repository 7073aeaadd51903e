"""An orchestrator on a chain offers live runners behind the certificate that its node makes itself.

Why: a signer that finds orchestrators verifies the certificate, and finds nothing there. One failed question hides
runners with a price for 25 minutes. Only clients that know the address and verify nothing can buy.

Example:

    [orchestrators.orch]
    runners = ["echo"]

    [runners.echo]
    price = "0.10 USD / hour"

Instead:

    [orchestrators.orch]
    runners = ["echo"]
    http = "127.0.0.1:8935"
    http_tls = false

    [runners.echo]
    price = "0.10 USD / hour"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.effective_runners import offers
from fleetc.language.fleet import Fleet
from fleetc.language.orchestrator import Orchestrator
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at orchestrators that sell runners and serve TLS themselves: the node takes no certificate."""
    said = set()
    for offer in offers(fleet) if fleet.on_chain else ():
        node = offer.orchestrator
        if node.name in said or not isinstance(node.settings, Orchestrator) or not node.settings.http_tls:
            continue
        said.add(node.name)
        yield warning(
            "runner-certificate-unverified",
            f"orchestrator {node.name} sells runners with a certificate of its own, which the discovery of signers "
            "does not accept",
            Label((*node.path, "runners")),
            help='put a proxy with a certificate in front of it, and write http = "127.0.0.1:8935" and '
            "http_tls = false",
        )
