"""A wallet that gateways pay from has no deposit, or no reserve.

Why: orchestrators accept tickets only as far as a reserve backs them. A gateway without a deposit or a reserve drops
every orchestrator, and no error reaches the sender of a stream. Funds in the account, bridged or not, are no deposit
until you set them aside (a bridge usually confirms within 15 minutes). Option 11 of livepeer_cli, the node's own menu,
asks for the deposit and the reserve, and option 1 shows them.

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

_PAYERS_SHOWN = 6


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the wallets of gateways and remote signers on a chain; a signer pays instead of its gateways."""
    found: dict[str, list[Node]] = {}
    for paying, node in payers(fleet):
        found.setdefault(paying, []).append(node)
    for name, nodes in sorted(found.items()):
        wallet = fleet.wallets[name]
        for part, amount in (("deposit", wallet.deposit), ("reserve", wallet.reserve)):
            if amount is not None and amount.wei:
                continue
            lacks = f"no {part}" if amount is None else f"a {part} of zero"
            shows = "livepeer_cli shows what is set aside, and sets it aside"
            yield error(
                "gateway-funds-missing",
                f"wallet {name} has {lacks}, but {nodes[0].name} pays from it",
                Label(("wallets", name), "here") if amount is None else Label(("wallets", name, part)),
                [Label((*node.path, "wallet"), node.name) for node in nodes[:_PAYERS_SHOWN]],
                f'{shows}: write it in wallets.{name}, as {part} = "... ETH"',
            )
