"""Two nodes on one host run AI models on the same GPU.

Why: the port of a runner container depends on pipeline and GPU id, so the second cannot start. Both also count on the
GPU's memory.

Example:

    [ai_workers.a]
    host = "gpu"
    gpus = [0]

    [ai_workers.b]
    host = "gpu"
    gpus = [0]

Instead:

    [ai_workers.b]
    host = "gpu"
    gpus = [1]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Find the GPUs of each host that two nodes with runner containers use."""
    for host, nodes in fleet.nodes_by_host.items():
        users: dict[int, Node] = {}
        whole: Node | None = None
        for node in nodes:
            ids = effective.gpu_ids(fleet, node)
            if not ids or not effective.runs_models(fleet, node).value:
                continue
            if isinstance(ids, str):
                before = whole or next(iter(users.values()), None)
                whole = whole or node
                shared = "its GPUs"
            else:
                taken = next((i for i in ids if i in users), None)
                before = whole or (users[taken] if taken is not None else None)
                shared = f"GPU {taken}" if taken is not None else "its GPUs"
                for i in ids:
                    users.setdefault(i, node)
            if before is not None:
                yield _shared(fleet, host, before, node, shared, users)


def _shared(fleet: Fleet, host: str, before: Node, node: Node, shared: str, users: dict[int, Node]) -> Diagnostic:
    listed = len(fleet.hosts[host].gpus)
    free = [i for i in range(listed) if i not in users]
    return error(
        "gpu-used-twice",
        f"{before.name} and {node.name} on host {host} both run AI models on {shared}",
        Label((*node.path, "gpus"), node.name),
        [Label((*before.path, "gpus"), before.name)],
        f"write gpus = [{free[0]}]" if free else "give each of them its own GPUs, or put all models into one node",
    )
