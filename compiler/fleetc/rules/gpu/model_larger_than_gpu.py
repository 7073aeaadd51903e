"""A model that is loaded on demand needs more memory than any GPU of its node has.

Why: a request for it starts a container, which runs out of GPU memory while it loads. The node offers the model, and
each request for it fails. `memory` of a model is what one copy needs; if it runs with less, write the smaller number.
Warm models are added up, which is another message: `gpu-memory-exceeded`.

Example:

    [hosts.gpu]
    gpus = [{ model = "RTX 4090", memory = "24 GiB" }]

    [models.video]
    pipeline = "image-to-video"
    id = "org/video"
    memory = "32 GiB"

    [ai_workers.w]
    gpus = [0]
    models = [{ use = "video" }]

Instead:

    [hosts.gpu]
    gpus = [{ model = "L40S", memory = "48 GiB" }]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.capacity import size_text
from fleetc.analysis.demand import memory_of
from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.node import AiSettings
from fleetc.language.worker import AiWorker
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare each model that the node starts on demand with the largest of its GPUs, if all their sizes are known."""
    for node in fleet.nodes:
        settings = node.settings
        if not isinstance(settings, AiSettings) or (isinstance(settings, AiWorker) and settings.serverless):
            continue
        largest = _largest(fleet, node)
        if largest is None or not effective.runs_models(fleet, node).value:
            continue
        for place, entry in enumerate(settings.models):
            memory = fleet.models[entry.use].memory
            if memory is None or memory.count <= largest or entry.warm or not effective.managed(entry):
                continue
            yield warning(
                "model-larger-than-gpu",
                f"{node.name} offers {entry.use}, which needs {memory}, but has no GPU with more than "
                f"{size_text(largest)}",
                Label((*node.path, "models", place), "loaded on demand"),
                [
                    Label(("models", entry.use, "memory"), "what one copy needs"),
                    Label(("hosts", settings.host, "gpus"), "the GPUs of its host"),
                ],
                f"remove {entry.use} from its models, use a larger GPU, or correct the number",
            )


def _largest(fleet: Fleet, node: Node) -> int | None:
    """Bytes of the largest GPU of a node; None where it has none or the size of one is unknown."""
    gpus, ids = fleet.hosts[node.settings.host].gpus, effective.gpu_ids(fleet, node)
    sizes = [memory_of(gpus[i]) for i in ids if i < len(gpus)] if not isinstance(ids, str) else []
    known = [size for size in sizes if size is not None]
    return max(known) if known and len(known) == len(sizes) else None
