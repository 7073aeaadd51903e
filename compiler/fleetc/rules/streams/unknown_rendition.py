"""A gateway names a rendition that the node does not know.

Why: the node silently drops an unknown name, so viewers miss a quality; if no known name is left, it exits at startup.

Fix: `fleetc check --fix` repairs the spelling if only the case is wrong.

Example:

    [gateways.gate]
    renditions = ["P1080p30fps16x9", "P360p30fps16x9"]

Instead:

    [gateways.gate]
    renditions = ["P720p30fps16x9", "P360p30fps16x9"]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error, fix_set
from fleetc.text.suggestions import same_but_for_spelling
from fleetc.upstream import RENDITIONS


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each name in each list."""
    for name, gateway in sorted(fleet.gateways.items()):
        for index, rendition in enumerate(gateway.renditions):
            if rendition not in RENDITIONS:
                place = ("gateways", name, "renditions", index)
                meant = same_but_for_spelling(rendition, RENDITIONS)
                yield error(
                    "unknown-rendition",
                    f'gateway {name}: the node has no rendition "{rendition}"',
                    Label(place),
                    help=fleet.suggestions.did_you_mean(rendition, RENDITIONS),
                    fix=fix_set(place, meant) if meant else None,
                )
