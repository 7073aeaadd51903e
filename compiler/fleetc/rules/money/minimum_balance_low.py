"""A wallet on a chain has no minimum balance, or one below the recommended 0.02 ETH.

Why: every transaction of a node costs gas: redeeming tickets, calling reward, adding to a deposit. If the wallet cannot
pay for it, the transaction fails with "insufficient funds for gas * price + value", hours after the balance ran low.
Operators recommend 0.02 to 0.05 of the native currency. The node has no metric for the balance, so no alert watches it:
check it yourself.

Example:

    [wallets.earner]
    address = "0x2222222222222222222222222222222222222222"
    minimum_balance = "0.01 ETH"

Instead:

    [wallets.earner]
    address = "0x2222222222222222222222222222222222222222"
    minimum_balance = "0.05 ETH"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning

_LEAST = 2 * 10**16


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the wallets that nodes on a chain hold."""
    if not fleet.on_chain:
        return
    for name in fleet.nodes_by_wallet:
        balance = fleet.wallets[name].minimum_balance
        if balance is None or balance.wei < _LEAST:
            said = "no minimum balance" if balance is None else f"a minimum balance of only {balance}"
            yield warning(
                "minimum-balance-low",
                f"wallet {name} has {said}",
                Label(("wallets", name), "here") if balance is None else Label(("wallets", name, "minimum_balance")),
                help=f'write minimum_balance = "0.05 ETH" in wallets.{name}; 0.02 to 0.05 ETH is recommended',
            )
