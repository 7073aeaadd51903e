"""Nodes serve metrics that nothing reads.

Why: a node serves its metrics on its administration listener, which belongs on loopback because it can move funds
without a password. A Prometheus on another machine cannot read it there, so such a node gets no target and no alert
watches it. If you name the host of Prometheus, or its receiver, fleetc configures an agent on every other host. It
reads on loopback and forwards.

Example:

    [hosts.edge]
    address = "203.0.113.10"

    [hosts.gpu]
    address = "203.0.113.20"

    [gateways.gate]
    host = "edge"
    monitor = true

Instead:

    [monitoring]
    host = "edge"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.scraping import NOBODY, readings
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning
from fleetc.text.suggestions import one_of

SHOWN = 3
"""How many more nodes the message points to."""


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at who reads each node with monitor = true; one warning for all, because one setting fixes all."""
    lost = [reading for reading in readings(fleet) if reading.by == NOBODY and reading.node is not None]
    if not lost:
        return
    nodes = [reading.node for reading in lost if reading.node is not None]
    first, others = nodes[0], nodes[1:]
    hosts = sorted({reading.host for reading in lost})
    count = "1 node" if len(nodes) == 1 else f"{len(nodes)} nodes"
    related = [Label((*node.path, "monitor"), f"{node.name} too") for node in others[:SHOWN]]
    yield warning(
        "metrics-out-of-reach",
        f"nothing can read the metrics of {count}: they are served on the loopback of {_listed(hosts)}",
        Label((*first.path, "monitor"), f"{first.name} serves them at {lost[0].address}"),
        related,
        f"write the host that Prometheus runs on, [monitoring] host = {one_of(hosts)}, or, if it runs elsewhere, "
        'where agents send metrics: receiver = "https://prometheus.example.net/api/v1/write"',
    )


def _listed(hosts: list[str]) -> str:
    shown = ", ".join(hosts[:SHOWN]) + (" and others" if len(hosts) > SHOWN else "")
    return f"host {shown}" if len(hosts) == 1 else f"hosts {shown}"
