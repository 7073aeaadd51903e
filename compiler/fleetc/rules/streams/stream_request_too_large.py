"""The request that creates a stream, or the tags in it, are too long for the service.

Why: the service refuses a request above 102400 bytes with status 413, so the stream is never created. fleetc measures
JSON without spaces, with placeholders for secrets. Tags may have at most 2048 characters (UTF-16 code units) as JSON.

Example:

    [streams.main.playbackPolicy]
    type = "webhook"
    webhookId = "3f2d8a"
    webhookContext = { viewers = ["a list of some thousand names", "..."] }

Instead:

    [streams.main.playbackPolicy]
    type = "webhook"
    webhookId = "3f2d8a"
    webhookContext = { list = "viewers-2026" }
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error
from fleetc.upstream.stream_api import BODY_LIMIT, TAGS_LIMIT


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Measure the request of each stream and its tags, and name the part that is the longest."""
    if not fleet.streams:
        return
    from fleetc.analysis.requests import compact, create_request, size  # only here: it loads much that few specs need

    for name in sorted(fleet.streams):
        content = create_request(fleet, name).content
        tags = len(compact(content.get("userTags", {})).encode("utf-16-le")) // 2
        if tags > TAGS_LIMIT:
            yield error(
                "stream-request-too-large",
                f"the tags of stream {name} are {tags} characters as JSON, more than {TAGS_LIMIT}",
                Label(("streams", name, "userTags")),
                help="shorten them, or keep an id here and the rest elsewhere",
            )
        whole = size(content)
        if whole > BODY_LIMIT:
            sizes = {key: size(value) for key, value in content.items()}
            longest = max(sizes, key=lambda key: sizes[key])
            yield error(
                "stream-request-too-large",
                f"the request of stream {name} has {whole} bytes as JSON, more than {BODY_LIMIT}",
                Label(("streams", name), on_key=True),
                help=f"shorten {longest}, which has {sizes[longest]} of them",
            )
