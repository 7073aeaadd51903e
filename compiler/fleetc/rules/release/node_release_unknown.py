"""A node runs a release that is newer than what this version of fleetc knows.

Why: flags, defaults and start-up checks are taken from the newest release that is known whole, and from the single
facts that are public about later ones. The release may refuse a flag, or read it otherwise, and nothing here sees that.
Flags that it brought go into extra_flags, and are written as they stand there. A newer fleetc knows more releases.

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
    """Look at each release that some node has, where it is written."""
    seen: set[Path] = set()
    for node in fleet.nodes:
        release = effective.release_of(fleet, node)
        place = release.origin.paths[0]
        if place not in seen and release.value > NEWEST_RELEASE:
            seen.add(place)
            yield warning(
                "node-release-unknown",
                f"{format_release(release.value)} is newer than what this version of fleetc knows: its flags and its "
                f"start-up are taken to be those of {format_release(NEWEST_RELEASE)}{_further(release.value)}",
                Label(place),
                help="read what the release changed, write flags that fleetc does not know into extra_flags, then "
                "silence this warning",
            )


def _further(release: Release) -> str:
    """The later releases of which single facts are known."""
    known = [facts.release for facts in releases() if NEWEST_RELEASE < facts.release <= release]
    return f", and what is public about {' and '.join(map(format_release, known))}" if known else ""
