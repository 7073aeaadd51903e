"""A node uses a signer or a redeemer of this fleet that listens where the node cannot reach it.

Why: signers and redeemers listen on loopback by default, which other hosts cannot reach. A gateway or an orchestrator
that cannot reach its helper exits at startup.

Example:

    [redeemers.redeemer]
    host = "edge"

    [orchestrators.orch]
    host = "gpu"
    redeemer = "redeemer"

Instead:

    [redeemers.redeemer]
    host = "edge"
    http = "0.0.0.0:8935"

    [orchestrators.orch]
    host = "gpu"
    redeemer = "redeemer"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.signer import Redeemer, Signer
from fleetc.places.diagnostic import Diagnostic, Label, Path, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each gateway with a signer of this fleet and each orchestrator with a redeemer of this fleet."""
    for name, gateway in sorted(fleet.gateways.items()):
        signer = gateway.remote_signer.signer if gateway.remote_signer else None
        if signer is not None:
            path: Path = ("gateways", name, "remote_signer", "signer")
            helper = Node("remote_signers", signer, fleet.remote_signers[signer])
            yield from _apart(fleet, path, name, gateway.host, helper, fleet.remote_signers[signer])
    for name, orchestrator in sorted(fleet.orchestrators.items()):
        redeemer = orchestrator.redeemer
        if redeemer is not None and redeemer in fleet.redeemers:
            path = ("orchestrators", name, "redeemer")
            helper = Node("redeemers", redeemer, fleet.redeemers[redeemer])
            yield from _apart(fleet, path, name, orchestrator.host, helper, fleet.redeemers[redeemer])


def _apart(
    fleet: Fleet, path: Path, user: str, host: str, helper: Node, settings: Signer | Redeemer
) -> Iterator[Diagnostic]:
    if effective.reached_at(fleet, helper, settings, host) is None:
        listener = effective.helper_http(helper, settings)
        yield error(
            "helper-out-of-reach",
            f"{user} on host {host} cannot reach {helper.name}, which listens on the loopback of host {settings.host}",
            Label(path),
            [Label(listener.origin.paths[0], f"listens at {listener.value}")],
            f'write http = "0.0.0.0:{listener.value.port}" in {helper.table}.{helper.name} and protect the port, '
            "or put both on one host",
        )
