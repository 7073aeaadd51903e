"""Lowers what a node must answer before a rollout counts it as well.

In: a fleet, a node, the ports that it listens on. Out: a `Health`. The node's own host asks, and for live settings too.
"""

from __future__ import annotations

from fleetc.analysis import listeners
from fleetc.blueprint.rollout import Health
from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.gateway import Gateway
from fleetc.language.orchestrator import Orchestrator
from fleetc.language.quantities import HostName, Listener
from fleetc.language.signer import Signer
from fleetc.upstream import format_release

_LOOPBACK_V6 = HostName("::1")
_OF_CONTAINERS = " runner"
"""How the purpose of a port ends that a container of the node listens on, which may start later."""


def health(fleet: Fleet, node: Node) -> Health:
    """What the process itself listens on, and where it says that it is well."""
    settings = node.settings
    ports = listeners.of_node(fleet, node)
    own = [port.port for port in ports if port.protocol == "tcp" and not port.purpose.endswith(_OF_CONTAINERS)]
    return Health(
        ports=tuple(sorted(own)),
        healthz=_healthz(fleet, node),
        status=f"http://{_from_the_host(effective.cli_listener(node).value)}",
        version=format_release(effective.release_of(fleet, node).value).removeprefix("v"),
        drains=isinstance(settings, Orchestrator),
    )


def _healthz(fleet: Fleet, node: Node) -> str:
    """Where the node answers /healthz; an orchestrator does so with its own certificate."""
    settings = node.settings
    if isinstance(settings, Gateway):
        return f"http://{_from_the_host(effective.gateway_http(node, settings).value)}"
    if isinstance(settings, Orchestrator):
        scheme = "https" if settings.http_tls else "http"
        return f"{scheme}://{_from_the_host(effective.orchestrator_http(fleet, node).value)}"
    if isinstance(settings, Signer):
        return f"http://{_from_the_host(effective.helper_http(node, settings).value)}"
    return ""


def _from_the_host(listener: Listener) -> str:
    """A listener as a program on the same host reaches it."""
    if not listener.is_any:
        return str(listener)
    return str(Listener(_LOOPBACK_V6 if ":" in listener.host else effective.LOOPBACK, listener.port))
