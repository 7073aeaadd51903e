"""Whether a node has its peers of the fleet.

In: a node and its answers. Out: findings.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.fleet import Node
from fleetc.rollout.verify import replies
from fleetc.rollout.verify.checks.registration import place_in, place_of
from fleetc.rollout.verify.data import Finding, NodeSeen, UnknownError
from fleetc.rollout.verify.questions import PAYMENTS_FAILED


def orchestrators(seen: NodeSeen) -> Iterator[Finding]:
    """Whether a gateway has the orchestrators that it lists, or finds any at all."""
    if seen.service.role != "gateway":
        return
    listed = [edge.target for edge in seen.edges if edge.kind == "pays"]
    if not listed and not any(edge.kind == "finds" for edge in seen.edges):
        return
    status = replies.mapping(seen.reply(seen.service.health.status, "/status"), "/status")
    pool = status.get("OrchestratorPool")
    if not isinstance(pool, list):
        raise UnknownError("/status does not list its orchestrators")
    known = {place_in(url) for url in pool if isinstance(url, str)}
    if not listed and not known:
        message = "it finds no orchestrator, so it sends no work to anybody"
        yield seen.found("drift", "gateway-finds-nobody", message)
    for name in listed:
        orchestrator = seen.fleet.orchestrators[name]
        address = effective.service_address(seen.fleet, Node("orchestrators", name, orchestrator))
        if address is not None and place_of(address.value) not in known:
            message = f"it does not know the orchestrator {name} at {place_of(address.value)}"
            yield seen.found("drift", "orchestrator-not-known", message, "orchestrators")


def workers(seen: NodeSeen) -> Iterator[Finding]:
    """Whether the transcoders of an orchestrator are connected. It does not report AI workers."""
    transcoders = [
        edge.target for edge in seen.edges if edge.kind == "serves" and edge.target in seen.fleet.transcoders
    ]
    if not transcoders:
        return
    status = replies.mapping(seen.reply(seen.service.health.status, "/status"), "/status")
    connected = replies.number(status.get("RegisteredTranscodersNumber"))
    if connected is None:
        raise UnknownError("/status has no number of connected transcoders")
    if connected < len(transcoders):
        message = f"{connected} of its {len(transcoders)} transcoders are connected ({', '.join(transcoders)})"
        yield seen.found("drift", "worker-not-connected", message)


def payments(seen: NodeSeen) -> Iterator[Finding]:
    """Payments that could not be made since the node started, as its metrics count them."""
    if not seen.service.monitored:
        return
    failed = replies.metric(seen.reply(seen.service.health.status, "/metrics"), PAYMENTS_FAILED)
    if failed:
        message = f"it could not make {failed} payments since it started: look at its deposit and at its log"
        yield seen.found("warning", "payments-failing", message)
