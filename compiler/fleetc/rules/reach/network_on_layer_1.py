"""The fleet's network is a layer-1 chain, where nobody buys or sells.

Why: the protocol lives on Arbitrum One since 2022, and so does the market for video and AI. On mainnet, which is layer
1, a node starts, but it finds nobody, and its tickets are worth nothing. Caps are not compared with prices there. A
network with a controller of its own is left alone.

Example:

    [fleet]
    network = "mainnet"

Instead:

    [fleet]
    network = "arbitrum-one-mainnet"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.effective import layer_1
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the network."""
    if layer_1(fleet):
        yield warning(
            "network-on-layer-1",
            f"{fleet.fleet.network} is a layer-1 chain, but orchestrators and gateways trade on Arbitrum One",
            Label(("fleet", "network")),
            help='write network = "arbitrum-one-mainnet", with the address of an RPC service for that chain',
        )
