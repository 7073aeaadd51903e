"""A node needs Docker on a systemd host, although all containers of its models are somewhere else.

Why: the node asks for the Docker socket before it looks at its models, and stops if nothing answers there. A host whose
nodes are units often has no Docker. Models that already run somewhere can be live runners instead: an orchestrator that
offers nothing else starts no AI worker, and needs no Docker. If Docker runs there, silence this.

Example:

    [hosts.gpu]
    runtime = "systemd"

    [orchestrators.orch]
    mode = "ai"
    ai_work = "local"
    models = [{ use = "realvis", url = "http://203.0.113.50:8000" }]

Instead:

    [rates]
    USD = "0.0004 ETH"

    [orchestrators.orch]
    mode = "ai"
    runners = ["realvis"]
    ticket_ev = "20 gwei"

    [runners.realvis]
    app = "SG161222/RealVisXL_V4.0_Lightning"
    url = "http://203.0.113.50:8000"
    price = "0.0001 USD / request"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.fleet import Fleet
from fleetc.language.node import AiSettings
from fleetc.language.worker import AiWorker
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the nodes on systemd hosts that run models; a serverless worker has no containers at all."""
    for node in fleet.nodes:
        settings = node.settings
        host = settings.host
        if fleet.hosts[host].runtime != "systemd" or not isinstance(settings, AiSettings) or not settings.models:
            continue
        if isinstance(settings, AiWorker) and settings.serverless:
            continue
        if not effective.runs_models(fleet, node).value or any(use.url is None for use in settings.models):
            continue
        yield warning(
            "docker-for-models-elsewhere",
            f"{node.name} starts no container, but its node stops if Docker does not answer on {host}",
            Label((*node.path, "models"), "all of them are somewhere else"),
            [Label(("hosts", host, "runtime"), "its nodes are units")],
            "offer them as live runners (a table under [runners] each), or install Docker there and silence this",
        )
