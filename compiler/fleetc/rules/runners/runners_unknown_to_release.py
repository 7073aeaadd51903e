"""An orchestrator offers live runners, and its node's release does not know them.

Why: the node stops at the first flag that it does not know. Live runners came with v0.9.0.

Example:

    [orchestrators.orch]
    node_release = "v0.8.10"
    runners = ["echo"]

    [runners.echo]
    price = "0.10 USD / hour"

Instead:

    [orchestrators.orch]
    node_release = "v0.9.1"
    runners = ["echo"]

    [runners.echo]
    price = "0.10 USD / hour"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.effective_runners import offers
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error
from fleetc.upstream import FLAGS, format_release


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each orchestrator that lists a runner, once."""
    said = set()
    for offer in offers(fleet):
        node = offer.orchestrator
        if node.name in said or effective.knows(fleet, node, "liveRunnerConfig"):
            continue
        said.add(node.name)
        release = effective.release_of(fleet, node)
        yield error(
            "runners-unknown-to-release",
            f"release {format_release(release.value)} of {node.name} does not know live runners",
            Label((*node.path, "runners")),
            [Label(release.origin.paths[0], "the release")],
            f"use {format_release(FLAGS['liveRunnerConfig'].since)} or later",
        )
