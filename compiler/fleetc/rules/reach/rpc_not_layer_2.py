"""The RPC address belongs to a layer-1 chain, but the fleet's network is a layer-2 chain.

Why: the network's contracts do not exist on layer 1, so every on-chain node exits at startup, with status 0.

Example:

    [fleet]
    network = "arbitrum-one-mainnet"
    rpc = "https://eth-mainnet.provider.example/rpc"

Instead:

    [fleet]
    network = "arbitrum-one-mainnet"
    rpc = "https://arb-mainnet.provider.example/rpc"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.effective import rpc_urls
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error
from fleetc.upstream import LAYER_1_FRAGMENTS, LAYER_2_FRAGMENTS, NETWORKS


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look for the host names that providers use for chains; a secret reference cannot be checked here."""
    network = NETWORKS.get(fleet.fleet.network)
    if network is None or network.layer != 2:
        return
    for path, rpc in rpc_urls(fleet):
        address = f"{rpc.host}{rpc.path}".lower()
        if any(part in address for part in LAYER_2_FRAGMENTS) or not any(part in address for part in LAYER_1_FRAGMENTS):
            continue
        yield error(
            "rpc-not-layer-2",
            f"the RPC address at {rpc.host} serves a layer-1 chain, but {network.name} is a layer-2 chain",
            Label(path, "layer 1"),
            [Label(("fleet", "network"), "layer 2")],
            "use the provider's address for Arbitrum One",
        )
