"""An allowed origin has a scheme other than http or https.

Why: browsers send the origin of a web page, which has one of these two. Any other scheme matches no page, so nobody can
play the stream from it.

Example:

    [streams.main.playbackPolicy]
    type = "public"
    allowedOrigins = ["rtmp://player.example.net"]

Instead:

    [streams.main.playbackPolicy]
    type = "public"
    allowedOrigins = ["https://player.example.net"]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each origin of each policy."""
    for name, stream in sorted(fleet.streams.items()):
        policy = stream.playbackPolicy
        for index, origin in enumerate(policy.allowedOrigins or ()) if policy else ():
            scheme, _, rest = origin.partition("://")
            if scheme not in ("http", "https"):
                yield warning(
                    "stream-origin-not-web",
                    f"stream {name}: no web page has an origin with the scheme {scheme}",
                    Label(("streams", name, "playbackPolicy", "allowedOrigins", index)),
                    help=f'write "https://{rest}"',
                )
