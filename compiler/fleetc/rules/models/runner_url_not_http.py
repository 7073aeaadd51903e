"""A runner that is managed elsewhere has an address that the node cannot call.

Why: the node calls a runner over HTTP. Only a serverless worker uses a websocket to its provider. Any other such runner
never becomes healthy, and the node gives up after two minutes.

Example:

    [[ai_workers.w.models]]
    use = "realvis"
    url = "wss://203.0.113.50:8000"

Instead:

    [[ai_workers.w.models]]
    use = "realvis"
    url = "https://203.0.113.50:8000"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.language.node import AiSettings
from fleetc.language.worker import AiWorker
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the models with an address on every node but serverless workers."""
    for node in fleet.nodes:
        settings = node.settings
        if not isinstance(settings, AiSettings) or (isinstance(settings, AiWorker) and settings.serverless):
            continue
        for index, use in enumerate(settings.models):
            if use.url is not None and use.url.scheme in ("ws", "wss"):
                scheme = "https" if use.url.scheme == "wss" else "http"
                port = f":{use.url.port}" if use.url.port else ""
                yield error(
                    "runner-url-not-http",
                    f"{node.name} cannot call the runner of model {use.use} over a websocket",
                    Label((*node.path, "models", index, "url")),
                    help=f'write url = "{scheme}://{use.url.host}{port}"',
                )
