"""A node's release is newer than this version of fleetc.

Why: fleetc uses the flags, defaults and startup checks of the newest release it fully knows, and the few public facts
about later ones. The release may refuse a flag, or read it differently, and fleetc cannot see that. Put its new flags
into extra_flags; they are passed as written. A newer fleetc knows more releases.

Example:

    [fleet]
    node_release = "v0.9.9"

Instead:

    [fleet]
    node_release = "v0.9.1"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, Path, warning
from fleetc.upstream import NEWEST_RELEASE, Release, format_release
from fleetc.upstream.releases import releases


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each release that a node uses, where it is written."""
    seen: set[Path] = set()
    for node in fleet.nodes:
        release = effective.release_of(fleet, node)
        place = release.origin.paths[0]
        if place not in seen and release.value > NEWEST_RELEASE:
            seen.add(place)
            yield warning(
                "node-release-unknown",
                f"{format_release(release.value)} is newer than this version of fleetc, which assumes the flags and "
                f"startup of {format_release(NEWEST_RELEASE)}{_further(release.value)}",
                Label(place),
                help="read what the release changed, put flags that fleetc does not know into extra_flags, then "
                "silence this warning",
            )


def _further(release: Release) -> str:
    """The later releases that some facts are known about."""
    known = [facts.release for facts in releases() if NEWEST_RELEASE < facts.release <= release]
    return f", and what is public about {' and '.join(map(format_release, known))}" if known else ""
