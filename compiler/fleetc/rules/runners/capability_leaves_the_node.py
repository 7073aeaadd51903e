"""An orchestrator has capabilities (BYOC), which the node is about to remove in favour of live runners.

Why: the node forgets them when it stops, so after a restart you must post their documents again. A later release of the
node takes none. A live runner comes back with its orchestrator.

Example:

    [orchestrators.orch.capabilities.comfy]
    url = "http://127.0.0.1:9000"
    price = "0.36 USD / hour"

Instead:

    [orchestrators.orch]
    runners = ["comfy"]

    [runners.comfy]
    url = "http://127.0.0.1:9000"
    price = "0.36 USD / hour"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the orchestrators with capabilities."""
    for name, orchestrator in sorted(fleet.orchestrators.items()):
        if orchestrator.capabilities:
            yield warning(
                "capability-leaves-the-node",
                f"post the capabilities of {name} to its /capability/register after each start",
                Label(("orchestrators", name, "capabilities")),
                help="the node is about to remove them: a table under [runners] replaces each; until then post "
                "capability-NAME.json with the secret as Authorization, and silence this",
            )
