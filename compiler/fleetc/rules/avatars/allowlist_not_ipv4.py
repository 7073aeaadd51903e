"""An allowlist that a control plane reads contains an IPv6 address.

Why: with a control plane, the host's rotator owns the allowlists, and its lists take only IPv4: a single other entry
stops it.

Example:

    [avatars.stage]
    slots = 2
    allow = ["2001:db8::7"]
    edge = { url = "https://edge.example.net", token = { env = "EDGE_TOKEN" } }
    registration = { id = "stage-1", address = "0x1111111111111111111111111111111111111111" }

Instead:

    [avatars.stage]
    slots = 2
    allow = ["198.51.100.7"]
    edge = { url = "https://edge.example.net", token = { env = "EDGE_TOKEN" } }
    registration = { id = "stage-1", address = "0x1111111111111111111111111111111111111111" }
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective_avatar
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the stacks with a control plane."""
    for stack in fleet.stacks:
        edge = stack.settings.edge
        if edge is None or edge.url is None:
            continue
        for entry in effective_avatar.allowed(stack):
            if entry.network.version != 4:
                yield error(
                    "allowlist-not-ipv4",
                    f"{entry.network} is not IPv4, but the control plane of {stack.name} reads nothing else",
                    Label(entry.origin.paths[0]),
                    [Label((*stack.path, "edge", "url"), "the control plane")],
                    "write the IPv4 address of that caller",
                )
