"""Agents would send metrics to a port of another program.

Why: without `receiver`, agents send metrics to port 9090 of the Prometheus host. orchestrator-health listens there too,
and a node may. Prometheus then cannot start there, and the metrics are lost.

Example:

    [monitoring]
    host = "gpu"

    [avatars.stage]
    host = "gpu"
    slots = 4

Instead:

    [monitoring]
    host = "gpu"
    receiver = "http://203.0.113.20:9091/api/v1/write"

    [avatars.stage]
    host = "gpu"
    slots = 4
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.listeners import of_host
from fleetc.analysis.scraping import AGENT, PROMETHEUS_PORT, WRITE_PATH, prometheus_host, readings
from fleetc.language.fleet import Fleet
from fleetc.language.quantities import HostName, host_port
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the host of Prometheus if agents send to it and the spec does not say which port.

    The ports of a monitoring project are another rule's.
    """
    settings = fleet.monitoring
    home = prometheus_host(fleet)
    if home is None or settings is None or settings.receiver is not None or settings.project is not None:
        return
    if not any(reading.by == AGENT for reading in readings(fleet)):
        return
    for port in of_host(fleet, home.value):
        if port.port == PROMETHEUS_PORT and port.protocol == "tcp":
            authority = host_port(HostName(fleet.hosts[home.value].address), PROMETHEUS_PORT + 1)
            yield error(
                "prometheus-port-taken",
                f"agents would send metrics to port {PROMETHEUS_PORT} of host {home.value}, which {port.name} uses",
                Label(home.origin.paths[0]),
                [Label(port.origin.paths[0], f"{port.name}: {port.purpose}")],
                f'move Prometheus to another port and write receiver = "http://{authority}{WRITE_PATH}"',
            )
