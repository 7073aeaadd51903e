"""A gateway only accepts newer node releases than the orchestrators of its own fleet run.

Why: an orchestrator with an older release than `selection.min_release` is silently excluded. It is an error if the
gateway lists only orchestrators of this fleet and all are older. Text that is not a version is worse than none: the
node then accepts everybody.

Example:

    [gateways.gate]
    orchestrators = ["orch"]
    selection = { min_release = "v0.9.1" }

    [orchestrators.orch]
    node_release = "v0.8.5"

Instead:

    [gateways.gate]
    orchestrators = ["orch"]
    selection = { min_release = "v0.8.5" }

    [orchestrators.orch]
    node_release = "v0.8.5"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.discovery import OLDER, searches, wanted_release
from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.gateway import Gateway
from fleetc.places.diagnostic import Diagnostic, Label, error, warning
from fleetc.places.origin import Chosen
from fleetc.upstream import Release, format_release

_SHOWN = 6


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare the lowest release that each gateway accepts with those of the orchestrators that it finds."""
    for name, gateway in sorted(fleet.gateways.items()):
        wanted = gateway.selection.min_release
        if wanted is None:
            continue
        if wanted_release(gateway) is None:
            yield warning(
                "orchestrators-below-min-release",
                f'"{wanted}" is not a version, so gateway {name} accepts every release',
                Label(("gateways", name, "selection", "min_release")),
                help='write three numbers, such as min_release = "v0.9.1"',
            )
            continue
        yield from _compared(fleet, name, gateway)


def _compared(fleet: Fleet, name: str, gateway: Gateway) -> Iterator[Diagnostic]:
    search = searches(fleet)[name]
    older = [(seller, _release(fleet, seller)) for seller in search.found if search.dropped.get(seller) == OLDER]
    if not older:
        return
    nobody = search.closed and len(older) == len(search.found)
    outcome = (
        "all orchestrators that it lists run older releases"
        if nobody
        else f"{len(older)} of the {len(search.found)} orchestrators that it finds in this fleet run older releases"
    )
    lowest = min(release.value for _, release in older)
    yield (error if nobody else warning)(
        "orchestrators-below-min-release",
        f"gateway {name} accepts {gateway.selection.min_release} and newer, but {outcome}",
        Label(("gateways", name, "selection", "min_release")),
        [
            Label(release.origin.paths[0], f"{seller} runs {format_release(release.value)}")
            for seller, release in older[:_SHOWN]
        ],
        f'write min_release = "{format_release(lowest)}", or upgrade the orchestrators',
    )


def _release(fleet: Fleet, seller: str) -> Chosen[Release]:
    return effective.release_of(fleet, Node("orchestrators", seller, fleet.orchestrators[seller]))
