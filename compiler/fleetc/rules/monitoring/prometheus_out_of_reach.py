"""Agents send metrics to a Prometheus that only listens on loopback.

Why: a monitoring project opens nothing that the spec does not open. An agent on another host then never reaches
Prometheus: its metrics are lost, and every alert about that host with them. Prometheus asks nobody for a password: use
an address of a private network, or a firewall that lets only the agents in. If agents send to a proxy in front of it,
write the proxy's address as `receiver`.

Example:

    [monitoring]
    host = "edge"

    [monitoring.project]
    webhook = { host_file = "/etc/fleetc-monitoring/webhook" }

Instead:

    [monitoring]
    host = "edge"

    [monitoring.project]
    prometheus = "10.0.0.1:9090"
    webhook = { host_file = "/etc/fleetc-monitoring/webhook" }
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.scraping import AGENT, WRITE_PATH, readings, receiver
from fleetc.language.effective_monitoring import project_of, prometheus_listener
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error
from fleetc.text.suggestions import one_of


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare where agents send with where Prometheus listens; a written receiver needs no check."""
    project, settings, target = project_of(fleet), fleet.monitoring, receiver(fleet)
    if project is None or settings is None or settings.receiver is not None or target is None:
        return
    listener = prometheus_listener(project)
    hosts = sorted({reading.host for reading in readings(fleet) if reading.by == AGENT})
    if hosts and listener.value.is_loopback:
        agents = f"the agent on {hosts[0]} sends" if len(hosts) == 1 else f"the agents on {len(hosts)} hosts send"
        address = target.value.removeprefix("http://").removesuffix(WRITE_PATH)
        yield error(
            "prometheus-out-of-reach",
            f"{agents} to {target.value}, but Prometheus listens on {listener.value} alone",
            Label(listener.origin.paths[0], "where Prometheus listens", on_key=listener.origin.kind == "default"),
            [Label(("hosts", host), "an agent reads here", on_key=True) for host in hosts[:3]],
            f"write prometheus = {one_of([address])} in monitoring.project, behind a firewall that admits only the "
            "agents, or the address of a proxy as receiver in monitoring",
        )
