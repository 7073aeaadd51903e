"""An orchestrator lists a live runner twice.

Why: the name of a runner is its label, and the node stops at a list with one label twice.

Example:

    [orchestrators.orch]
    runners = ["echo", "echo"]

    [runners.echo]
    price = "0.10 USD / hour"

Instead:

    [orchestrators.orch]
    runners = ["echo"]

    [runners.echo]
    price = "0.10 USD / hour"
    capacity = 2
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.effective_runners import offers
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, Path, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the list of each orchestrator."""
    seen: dict[tuple[str, str], Path] = {}
    for offer in offers(fleet):
        before = seen.setdefault((offer.orchestrator.name, offer.name), offer.path)
        if before != offer.path:
            yield error(
                "runner-listed-twice",
                f"orchestrator {offer.orchestrator.name} lists runner {offer.name} twice",
                Label(offer.path, "here again"),
                [Label(before, "first here")],
                "remove one of them; capacity says how many sessions a runner takes",
            )
