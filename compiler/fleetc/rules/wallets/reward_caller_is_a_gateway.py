"""A gateway calls reward for a wallet that an orchestrator holds too.

Why: reward belongs with the process that is kept running for its income. A gateway is restarted for settings of
streams, and a round that is missed pays nothing.

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
                f"gateway {caller} calls reward for wallet {wallet}, and orchestrator {better[0].name} holds it too",
                Label(("wallets", wallet, "reward_by")),
                [Label((*better[0].path, "wallet"), better[0].name)],
                f"write reward_by = {one_of(node.name for node in better)}",
            )
