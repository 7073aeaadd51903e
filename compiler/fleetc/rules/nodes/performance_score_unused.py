"""A gateway has settings for performance scores, but lacks some that the node needs to read scores.

Why: the node reads scores only if both the address of the feed and a region are set. Without scores, `min_performance`
silently excludes nobody.

Example:

    [gateways.gate]
    selection = { min_performance = "0.8" }

Instead:

    [gateways.gate.selection]
    min_performance = "0.8"
    performance_url = "https://scores.example.net/api/aggregated_stats"
    performance_region = "FRA"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning

_NEEDED = ("performance_url", "performance_region")


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the gateways that have any of the three settings."""
    for name, gateway in sorted(fleet.gateways.items()):
        chosen = gateway.selection
        missing = [key for key in _NEEDED if getattr(chosen, key) is None]
        written = [key for key in ("min_performance", *_NEEDED) if getattr(chosen, key) is not None]
        if written and missing:
            yield warning(
                "performance-score-unused",
                f"gateway {name} reads no performance scores, because {' and '.join(missing)} "
                f"{'is' if len(missing) == 1 else 'are'} missing",
                Label(("gateways", name, "selection", written[0]), "has no effect"),
                help=f"write {' and '.join(missing)} too, or remove {' and '.join(written)}",
            )
