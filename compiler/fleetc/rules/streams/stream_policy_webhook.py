"""A playback policy of type webhook has no webhook, or one of another type has settings of a webhook.

Why: the service asks the webhook about every viewer and fails without one, so nobody can play the stream. With another
type, webhookId and webhookContext have no effect, so viewers that the webhook would turn away can play it.

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
from fleetc.places.diagnostic import Diagnostic, Label, error, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the policy of each stream."""
    for name, stream in sorted(fleet.streams.items()):
        policy, path = stream.playbackPolicy, ("streams", name, "playbackPolicy")
        if policy is None:
            continue
        if policy.type == "webhook":
            if not policy.webhookId:
                yield error(
                    "stream-policy-webhook",
                    f"stream {name}: a policy of type webhook needs a webhook",
                    Label(path),
                    help='write webhookId = "..." with the id that the service gave the webhook',
                )
            continue
        for key in ("webhookId", "webhookContext"):
            if getattr(policy, key) is not None:
                yield warning(
                    "stream-policy-webhook",
                    f"stream {name}: {key} has no effect in a policy of type {policy.type}",
                    Label((*path, key)),
                    [Label((*path, "type"), "the type")],
                    f'write type = "webhook", or remove {key}',
                )
