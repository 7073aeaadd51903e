"""A playback policy of type webhook has no webhook.

Why: the service asks the webhook about every viewer and fails without one, so nobody can play the stream.

Example:

    [streams.main]
    playbackPolicy = { type = "webhook" }

Instead:

    [streams.main]
    playbackPolicy = { type = "webhook", webhookId = "3f2d8a" }
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each policy of type webhook."""
    for name, stream in sorted(fleet.streams.items()):
        policy = stream.playbackPolicy
        if policy is not None and policy.type == "webhook" and not policy.webhookId:
            yield error(
                "stream-policy-without-webhook",
                f"stream {name}: a policy of type webhook needs a webhook",
                Label(("streams", name, "playbackPolicy")),
                help='write webhookId = "..." with the id that the service gave the webhook',
            )
