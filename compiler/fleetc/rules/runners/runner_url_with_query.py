"""The URL of a live runner has a query, and the path of its health is added behind that.

Why: the node appends the path to the whole URL, so it becomes a part of the query. The health check and clients then
request the wrong path.

Example:

    [orchestrators.orch]
    runners = ["sd3"]

    [runners.sd3]
    url = "http://192.0.2.7:8000/sd3?model=turbo"
    health = "/health"
    price = "0.0001 USD / request"

Instead:

    [orchestrators.orch]
    runners = ["sd3"]

    [runners.sd3]
    url = "http://192.0.2.7:8000/sd3"
    health = "/health"
    price = "0.0001 USD / request"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the runners elsewhere whose health is a path."""
    for name, runner in sorted(fleet.runners.items()):
        if runner.url is None or "?" not in str(runner.url) or not isinstance(runner.health, str):
            continue
        yield error(
            "runner-url-with-query",
            f"the URL of runner {name} has a query, behind which the node puts {runner.health}",
            Label(("runners", name, "url")),
            [Label(("runners", name, "health"), "the path")],
            "remove the query: what a runner has to know belongs into the paths or bodies of its clients",
        )
