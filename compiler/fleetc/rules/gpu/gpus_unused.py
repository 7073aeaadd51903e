"""An orchestrator has GPUs, but others do its work.

Why: a process that accepts remote transcoders or AI workers does no such work itself. Its own GPUs are idle then, and
earn nothing, although `gpus` stays in the spec.

Example:

    [orchestrators.orch]
    transcoding = "remote"
    gpus = [0]

Instead:

    [orchestrators.orch]
    transcoding = "remote"

    [transcoders.own]
    orchestrator = "orch"
    gpus = [0]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at orchestrators with GPUs; transcoders and AI workers always use theirs."""
    for name, settings in fleet.orchestrators.items():
        node = Node("orchestrators", name, settings)
        if not effective.gpu_ids(fleet, node):
            continue
        does = (effective.transcodes(fleet, node), effective.runs_models(fleet, node))
        if not any(one.value for one in does):
            others = [Label(path, "others do it") for one in does for path in one.origin.paths if len(path) > 2]
            yield warning(
                "gpus-unused",
                f"the GPUs of {name} are idle: it neither transcodes nor runs models itself",
                Label((*node.path, "gpus"), "idle"),
                list(dict.fromkeys(others)),
                f"remove gpus, or give them to a transcoder or an AI worker of {name} on the same host",
            )
