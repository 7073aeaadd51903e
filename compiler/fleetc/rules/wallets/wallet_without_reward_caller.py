"""Several nodes share a wallet, but the spec does not choose the reward caller.

Why: by default, a node calls reward if its account is a registered orchestrator, and so do gateways. Several callers
burn gas on calls that fail every round; turning all of them off loses a round's reward.

Fix: `fleetc check --fix` sets reward_by to the reward caller that holds the wallet, or else to the orchestrator, if
there is one.

Example:

    [wallets.earner]
    address = "0x2222222222222222222222222222222222222222"

    [orchestrators.a]
    wallet = "earner"

    [orchestrators.b]
    wallet = "earner"

Instead:

    [wallets.earner]
    address = "0x2222222222222222222222222222222222222222"
    reward_by = "a"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error, fix_insert
from fleetc.text.suggestions import one_of

_SHOWN = 6


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the wallets that two or more nodes hold; off-chain nobody calls reward."""
    if not fleet.on_chain:
        return
    for wallet, holders in fleet.nodes_by_wallet.items():
        if len(holders) < 2 or fleet.wallets[wallet].reward_by is not None:
            continue
        callers: dict[str, list[str]] = {}
        for node in holders:
            callers.setdefault(node.table, []).append(node.name)
        candidates = callers.get("reward_callers") or callers.get("orchestrators") or ["none"]
        caller = candidates[0]
        certain = caller != "none" and len(candidates) == 1
        yield error(
            "wallet-without-reward-caller",
            f"{len(holders)} nodes share wallet {wallet}, but none is its reward caller",
            Label(("wallets", wallet), "here"),
            [Label((*node.path, "wallet"), node.name) for node in holders[:_SHOWN]],
            f"write reward_by = {one_of(candidates)} in wallets.{wallet}"
            + ("" if caller == "none" else ', or reward_by = "none" if another process calls reward'),
            fix_insert(("wallets", wallet, "reward_by"), caller) if certain else None,
        )
