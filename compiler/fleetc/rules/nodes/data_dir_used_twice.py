"""Two processes on one host share a data directory, or one is inside the other.

Why: the directory holds a database, a certificate and a keystore that belong to one process. Two processes lock each
other out or mix their chain state, and one of them exits with status 0.

Example:

    [gateways.gate]
    host = "edge"
    data_dir = "/var/lib/livepeer/node"

    [orchestrators.orch]
    host = "edge"
    data_dir = "/var/lib/livepeer/node"

Instead:

    # without data_dir, each node gets its own directory under the host's state_dir
    [gateways.gate]
    host = "edge"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.places.diagnostic import Diagnostic, Label, error
from fleetc.places.origin import Chosen


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare the directories of each host in sorted order, where a subdirectory follows its parent."""
    for host, nodes in fleet.nodes_by_host.items():
        directories = ((node, effective.data_dir(fleet, node)) for node in nodes)
        parted = sorted(
            ((chosen.value.split("/"), node, chosen) for node, chosen in directories), key=lambda d: (d[0], d[1].name)
        )
        outer: list[tuple[list[str], Node, Chosen[str]]] = []
        for parts, node, chosen in parted:
            while outer and parts[: len(outer[-1][0])] != outer[-1][0]:
                outer.pop()
            if outer:
                yield _clash(host, outer[-1][1], outer[-1][2], node, chosen)
            outer.append((parts, node, chosen))


def _clash(host: str, first: Node, where: Chosen[str], node: Node, inside: Chosen[str]) -> Diagnostic:
    same = where.value == inside.value
    message = (
        f"{first.name} and {node.name} on host {host} have the same data directory, {inside.value}"
        if same
        else f"the data directory of {node.name} on host {host} is inside that of {first.name}"
    )
    given = inside.origin.kind == "given"
    return error(
        "data-dir-used-twice",
        message,
        Label(inside.origin.paths[0] if given else node.path, inside.value),
        [Label(where.origin.paths[0] if where.origin.kind == "given" else first.path, where.value)],
        f"remove data_dir from {node.name if given else first.name}: it then gets its own directory",
    )
