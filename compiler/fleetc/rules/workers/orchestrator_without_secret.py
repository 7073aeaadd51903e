"""An orchestrator accepts remote workers or live runners but has no secret to recognise its own.

Why: without a secret, anybody who knows the address can join as a worker and return false results. Workers of this
fleet do not start without one. An orchestrator that does no work itself does not start without one either; a list of
live runners does not replace it.

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

from fleetc.language import effective
from fleetc.language.fleet import Fleet
from fleetc.language.orchestrator import Orchestrator
from fleetc.places.diagnostic import Diagnostic, Label, error, warning

_SHOWN = 6
_HELP = 'write secret = { host_file = "/etc/livepeer/orchestrator-secret" }'


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """An error if the spec wants remote work; a warning if the node accepts unwanted workers."""
    for node in fleet.nodes:
        settings = node.settings
        if not isinstance(settings, Orchestrator) or settings.secret is not None:
            continue
        video, ai = effective.serves_video(node), effective.serves_ai(node)
        local_video = effective.transcodes(fleet, node).value
        runners = effective.live_runners_alone(fleet, node)
        remote_ai = ai and not effective.runs_models(fleet, node).value and not runners.value
        if (video and not local_video) or remote_ai:
            workers = fleet.workers_by_orchestrator.get(node.name, ())
            yield error(
                "orchestrator-without-secret",
                f"orchestrator {node.name} accepts remote workers but has no secret",
                Label(node.path, "here"),
                [Label(worker.path, f"{worker.name} needs it") for worker in workers[:_SHOWN]],
                _HELP,
            )
        elif runners.value and not local_video:
            if (
                settings.live_runner_config is not None or settings.runners
            ):  # live-runners-without-secret has the others
                yield error(
                    "orchestrator-without-secret",
                    f"orchestrator {node.name} does no work itself and has no secret, so its node does not start",
                    Label(node.path, "no secret here"),
                    [Label(runners.origin.paths[0], "a list of live runners does not replace it")],
                    _HELP,
                )
        elif not local_video or runners.value:
            worker = "an AI worker" if local_video else "a transcoder"
            yield warning(
                "orchestrator-without-secret",
                f"orchestrator {node.name} does not {'run models itself' if local_video else 'transcode'}, so its node "
                f"lets anybody join as {worker}",
                Label(node.path, "no secret here"),
                help=_HELP,
            )
