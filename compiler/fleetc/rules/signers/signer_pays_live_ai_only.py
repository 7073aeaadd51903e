"""A gateway for video has a remote signer, which only pays for live AI video.

Why: the node asks its signer to pay for live AI video (live-video-to-video) and nothing else. Transcoding requests go
out unpaid, and an orchestrator with a price does not do unpaid work. Other AI requests are not paid for either.

Example:

    [gateways.gate]
    mode = "dual"
    remote_signer = { signer = "signer" }

Instead:

    [gateways.live]
    mode = "ai"
    remote_signer = { signer = "signer" }

    [gateways.video]
    mode = "video"
    wallet = "payer"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.fleet import Fleet
from fleetc.language.signing import has_signer
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at gateways that serve video behind a signer."""
    for node in fleet.nodes:
        if has_signer(node) and effective.serves_video(node):
            yield warning(
                "signer-pays-live-ai-only",
                f"nothing pays for the video of gateway {node.name}: its signer only pays for live AI video",
                Label((*node.path, "mode"), "serves video"),
                [Label((*node.path, "remote_signer"), "the signer")],
                'write mode = "ai", and give video a gateway with its own wallet',
            )
