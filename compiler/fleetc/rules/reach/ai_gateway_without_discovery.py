"""An on-chain AI gateway has no way to find orchestrators.

Why: by default, the node searches the registry of video orchestrators. AI orchestrators are registered elsewhere, so
requests find none, without an error.

Example:

    [gateways.gate]
    mode = "ai"

Instead:

    [gateways.gate]
    mode = "ai"
    discovery = "ai-registry"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at on-chain gateways without a list and without discovery; a dual one may really want the video registry."""
    if not fleet.on_chain:
        return
    for name, gateway in sorted(fleet.gateways.items()):
        if gateway.mode == "video" or gateway.orchestrators or gateway.discovery is not None:
            continue
        if gateway.remote_signer is not None:
            continue  # it asks its signer
        report = error if gateway.mode == "ai" else warning
        yield report(
            "ai-gateway-without-discovery",
            f"gateway {name} serves AI, but would look for orchestrators in the video registry",
            Label(("gateways", name, "mode"), "serves AI"),
            help='write discovery = "ai-registry", or list them: orchestrators = ["orch.example.net:8935"]',
        )
