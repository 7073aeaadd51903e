"""An AI gateway opens an RTMP port to others.

Why: RTMP brings video streams, which a gateway with mode "ai" is not meant to serve. The node opens the port all the
same and transcodes, and pays for, whatever arrives there. Left out, the port is on loopback; it can be moved, not
closed.

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
    """Look at the AI gateways whose RTMP listener others reach."""
    for name, gateway in sorted(fleet.gateways.items()):
        if gateway.mode == "ai" and gateway.rtmp is not None and not gateway.rtmp.is_loopback:
            yield warning(
                "rtmp-on-ai-gateway",
                f"gateway {name} serves AI only, and others can send video to its RTMP port {gateway.rtmp.port}",
                Label(("gateways", name, "rtmp"), "open to others"),
                [Label(("gateways", name, "mode"), "AI only")],
                f'remove rtmp, write rtmp = "127.0.0.1:{gateway.rtmp.port}", or mode = "dual" to serve video too',
            )
