"""Findings in the form of those of a spec.

In: findings. Out: diagnostics at their places; what could not be asked is a warning there, and an exit code of its own.
"""

from __future__ import annotations

from collections.abc import Iterable

from fleetc.places.diagnostic import Diagnostic, Label, error, warning
from fleetc.rollout.verify.data import Found


def diagnostics_of(found: Iterable[Found]) -> tuple[Diagnostic, ...]:
    """Each finding once."""
    made = []
    for one in dict.fromkeys(found):
        make = error if one.kind == "drift" else warning
        made.append(make(one.code, one.message, Label(one.place), help=one.help))
    return tuple(made)
