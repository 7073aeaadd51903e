"""A playback policy has a setting that only policies of type webhook use.

Why: webhookId and webhookContext have no effect unless the type is webhook, so viewers that the webhook would turn away
can play the stream.

Example:

    [streams.main.playbackPolicy]
    type = "public"
    webhookId = "3f2d8a"

Instead:

    [streams.main.playbackPolicy]
    type = "webhook"
    webhookId = "3f2d8a"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each policy of another type."""
    for name, stream in sorted(fleet.streams.items()):
        policy = stream.playbackPolicy
        if policy is None or policy.type == "webhook":
            continue
        path = ("streams", name, "playbackPolicy")
        for key in ("webhookId", "webhookContext"):
            if getattr(policy, key) is not None:
                yield warning(
                    "stream-policy-key-unused",
                    f"stream {name}: {key} has no effect in a policy of type {policy.type}",
                    Label((*path, key)),
                    [Label((*path, "type"), "the type")],
                    f'write type = "webhook", or remove {key}',
                )
