"""A live runner should register itself at an orchestrator that does not let it.

Why: the node turns it away, or does not start. A runner that registers itself presents the secret of the orchestrator.

Example:

    [orchestrators.orch]
    live_runners = false
    secret = { env = "SECRET" }
    runners = ["echo"]

    [runners.echo]
    register_by = "runner"
    price = "0.10 USD / hour"

Instead:

    [orchestrators.orch]
    secret = { env = "SECRET" }
    runners = ["echo"]

    [runners.echo]
    register_by = "runner"
    price = "0.10 USD / hour"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.effective_runners import offers
from fleetc.language.fleet import Fleet
from fleetc.language.orchestrator import Orchestrator
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at orchestrators of runners that register themselves; shared-secret-missing has those without work."""
    for offer in offers(fleet):
        node = offer.orchestrator
        settings = node.settings
        if offer.runner.register_by != "runner" or not isinstance(settings, Orchestrator):
            continue
        if settings.live_runners is False:
            yield error(
                "runner-cannot-register",
                f"runner {offer.name} registers itself, and orchestrator {node.name} lets no runner do so",
                Label((*node.path, "live_runners")),
                [Label((*offer.of_runner, "register_by"), "it registers itself")],
                "remove live_runners",
            )
        elif settings.secret is None and effective.transcodes(fleet, node).value:
            yield error(
                "runner-cannot-register",
                f"runner {offer.name} registers itself with the secret of {node.name}, which has none",
                Label(offer.path),
                [Label((*offer.of_runner, "register_by"), "it registers itself")],
                'write secret = { host_file = "/etc/livepeer/orchestrator-secret" }',
            )
