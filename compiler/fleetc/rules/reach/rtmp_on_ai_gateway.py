"""An AI gateway opens an RTMP port to others.

Why: RTMP carries video streams, which a gateway with mode "ai" is not meant to serve. The node still opens the port,
and transcodes and pays for every stream that arrives. By default, the port is on loopback; you can move it, but not
close it.

Example:

    [gateways.gate]
    mode = "ai"
    rtmp = "0.0.0.0:1935"

Instead:

    [gateways.gate]
    mode = "ai"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the AI gateways whose RTMP listener others can reach."""
    for name, gateway in sorted(fleet.gateways.items()):
        if gateway.mode == "ai" and gateway.rtmp is not None and not gateway.rtmp.is_loopback:
            yield warning(
                "rtmp-on-ai-gateway",
                f"gateway {name} serves only AI, but others can send video to its RTMP port {gateway.rtmp.port}",
                Label(("gateways", name, "rtmp"), "open to others"),
                [Label(("gateways", name, "mode"), "AI only")],
                f'remove rtmp, write rtmp = "127.0.0.1:{gateway.rtmp.port}", or mode = "dual" to serve video too',
            )
