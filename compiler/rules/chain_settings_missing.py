"""A fleet on a chain lacks the address of the chain, or a node lacks its wallet.

Why: the node stops at its start without an RPC address. Without an account it makes a new, empty wallet that nobody
backs up, and pays and earns with that.

Example:

    [fleet]
    network = "arbitrum-one-mainnet"

Instead:

    [fleet]
    network = "arbitrum-one-mainnet"
    rpc = { env = "ARBITRUM_RPC_URL" }
"""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Diagnostic, Label, error
from compiler.model.fleet import Fleet
from compiler.model.gateway import Gateway
from compiler.model.node import ChainSettings
from compiler.suggestions import one_of


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the fleet and at each node that talks to the chain; a remote signer holds the wallet for its gateway."""
    if not fleet.on_chain:
        return
    network = fleet.fleet.network
    if fleet.fleet.rpc is None and any(isinstance(node.settings, ChainSettings) for node in fleet.nodes):
        yield error(
            "chain-settings-missing",
            f"the fleet runs on {network} and has no RPC address",
            Label(("fleet", "network"), "a chain"),
            help='write rpc = { env = "ARBITRUM_RPC_URL" } under [fleet]',
        )
    known = sorted(fleet.wallets)
    choice = one_of(known) if known else ""
    for node in fleet.nodes:
        settings = node.settings
        if not isinstance(settings, ChainSettings) or settings.wallet is not None:
            continue
        if isinstance(settings, Gateway) and settings.remote_signer is not None:
            continue
        yield error(
            "chain-settings-missing",
            f"{node.name} runs on {network} and has no wallet",
            Label(node.path, "here"),
            [Label(("fleet", "network"), "a chain")],
            f"write wallet = {choice}" if known else "define a wallet under [wallets], and name it here: wallet = ...",
        )
