"""How grave an effect is: its place in the order of risk, and its tone, which is the colour that it has.

In: an `Effect`. Out: a key to sort by, and one of TONES. Called by `compare.py`, `impact/effects.py` and the reports.
"""

from __future__ import annotations

from fleetc.review.data import IMPACTS, WEIGHTS, Effect

TONES = ("danger", "money", "restart", "calm")
"""What a colour means. There are no others: everything else is told by words."""

_TONES = {
    **dict.fromkeys(("exposure", "identity"), "danger"),
    **dict.fromkeys(("funds", "price", "chain"), "money"),
    **dict.fromkeys(("cold-start", "restart"), "restart"),
    **dict.fromkeys(("capacity", "live", "none"), "calm"),
}
_CALM = ("live", "capacity", "exposure", "none")
"""The order of effects that are calm: of capacity what is gained, of exposure what closes."""


def tone(effect: Effect) -> str:
    """The tone of an effect: lost capacity is a danger, and an exposure that ends is none."""
    if effect.impact == "exposure" and effect.weight in ("usual", "better"):
        return "calm"
    if effect.impact == "capacity" and effect.weight == "worse":
        return "danger"
    return _TONES[effect.impact]


def gravity(effect: Effect) -> tuple[int, int]:
    """The place of an effect in the order of risk, the gravest first."""
    weight = WEIGHTS.index(effect.weight)
    if effect.weight == "critical":
        return 0, weight
    if tone(effect) == "calm":
        return 1 + len(IMPACTS) + _CALM.index(effect.impact), weight
    return 1 + IMPACTS.index(effect.impact), weight
