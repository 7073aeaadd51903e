"""A gateway calls reward for a wallet that an orchestrator also holds.

Why: the process that earns the income, and is kept running for it, should call reward. A gateway is restarted for
stream settings, and a missed round pays nothing.

Example:

    [wallets.shared]
    reward_by = "gate"

Instead:

    [wallets.shared]
    reward_by = "orch"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning
from fleetc.text.suggestions import one_of


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the wallets whose reward caller is a gateway."""
    for wallet, holders in fleet.nodes_by_wallet.items():
        caller = fleet.wallets[wallet].reward_by
        better = [node for node in holders if node.table == "orchestrators"]
        if fleet.on_chain and caller in fleet.gateways and better:
            yield warning(
                "reward-caller-is-a-gateway",
                f"gateway {caller} calls reward for wallet {wallet}, but orchestrator {better[0].name} also holds it",
                Label(("wallets", wallet, "reward_by")),
                [Label((*better[0].path, "wallet"), better[0].name)],
                f"write reward_by = {one_of(node.name for node in better)}",
            )
