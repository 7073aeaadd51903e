"""Checks of live runners that need more than their own table: their hosts, their prices, and who lists them.

In: a fleet whose values are sound. Out: diagnostics. Called by `references.py`, so that lowering may rely on them.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error


def check_runners(fleet: Fleet) -> Iterator[Diagnostic]:
    """All faults of runners except for unknown names."""
    yield from _unfit(fleet)
    yield from _without_rate(fleet)
    yield from _two_lists(fleet)


def _unfit(fleet: Fleet) -> Iterator[Diagnostic]:
    """A host starts containers or programs, not both."""
    for placed in fleet.placed_runners:
        host = fleet.hosts.get(placed.host)
        if host is None:
            continue
        own, other = ("image", "program") if host.runtime == "docker" else ("program", "image")
        if getattr(placed.runner, other) is not None:
            yield error(
                "runner-unfit-for-host",
                f"runner {placed.name} has {'an image' if other == 'image' else 'a program'}, but host {placed.host} "
                f"has the runtime {host.runtime}",
                Label((*placed.path, other)),
                [Label(("hosts", placed.host, "runtime"), "the runtime")],
                f"write {own} = ... instead, or put the runner on a host with the other runtime",
            )


def _without_rate(fleet: Fleet) -> Iterator[Diagnostic]:
    for name, runner in sorted(fleet.runners.items()):
        if runner.price is not None and runner.price.currency == "ETH" and "USD" not in fleet.rates:
            yield error(
                "runner-price-without-rate",
                f"runner {name} has its price in ether, which the node takes in USD alone, and the spec has no rate",
                Label(("runners", name, "price")),
                help='write what one USD is worth under [rates], such as USD = "0.00042 ETH", or the price in USD',
            )


def _two_lists(fleet: Fleet) -> Iterator[Diagnostic]:
    for name, orchestrator in sorted(fleet.orchestrators.items()):
        if orchestrator.runners and orchestrator.live_runner_config is not None:
            yield error(
                "two-lists-of-runners",
                f"orchestrator {name} lists runners and also has an external file of runners",
                Label(("orchestrators", name, "live_runner_config")),
                [Label(("orchestrators", name, "runners"), "fleetc writes this list into its own file")],
                "the node reads only one file: keep one",
            )
