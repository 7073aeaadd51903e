"""Findings as diagnostics of a spec.

In: findings. Out: diagnostics at their places; unknown results are warnings, with their own exit code.
"""

from __future__ import annotations

from collections.abc import Iterable

from fleetc.places.diagnostic import Diagnostic, Label, error, warning
from fleetc.rollout.verify.data import Finding


def diagnostics_of(findings: Iterable[Finding]) -> tuple[Diagnostic, ...]:
    """Each finding once."""
    diagnostics = []
    for finding in dict.fromkeys(findings):
        make = error if finding.kind == "drift" else warning
        diagnostics.append(make(finding.code, finding.message, Label(finding.place), help=finding.help))
    return tuple(diagnostics)
