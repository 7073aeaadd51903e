"""Nodes serve metrics that nothing reads, or agents send them to a Prometheus that only listens on loopback.

Why: a node serves its metrics on its administration listener, which belongs on loopback because it can move funds
without a password. A Prometheus on another machine cannot read it there, so such a node gets no target and no alert
watches it. If you name the host of Prometheus, or its receiver, fleetc configures an agent on every other host. It
reads on loopback and forwards. A monitoring project opens nothing that the spec does not open: an agent on another host
reaches Prometheus only at an address of a private network, or behind a firewall, because it asks for no password.

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

from fleetc.analysis.scraping import AGENT, NOBODY, WRITE_PATH, readings, receiver
from fleetc.language.effective_monitoring import project_of, prometheus_listener
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error, warning
from fleetc.text.suggestions import one_of

SHOWN = 3
"""How many more nodes the message points to."""


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at who reads each node with monitor = true; one warning for all, because one setting fixes all."""
    yield from _unreached(fleet)
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


def _unreached(fleet: Fleet) -> Iterator[Diagnostic]:
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
            "metrics-out-of-reach",
            f"{agents} to {target.value}, but Prometheus listens on {listener.value} alone",
            Label(listener.origin.paths[0], "where Prometheus listens", on_key=listener.origin.kind == "default"),
            [Label(("hosts", host), "an agent reads here", on_key=True) for host in hosts[:SHOWN]],
            f"write prometheus = {one_of([address])} in monitoring.project, behind a firewall that admits only the "
            "agents, or the address of a proxy as receiver in monitoring",
        )
