"""An orchestrator lets live runners register, without a secret or a list of them.

Why: the node exits at startup unless it has a secret that runners present, or a file that lists them.

Example:

    [orchestrators.orch]
    live_runners = true

Instead:

    [orchestrators.orch]
    live_runners = true
    secret = { host_file = "/etc/livepeer/orchestrator-secret" }
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the orchestrators with live runners."""
    for name, orchestrator in sorted(fleet.orchestrators.items()):
        listed = orchestrator.live_runner_config is not None or bool(orchestrator.runners)
        if orchestrator.live_runners and orchestrator.secret is None and not listed:
            yield error(
                "live-runners-without-secret",
                f"orchestrator {name} lets live runners register, without a secret or a list of them",
                Label(("orchestrators", name, "live_runners")),
                help='write secret = { host_file = "/etc/livepeer/orchestrator-secret" }, or live_runner_config',
            )
