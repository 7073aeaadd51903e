"""An orchestrator offers live runners and live AI video.

Why: a node with live runners verifies the certificates of all its trickle connections. Gateways and workers of live AI
video have certificates of their own, so the video does not get through.

Example:

    [orchestrators.orch]
    models = [{ use = "live" }]
    runners = ["echo"]

    [models.live]
    pipeline = "live-video-to-video"
    id = "streamdiffusion"

    [runners.echo]
    price = "0.10 USD / hour"

Instead:

    [orchestrators.orch]
    models = [{ use = "live" }]

    [orchestrators.renting]
    runners = ["echo"]

    [models.live]
    pipeline = "live-video-to-video"
    id = "streamdiffusion"

    [runners.echo]
    price = "0.10 USD / hour"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.language.signing import SIGNED_PIPELINE
from fleetc.places.diagnostic import Diagnostic, Label, warning

_FIELDS = ("runners", "live_runner_config", "live_runners")
"""Each of these turns live runners on."""


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at orchestrators with both."""
    for name, orchestrator in sorted(fleet.orchestrators.items()):
        runners = [field for field in _FIELDS if getattr(orchestrator, field)]
        live = [at for at, use in enumerate(orchestrator.models) if fleet.models[use.use].pipeline == SIGNED_PIPELINE]
        if runners and live:
            yield warning(
                "live-ai-beside-runners",
                f"live AI video of orchestrator {name} fails beside live runners: its node then verifies certificates",
                Label(("orchestrators", name, "models", live[0]), "live AI video"),
                [Label(("orchestrators", name, runners[0]), "live runners")],
                "give the runners an orchestrator of their own",
            )
