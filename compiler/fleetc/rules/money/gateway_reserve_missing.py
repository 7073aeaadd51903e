"""A wallet that gateways pay from has no reserve.

Why: orchestrators accept tickets only as far as a reserve backs them. With a reserve of zero, a gateway silently drops
every orchestrator, as with a deposit of zero.

Example:

    [wallets.payer]
    address = "0x1111111111111111111111111111111111111111"
    deposit = "0.5 ETH"

Instead:

    [wallets.payer]
    address = "0x1111111111111111111111111111111111111111"
    deposit = "0.5 ETH"
    reserve = "0.3 ETH"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.funds import payers
from fleetc.language.fleet import Fleet, Node
from fleetc.places.diagnostic import Diagnostic, Label, error

_SHOWN = 6


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the wallets of gateways and remote signers on a chain."""
    found: dict[str, list[Node]] = {}
    for wallet, node in payers(fleet):
        found.setdefault(wallet, []).append(node)
    for name, nodes in sorted(found.items()):
        reserve = fleet.wallets[name].reserve
        if reserve is None or not reserve.wei:
            said = "no reserve" if reserve is None else "a reserve of zero"
            yield error(
                "gateway-reserve-missing",
                f"wallet {name} has {said}, but {nodes[0].name} pays from it",
                Label(("wallets", name), "here") if reserve is None else Label(("wallets", name, "reserve")),
                [Label((*node.path, "wallet"), node.name) for node in nodes[:_SHOWN]],
                f'set one aside with livepeer_cli, and write it in wallets.{name}, like reserve = "0.3 ETH"',
            )
