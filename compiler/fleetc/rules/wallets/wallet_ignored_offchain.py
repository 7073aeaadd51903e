"""A node of an off-chain fleet has a wallet.

Why: off-chain nobody pays and nobody is paid. You probably meant another network.

Example:

    [fleet]
    network = "offchain"

    [gateways.gate]
    wallet = "payer"

Instead:

    [fleet]
    network = "arbitrum-one-mainnet"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.language.signing import has_signer
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at every node that names a wallet."""
    if fleet.on_chain:
        return
    for holders in fleet.nodes_by_wallet.values():
        for node in holders:
            if has_signer(node):
                continue  # setting-belongs-to-signer refuses it
            yield warning(
                "wallet-ignored-offchain",
                f"{node.name} has a wallet, which an off-chain fleet does not use",
                Label((*node.path, "wallet")),
                [Label(("fleet", "network"), "no chain")],
                "remove the wallet, or set network to the chain",
            )
