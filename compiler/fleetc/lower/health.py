"""Lowers what a node must answer before a rollout counts it as well.

In: a fleet, a node, the ports that it listens on. Out: a `Health`. The node's own host asks, and only for what the spec
alone decides: not for a price in another currency, which depends on a rate.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from fleetc.analysis import listeners
from fleetc.analysis.prices import base_price, prices_of
from fleetc.blueprint.rollout import Health
from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.gateway import Gateway
from fleetc.language.orchestrator import Orchestrator
from fleetc.language.quantities import HostName, Listener, Price
from fleetc.language.signer import Signer
from fleetc.language.signing import talks_to_chain
from fleetc.lower.common import account
from fleetc.upstream import format_release

_LOOPBACK_V6 = HostName("::1")
_OF_CONTAINERS = " runner"
"""How the purpose of a port ends that a container of the node listens on, which may start later."""


def health(fleet: Fleet, node: Node) -> Health:
    """What the process itself listens on, where it says that it is well, and the prices that it must report."""
    settings = node.settings
    ports = listeners.of_node(fleet, node)
    own = [port.port for port in ports if port.protocol == "tcp" and not port.purpose.endswith(_OF_CONTAINERS)]
    return Health(
        ports=tuple(sorted(own)),
        healthz=_healthz(fleet, node),
        status=f"http://{_from_the_host(effective.cli_listener(node).value)}",
        version=format_release(effective.release_of(fleet, node).value).removeprefix("v"),
        prices=tuple(sorted(_prices(fleet, node))) if isinstance(settings, Orchestrator) else (),
        max_price=_max_price(fleet, node) if isinstance(settings, Gateway) else "",
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


def _prices(fleet: Fleet, node: Node) -> Iterable[tuple[str, str]]:
    if not talks_to_chain(fleet, node):
        return
    for price in prices_of(fleet, node):
        if price.at < 0 and not price.work and price.price is not None and price.price.currency == "wei":
            who = account(fleet, price.to).lower() if price.to else "default"
            yield who, _fraction(price.price)


def _max_price(fleet: Fleet, node: Node) -> str:
    base = base_price(fleet, node)
    if not talks_to_chain(fleet, node) or base is None or base.price is None or base.price.currency != "wei":
        return ""
    return _fraction(base.price)


def _fraction(price: Price) -> str:
    """Wei per pixel in lowest terms."""
    return str(Fraction(price.amount) / price.pixels)
