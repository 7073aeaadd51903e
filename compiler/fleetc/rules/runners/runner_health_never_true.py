"""What the orchestrator asks about a live runner's health can never be true.

Why: the node hides the runner and ends all its sessions. A loopback address is on the orchestrator's host, so it never
reaches a runner elsewhere. A final answer never has a status below 200.

Example:

    [orchestrators.orch]
    host = "edge"
    runners = ["echo"]

    [runners.echo]
    host = "other"
    health = "http://127.0.0.1:8989/health"
    price = "0.10 USD / hour"

Instead:

    [orchestrators.orch]
    host = "edge"
    runners = ["echo"]

    [runners.echo]
    host = "other"
    health = "/health"
    price = "0.10 USD / hour"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.effective_runners import health_host, offers, server_of
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error

_FIRST_FINAL = 200


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the runners that an orchestrator asks."""
    for offer in offers(fleet):
        if offer.runner.register_by != "orchestrator":
            continue
        status = offer.runner.health_status
        if status is not None and status < _FIRST_FINAL:
            yield error(
                "runner-health-never-true",
                f"no answer of runner {offer.name} ends with the status {status}",
                Label((*offer.of_runner, "health_status")),
                help="remove it, which means 200, or write the status that the runner answers with",
            )
        asked, runs = health_host(fleet, offer), server_of(fleet, offer)[0]
        if asked and runs and asked != runs:
            yield error(
                "runner-health-never-true",
                f"orchestrator {offer.orchestrator.name} asks host {asked} about runner {offer.name}, which is on "
                f"host {runs}",
                Label((*offer.of_runner, "health")),
                [Label(offer.path, "offered here")],
                'write a path, such as health = "/health"',
            )
