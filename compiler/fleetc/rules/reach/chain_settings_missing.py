"""A fleet on a chain lacks the address of the chain, or a node lacks its wallet.

Why: without an RPC address, the node exits at startup. Without an account, it creates a new, empty wallet that nobody
backs up, and pays and earns with that one.

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

from fleetc.language import effective
from fleetc.language.fleet import Fleet
from fleetc.language.node import ChainSettings
from fleetc.language.signing import talks_to_chain
from fleetc.places.diagnostic import Diagnostic, Label, error
from fleetc.text.suggestions import one_of


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the fleet and at each node that talks to the chain; a remote signer holds the wallet for its gateway."""
    talking = [node for node in fleet.nodes if talks_to_chain(fleet, node)]
    network = fleet.fleet.network
    without = sorted({node.settings.host for node in talking if effective.rpc(fleet, node.settings.host) is None})
    if without:
        some = any(host.rpc is not None for host in fleet.hosts.values())
        yield error(
            "chain-settings-missing",
            f"the fleet runs on {network} but has no RPC address" + (f" for host {without[0]}" if some else ""),
            Label(("fleet", "network"), "a chain"),
            help='write rpc = { env = "ARBITRUM_RPC_URL" } under [fleet]',
        )
    known = sorted(fleet.wallets)
    choice = one_of(known) if known else ""
    for node in talking:
        if not isinstance(node.settings, ChainSettings) or node.settings.wallet is not None:
            continue
        yield error(
            "chain-settings-missing",
            f"{node.name} runs on {network} but has no wallet",
            Label(node.path, "here"),
            [Label(("fleet", "network"), "a chain")],
            f"write wallet = {choice}" if known else "define a wallet under [wallets], and use it here: wallet = ...",
        )
