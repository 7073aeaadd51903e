"""A gateway has a verifier for results but no place where it can read them.

Why: the node exits at startup unless the verifier shares a volume with it and results are stored.

Example:

    [gateways.gate]
    verifier_url = "https://verifier.example.net"

Instead:

    [gateways.gate]
    verifier_url = "https://verifier.example.net"
    verifier_path = "/var/lib/verifier"
    object_store = { env = "OBJECT_STORE" }
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the gateways with a verifier."""
    for name, gateway in sorted(fleet.gateways.items()):
        missing = [key for key in ("verifier_path", "object_store") if getattr(gateway, key) is None]
        if gateway.verifier_url is not None and missing:
            yield error(
                "verifier-incomplete",
                f"gateway {name} has a verifier but lacks {' and '.join(missing)}",
                Label(("gateways", name, "verifier_url")),
                help=f"write {' and '.join(missing)}, or remove the verifier",
            )
