"""An off-chain fleet has a signer, a redeemer or a reward caller.

Why: they handle payments on a chain. Without one, a remote signer exits at startup, and the others have nothing to do.

Example:

    [fleet]
    network = "offchain"

    [remote_signers.signer]
    host = "edge"

Instead:

    [fleet]
    network = "arbitrum-one-mainnet"

    [remote_signers.signer]
    host = "edge"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error

_WHAT = {"remote_signers": "a remote signer", "redeemers": "a redeemer", "reward_callers": "a reward caller"}


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the tables of helpers of an off-chain fleet."""
    if fleet.on_chain:
        return
    for node in fleet.nodes:
        if node.table in _WHAT:
            yield error(
                "node-needs-a-chain",
                f"{node.name} is {_WHAT[node.table]}, but the fleet is off-chain",
                Label(node.path, "needs a chain"),
                [Label(("fleet", "network"), "no chain")],
                f"remove {node.name}, or set network to the chain",
            )
