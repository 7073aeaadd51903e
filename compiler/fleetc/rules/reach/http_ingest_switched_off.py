"""A gateway accepts no streams or requests over HTTP, although it serves them.

Why: beyond loopback, without http_ingest and a webhook that admits streams, the node turns HTTP ingest off with a
single log line. All AI endpoints disappear too; video still comes in over RTMP.

Example:

    [gateways.gate]
    mode = "ai"
    http = "0.0.0.0:8935"

Instead:

    [gateways.gate]
    mode = "ai"
    http = "127.0.0.1:8935"  # a proxy in front of it asks who calls
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.fleet import Fleet
from fleetc.language.gateway import Gateway
from fleetc.places.diagnostic import Diagnostic, Label, error, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each gateway: an error if AI endpoints disappear, a warning if only HTTP streams do."""
    for node in fleet.nodes:
        settings = node.settings
        if not isinstance(settings, Gateway):
            continue
        ai = effective.serves_ai(node)
        listener = effective.gateway_http(node, settings).value
        if settings.http_ingest is False and ai:
            yield error(
                "http-ingest-switched-off",
                f"gateway {node.name} serves AI, but http_ingest = false removes its AI endpoints",
                Label((*node.path, "http_ingest")),
                [Label((*node.path, "mode"), "serves AI")],
                'write http_ingest = true, or mode = "video"',
            )
        elif settings.http_ingest is None and not effective.ingests_over_http(node, settings):
            what = "all AI endpoints and HTTP streams" if ai else "streams over HTTP (RTMP stays on)"
            yield (error if ai else warning)(
                "http-ingest-switched-off",
                f"gateway {node.name} turns off {what}: {listener} is not on loopback, and no webhook admits streams",
                Label((*node.path, "http"), "not on loopback"),
                help=f'write http = "127.0.0.1:{listener.port}", and put a proxy in front of it that asks who calls',
            )
