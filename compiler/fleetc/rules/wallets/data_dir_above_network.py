"""The keystore of a wallet is in a directory below data_dir that has the name of a network.

Why: without a data directory, a node keeps its data and keystore in its user's home, in a directory named after the
network. With data_dir, nothing is put behind the path. A data_dir that ends above that directory is a new and empty
one: the node forgets the tickets that it has not redeemed.

Example:

    [wallets.payer]
    keystore = "/root/.lpData/arbitrum-one-mainnet/keystore"

    [gateways.gate]
    wallet = "payer"
    data_dir = "/root/.lpData"

Instead:

    [gateways.gate]
    wallet = "payer"
    data_dir = "/root/.lpData/arbitrum-one-mainnet"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.language.node import ChainSettings
from fleetc.places.diagnostic import Diagnostic, Label, warning
from fleetc.upstream import NETWORKS


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare data_dir of each node that has one with the keystore of its wallet."""
    if not fleet.on_chain:
        return
    for node in fleet.nodes:
        settings = node.settings
        if not isinstance(settings, ChainSettings) or settings.data_dir is None or settings.wallet is None:
            continue
        keystore = fleet.wallets[settings.wallet].keystore
        for network in sorted({fleet.fleet.network, *NETWORKS}):
            below = f"{settings.data_dir}/{network}"
            if keystore == f"{below}/keystore":
                yield warning(
                    "data-dir-above-network",
                    f"the keystore of {node.name} is in {below}, and its data directory is not",
                    Label((*node.path, "data_dir"), "nothing is put behind this path"),
                    [Label(("wallets", settings.wallet, "keystore"), "the keystore")],
                    f'write data_dir = "{below}", if the node keeps its data there today',
                )
