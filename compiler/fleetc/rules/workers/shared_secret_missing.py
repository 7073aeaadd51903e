"""An orchestrator has no secret to recognise its workers or live runners, or a worker has none to present.

Why: without a secret, anybody who knows the address can join as a worker and return false results. Workers of this
fleet do not start without one. An orchestrator that does no work itself does not start without one either; a list of
live runners does not replace it. If live runners register themselves, the node needs a secret or a list of them. The
node of a transcoder or AI worker of another fleet's orchestrator exits at startup without one.

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
from fleetc.language.fleet import Fleet, Node
from fleetc.language.orchestrator import Orchestrator
from fleetc.language.worker import AiWorker, Transcoder
from fleetc.places.diagnostic import Diagnostic, Label, error, warning

_CODE = "shared-secret-missing"
_SHOWN = 6
_HELP = 'write secret = { host_file = "/etc/livepeer/orchestrator-secret" }'


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """An error if the spec wants remote work; a warning if the node accepts unwanted workers."""
    for node in fleet.nodes:
        settings = node.settings
        if isinstance(settings, Transcoder | AiWorker) and settings.secret is None:
            if settings.orchestrator not in fleet.orchestrators:  # one of this fleet shares its secret
                message = f"{node.name} serves {settings.orchestrator} but has no secret to present there"
                yield error(_CODE, message, Label((*node.path, "orchestrator"), "outside this fleet"), help=_HELP)
        elif isinstance(settings, Orchestrator) and settings.secret is None:
            yield from _orchestrator(fleet, node, settings)


def _orchestrator(fleet: Fleet, node: Node, settings: Orchestrator) -> Iterator[Diagnostic]:
    if settings.live_runners and settings.live_runner_config is None and not settings.runners:
        message = f"orchestrator {node.name} lets live runners register, without a secret or a list of them"
        yield error(_CODE, message, Label((*node.path, "live_runners")), help=f"{_HELP}, or live_runner_config")
    video, ai = effective.serves_video(node), effective.serves_ai(node)
    local_video = effective.transcodes(fleet, node).value
    runners = effective.live_runners_alone(fleet, node)
    remote_ai = ai and not effective.runs_models(fleet, node).value and not runners.value
    if (video and not local_video) or remote_ai:
        workers = fleet.workers_by_orchestrator.get(node.name, ())
        yield error(
            _CODE,
            f"orchestrator {node.name} accepts remote workers but has no secret",
            Label(node.path, "here"),
            [Label(worker.path, f"{worker.name} needs it") for worker in workers[:_SHOWN]],
            _HELP,
        )
    elif runners.value and not local_video:
        if settings.live_runner_config is not None or settings.runners:
            yield error(
                _CODE,
                f"orchestrator {node.name} does no work itself and has no secret, so its node does not start",
                Label(node.path, "no secret here"),
                [Label(runners.origin.paths[0], "a list of live runners does not replace it")],
                _HELP,
            )
    elif not local_video or runners.value:
        worker = "an AI worker" if local_video else "a transcoder"
        yield warning(
            _CODE,
            f"orchestrator {node.name} does not {'run models itself' if local_video else 'transcode'}, so its node "
            f"lets anybody join as {worker}",
            Label(node.path, "no secret here"),
            help=_HELP,
        )
