"""An orchestrator takes remote workers and has no secret to tell its own from others.

Why: without one, anybody who knows the address can join as a worker and return anything as a result, and workers of
this fleet do not start, because they need a secret to present.

Example:

    [orchestrators.orch]
    transcoding = "remote"

Instead:

    [orchestrators.orch]
    transcoding = "remote"
    secret = { host_file = "/etc/livepeer/orchestrator-secret" }
"""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Diagnostic, Label, error, warning
from compiler.model import effective
from compiler.model.fleet import Fleet
from compiler.model.orchestrator import Orchestrator

_SHOWN = 6
_HELP = 'write secret = { host_file = "/etc/livepeer/orchestrator-secret" }'


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """An error where remote work is wanted; a warning where the node accepts transcoders although nobody asked."""
    for node in fleet.nodes:
        settings = node.settings
        if not isinstance(settings, Orchestrator) or settings.secret is not None:
            continue
        video, ai = effective.serves_video(node), effective.serves_ai(node)
        local_video = effective.transcodes(fleet, node).value
        if (video and not local_video) or (ai and not effective.runs_models(fleet, node).value):
            workers = fleet.workers_by_orchestrator.get(node.name, ())
            yield error(
                "orchestrator-without-secret",
                f"orchestrator {node.name} takes remote workers and has no secret",
                Label(node.path, "here"),
                [Label(worker.path, f"{worker.name} needs it") for worker in workers[:_SHOWN]],
                _HELP,
            )
        elif not local_video:
            yield warning(
                "orchestrator-without-secret",
                f"orchestrator {node.name} does not transcode, so its node lets anybody join as a transcoder",
                Label(node.path, "no secret here"),
                help=_HELP,
            )
