"""A wallet that gateways pay from has no deposit.

Why: a gateway whose deposit is zero silently stops routing: it drops every orchestrator, and no error reaches the
sender of a stream. Funds in the account are not a deposit until you set them aside, and neither are bridged funds (a
bridge to the chain usually confirms within 15 minutes). Option 11 of livepeer_cli, the node's own menu, asks for the
deposit and the reserve, and option 1 shows them.

Example:

    [wallets.payer]
    address = "0x1111111111111111111111111111111111111111"
    reserve = "0.3 ETH"

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
    """Look at the wallets of gateways and remote signers on a chain; a signer pays instead of its gateways."""
    found: dict[str, list[Node]] = {}
    for wallet, node in payers(fleet):
        found.setdefault(wallet, []).append(node)
    for name, nodes in sorted(found.items()):
        deposit = fleet.wallets[name].deposit
        if deposit is None or not deposit.wei:
            said = "no deposit" if deposit is None else "a deposit of zero"
            yield error(
                "gateway-deposit-missing",
                f"wallet {name} has {said}, but {nodes[0].name} pays from it",
                Label(("wallets", name), "here") if deposit is None else Label(("wallets", name, "deposit")),
                [Label((*node.path, "wallet"), node.name) for node in nodes[:_SHOWN]],
                f'set one aside with livepeer_cli, and write it in wallets.{name}, like deposit = "0.5 ETH"',
            )
