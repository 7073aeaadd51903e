"""Gateways cannot reach an orchestrator at its service address.

Why: a wildcard, loopback or private address means something else on every machine. The orchestrator runs, is registered
and gets no work. Off-chain, and on your own network, a private address is fine. So is loopback if all nodes that name
it share the host. A single-label name, such as "orch", is only a warning: machines that share a resolver or a hosts
file may resolve it. From v0.9.2 on, gateways find no session with a loopback address anywhere.

Example:

    [orchestrators.orch]
    service = "0.0.0.0:8935"

Instead:

    [orchestrators.orch]
    service = "orch.example.net:8935"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.orchestrator import Orchestrator
from fleetc.language.quantities import HostName, Listener, is_public_address
from fleetc.places.diagnostic import Diagnostic, Label, error, warning
from fleetc.upstream import NETWORKS


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each orchestrator that has an address."""
    public = fleet.on_chain and fleet.fleet.network in NETWORKS  # any other is a private network
    users = {} if public else _users(fleet)
    for node in fleet.nodes:
        settings = node.settings
        chosen = effective.service_address(fleet, node) if isinstance(settings, Orchestrator) else None
        if chosen is None:
            continue
        host = HostName(chosen.value.host.removeprefix("[").removesuffix("]"))
        listener = Listener(host, chosen.value.port or effective.SERVICE_PORT)
        place = chosen.origin.paths[0]
        public_network = Label(("fleet", "network"), "a public network")
        if listener.is_any:
            why, related = "it means all addresses of a machine", []
        elif public and listener.host_is_one_label:
            yield warning(
                "service-address-unreachable",
                f"only machines that know the name {host} can reach orchestrator {node.name}",
                Label(place),
                [public_network],
                'write the full name, such as "orch.example.net:8935"',
            )
            continue
        elif public and not is_public_address(host):
            why, related = "it means nothing outside its own network", [public_network]
        elif listener.is_loopback and _wants_routable(fleet, node, users.get(node.name, ())):
            why, related = "since v0.9.2 gateways find no session with a loopback address, not even on one host", []
        elif listener.is_loopback and (far := _elsewhere(users.get(node.name, ()), settings.host)):
            why, related = f"{far.name} runs on host {far.settings.host}", [Label((*far.path, "host"), far.name)]
        else:
            continue
        yield error(
            "service-address-unreachable",
            f"orchestrator {node.name} cannot be reached at {listener}: {why}",
            Label(place),
            related,
            'write the address at which the others reach this host, such as "orch.example.net:8935"',
        )


def _users(fleet: Fleet) -> dict[str, list[Node]]:
    """The gateways and workers that name each orchestrator."""
    users = {name: list(workers) for name, workers in fleet.workers_by_orchestrator.items()}
    for node in fleet.nodes:
        for name in getattr(node.settings, "orchestrators", ()):
            if name in fleet.orchestrators:
                users.setdefault(name, []).append(node)
    return users


def _wants_routable(fleet: Fleet, node: Node, users: list[Node] | tuple[()]) -> bool:
    """Whether the orchestrator, or a node that names it, runs a release that refuses loopback.

    It is not public which of the two sides looks at the address, so each counts.
    """
    return any(effective.can(fleet, one, "routable-service-address") for one in (node, *users))


def _elsewhere(users: list[Node] | tuple[()], host: str) -> Node | None:
    return next((user for user in users if user.settings.host != host), None)
