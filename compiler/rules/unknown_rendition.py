"""A gateway names a rendition that the node does not know.

Why: the node drops an unknown name without a word, so viewers miss a quality; when no known name is left, it stops at
its start.

Example:

    [gateways.gate]
    transcoding = ["P1080p30fps16x9", "P360p30fps16x9"]

Instead:

    [gateways.gate]
    transcoding = ["P720p30fps16x9", "P360p30fps16x9"]
"""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Diagnostic, Label, error
from compiler.model.fleet import Fleet
from compiler.model.problems import did_you_mean
from compiler.upstream import RENDITIONS


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each name in each list."""
    for name, gateway in sorted(fleet.gateways.items()):
        for index, rendition in enumerate(gateway.transcoding):
            if rendition not in RENDITIONS:
                yield error(
                    "unknown-rendition",
                    f'gateway {name}: the node has no rendition "{rendition}"',
                    Label(("gateways", name, "transcoding", index)),
                    help=did_you_mean(rendition, RENDITIONS),
                )
