"""Orchestrators of several hosts offer a live runner at a loopback address.

Why: each of them reaches a program on its own host there. Either there are several runners, which share one name and
one table, or the others hide it because nothing answers.

Example:

    [orchestrators.orch-a]
    host = "edge"
    runners = ["sd3"]

    [orchestrators.orch-b]
    host = "other"
    runners = ["sd3"]

    [runners.sd3]
    url = "http://127.0.0.1:8000"
    price = "0.0001 USD / request"

Instead:

    [orchestrators.orch-a]
    host = "edge"
    runners = ["sd3"]

    [orchestrators.orch-b]
    host = "other"
    runners = ["sd3"]

    [runners.sd3]
    url = "http://edge.example.net:8000"
    price = "0.0001 USD / request"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.effective_runners import Offer, offers, server_of
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning

_SHOWN = 6


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the hosts that each runner with a URL would be on."""
    found: dict[str, dict[str, Offer]] = {}
    for offer in offers(fleet):
        where = server_of(fleet, offer)[0]
        if offer.runner.url is not None and where == offer.orchestrator.settings.host:
            found.setdefault(offer.name, {}).setdefault(where, offer)
    for name, by_host in found.items():
        if len(by_host) > 1:
            yield warning(
                "runner-url-of-several-hosts",
                f"runner {name} is at a loopback address, and orchestrators of {len(by_host)} hosts offer it",
                Label(("runners", name, "url")),
                [Label(one.path, f"host {where}") for where, one in [*by_host.items()][:_SHOWN]],
                "write the address of the one host that it is on, or a table for the runner of each host",
            )
