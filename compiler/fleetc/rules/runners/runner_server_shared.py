"""Two offers of live runners lead to one server.

Why: the node counts the sessions of each offer alone. Together they take more sessions than the server has room for,
whether one orchestrator offers two runners there, or two orchestrators the same one.

Example:

    [orchestrators.orch]
    runners = ["sd3", "flux"]

    [runners.sd3]
    url = "http://192.0.2.7:8000/sd3"
    price = "0.0001 USD / request"

    [runners.flux]
    url = "http://192.0.2.7:8000/flux"
    price = "0.0001 USD / request"

Instead:

    [orchestrators.orch]
    runners = ["sd3", "flux"]

    [runners.sd3]
    url = "http://192.0.2.7:8000/sd3"
    price = "0.0001 USD / request"

    [runners.flux]
    url = "http://192.0.2.7:8001/flux"
    price = "0.0001 USD / request"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.effective_runners import Offer, offers, server_of
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning

_SHOWN = 6


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare the servers of all offers."""
    found: dict[tuple[str, str, int], list[Offer]] = {}
    for offer in offers(fleet):
        found.setdefault(server_of(fleet, offer), []).append(offer)
    for same in found.values():
        different = {(offer.orchestrator.name, offer.name): offer for offer in same}
        if len(different) < 2:
            continue
        first, *others = different.values()
        sessions = sum(offer.runner.capacity or 1 for offer in different.values())
        yield warning(
            "runner-server-shared",
            f"{len(different)} offers lead to one server, which may get {sessions} sessions at once",
            Label(first.path, f"{first.name} at {first.orchestrator.name}"),
            [Label(offer.path, f"{offer.name} at {offer.orchestrator.name}") for offer in others[:_SHOWN]],
            "give each its own server, or silence this if the server has room for all of them",
        )
