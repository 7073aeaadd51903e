"""An orchestrator that transcodes itself has max_sessions = "auto".

Why: "auto" adds up what remote transcoders offer. A process that transcodes itself has none, and exits at startup.

Example:

    [orchestrators.orch]
    mode = "video"
    max_sessions = "auto"

Instead:

    [orchestrators.orch]
    mode = "video"
    max_sessions = 12
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.fleet import Fleet
from fleetc.language.orchestrator import Orchestrator
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the orchestrators that transcode inside their process."""
    for node in fleet.nodes:
        settings = node.settings
        if not isinstance(settings, Orchestrator) or settings.max_sessions != "auto":
            continue
        local = effective.transcodes(fleet, node)
        if local.value:
            yield error(
                "max-sessions-auto-with-local-transcoding",
                f'orchestrator {node.name} transcodes itself, but "auto" counts only remote transcoders',
                Label((*node.path, "max_sessions")),
                [Label(path, local.origin.reason or "transcodes itself") for path in local.origin.paths],
                'write a number, such as max_sessions = 12, or transcoding = "remote"',
            )
