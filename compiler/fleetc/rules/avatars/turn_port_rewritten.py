"""The edge would send viewers to the wrong port for TURN.

Why: with `edge.update_turn` the host rewrites the address that viewers get for TURN, always with port 3478.

Example:

    [avatars.stage]
    slots = 2
    edge = { update_turn = true }
    turn = { port = 3479, user = { env = "TURN_USER" }, password = { env = "TURN_PASSWORD" } }

Instead:

    [avatars.stage]
    slots = 2
    edge = { update_turn = true }
    turn = { user = { env = "TURN_USER" }, password = { env = "TURN_PASSWORD" } }
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error

_WRITTEN = 3478


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the stacks whose edge writes the TURN address."""
    for stack in fleet.stacks:
        turn, edge = stack.settings.turn, stack.settings.edge
        if turn is not None and edge is not None and edge.update_turn and turn.port != _WRITTEN:
            yield error(
                "turn-port-rewritten",
                f"the edge of {stack.name} sends viewers to TURN at port {_WRITTEN}, but TURN listens on {turn.port}",
                Label((*stack.path, "turn", "port")),
                [Label((*stack.path, "edge", "update_turn"), "always writes that port")],
                "remove turn.port, or write edge.update_turn = false and turn.address",
            )
