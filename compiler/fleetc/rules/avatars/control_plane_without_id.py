"""A host has a control plane but no id to ask it with.

Why: orchestrator-edge-rotator asks the edge's control plane with the host's id, `registration.id`. Without an id, it
logs an error at every poll and changes nothing: the slots get no matchmaker, so no viewer ever reaches them.

Example:

    [avatars.stage]
    slots = 2
    edge = { url = "https://edge.example.net/config", token = { env = "EDGE_TOKEN" } }

Instead:

    [avatars.stage]
    slots = 2
    edge = { url = "https://edge.example.net/config", token = { env = "EDGE_TOKEN" } }
    registration = { id = "stage-1", address = "0x1111111111111111111111111111111111111111" }
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the stacks with a control plane."""
    for stack in fleet.stacks:
        edge = stack.settings.edge
        if edge is not None and edge.url is not None and stack.settings.registration is None:
            yield error(
                "control-plane-without-id",
                f"{stack.name} asks its control plane with the id of its registration, but it has none",
                Label((*stack.path, "edge", "url"), "the control plane"),
                help='write registration = { id = "<id of this host there>", address = "0x..." } in '
                f"avatars.{stack.name}; without a control plane, write edge.addresses instead of edge.url",
            )
