"""An allowlist lets in far too many addresses, or a control plane cannot read it.

Why: everybody on it may put the host to sleep, upgrade it and start slots. A list that allows everybody is an error,
and one with more than 65536 IPv4 addresses is a warning. A network of more than 256 addresses is also a warning:
runners and recorders compare whole addresses, so they admit nobody from it. With a control plane, the host's rotator
owns the allowlists, and its lists take only IPv4: a single other entry stops it.

Example:

    [avatars.stage]
    slots = 2
    allow = ["0.0.0.0/0"]

Instead:

    [avatars.stage]
    slots = 2
    allow = ["198.51.100.0/29"]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective_avatar
from fleetc.language.effective_avatar import WIDEST_SPELLED_OUT, Allowed
from fleetc.language.fleet import Fleet, Stack
from fleetc.places.diagnostic import Diagnostic, Label, error, warning

_WIDEST_PREFIX = {4: 16, 6: 32}


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each network of each allowlist."""
    for stack in fleet.stacks:
        for entry in effective_avatar.allowed(stack):
            edge = stack.settings.edge
            if edge is not None and edge.url is not None and entry.network.version != 4:
                yield error(
                    "allowlist-unfit",
                    f"{entry.network} is not IPv4, but the control plane of {stack.name} reads nothing else",
                    Label(entry.origin.paths[0]),
                    [Label((*stack.path, "edge", "url"), "the control plane")],
                    "write the IPv4 address of that caller",
                )
            yield from _entry(stack, entry)


def _entry(stack: Stack, entry: Allowed) -> Iterator[Diagnostic]:
    network = entry.network
    place = Label(entry.origin.paths[0])
    if network.prefixlen == 0:
        yield error(
            "allowlist-unfit",
            f"{stack.name} lets everybody control the host",
            place,
            help='write the addresses that may, such as allow = ["payments"]',
        )
    elif network.prefixlen < _WIDEST_PREFIX[network.version]:
        yield warning(
            "allowlist-unfit",
            f"{stack.name} lets {network.num_addresses} addresses control the host",
            place,
            help="write the networks that may, as narrow as possible",
        )
    elif network.num_addresses > WIDEST_SPELLED_OUT:
        yield warning(
            "allowlist-unfit",
            f"{network} has {network.num_addresses} addresses, but runners and recorders of {stack.name} compare "
            "single ones",
            place,
            help=f"write networks of at most {WIDEST_SPELLED_OUT} addresses for callers of runners and recorders",
        )
