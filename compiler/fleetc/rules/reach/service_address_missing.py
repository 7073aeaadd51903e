"""An orchestrator has no complete public address.

Why: without an address, the node asks a web service for its own address; without a port, it listens on a random one.
Gateways then call a dead address. On a chain the address is also registered, and only the 100 orchestrators with the
most stake, the active set, get work. If `http` sets the listener, the node starts without a port in the address, so it
is only a warning. Gateways then dial the address without a port and fail with "missing port in address".

Fix: `fleetc check --fix` adds the documented port 8935 if the orchestrator sets no listener and no node on its host has
that port.

Example:

    [orchestrators.orch]
    service = "orch.example.net"

Instead:

    [orchestrators.orch]
    service = "orch.example.net:8935"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.listeners import of_node
from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.orchestrator import Orchestrator, ServiceAddress
from fleetc.places.diagnostic import Diagnostic, Fix, Label, error, fix_set, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each orchestrator's address, or else its host's."""
    for node in fleet.nodes:
        settings = node.settings
        if not isinstance(settings, Orchestrator):
            continue
        chosen = effective.service_address(fleet, node)
        if chosen is None:
            yield error(
                "service-address-missing",
                f"neither orchestrator {node.name} nor its host {settings.host} has a public address",
                Label(node.path, "here"),
                [Label(("hosts", settings.host), "and here")],
                'write service = "orch.example.net:8935" here, or public = "orch.example.net" for the host',
            )
        elif chosen.value.port is None and settings.http is not None:
            port = 80 if chosen.value.scheme == "http" else 443
            yield warning(
                "service-address-missing",
                f"the service address of orchestrator {node.name} has no port, and gateways do not add one",
                Label(chosen.origin.paths[0]),
                [Label((*node.path, "http"), "the listener")],
                f'write the public port, such as service = "{_shown(chosen.value)}:{port}"',
            )
        elif chosen.value.port is None:
            yield error(
                "service-address-missing",
                f"the service address of orchestrator {node.name} has no port, so its node would pick one at random",
                Label(chosen.origin.paths[0]),
                help=f'write service = "{_shown(chosen.value)}:{effective.SERVICE_PORT}"',
                fix=_with_port(fleet, node, settings),
            )


def _shown(service: ServiceAddress) -> str:
    return f"http://{service.host}" if service.scheme == "http" else service.host


def _with_port(fleet: Fleet, node: Node, settings: Orchestrator) -> Fix | None:
    """The documented port, unless the spec needs another: the node then listens there too."""
    others = (other for other in fleet.nodes_by_host[settings.host] if other.name != node.name)
    taken = {bound.port for other in others for bound in of_node(fleet, other)}
    if settings.service is None or settings.http is not None or effective.SERVICE_PORT in taken:
        return None
    return fix_set((*node.path, "service"), f"{_shown(settings.service)}:{effective.SERVICE_PORT}")
