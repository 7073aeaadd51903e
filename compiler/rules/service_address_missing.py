"""An orchestrator has no full public address.

Why: without one the node asks a web service for its own address, and without a port it listens on a random one.
Gateways then call an address where nobody answers.

Example:

    [orchestrators.orch]
    service = "orch.example.net"

Instead:

    [orchestrators.orch]
    service = "orch.example.net:8935"
"""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Diagnostic, Label, error
from compiler.model import effective
from compiler.model.fleet import Fleet
from compiler.model.orchestrator import Orchestrator


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each orchestrator's own address, else its host's."""
    for node in fleet.nodes:
        settings = node.settings
        if not isinstance(settings, Orchestrator):
            continue
        chosen = effective.service_address(fleet, node, settings)
        if chosen is None:
            yield error(
                "service-address-missing",
                f"orchestrator {node.name} has no public address, and neither has its host {settings.host}",
                Label(node.path, "here"),
                [Label(("hosts", settings.host), "and here")],
                'write service = "orch.example.net:8935" here, or public = "orch.example.net" for the host',
            )
        elif chosen.value.port is None:
            yield error(
                "service-address-missing",
                f"the service address of orchestrator {node.name} has no port, so its node would pick one at random",
                Label(chosen.origin.paths[0]),
                help=f'write service = "{chosen.value.host}:{effective.SERVICE_PORT}"',
            )
