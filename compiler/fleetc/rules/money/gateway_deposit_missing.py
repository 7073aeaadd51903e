"""A wallet that gateways pay from has no deposit.

Why: a gateway without a deposit drops every orchestrator, and no error reaches the sender of a stream. Funds in the
account, bridged or not, are no deposit until you set them aside (a bridge usually confirms within 15 minutes). Option
11 of livepeer_cli, the node's own menu, asks for the deposit and the reserve, and option 1 shows them.

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

from fleetc.analysis.funds import unfunded
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the wallets of gateways and remote signers on a chain; a signer pays instead of its gateways."""
    for lack in unfunded(fleet, "deposit"):
        shows = "livepeer_cli shows what is set aside, and sets it aside"
        advice = f'{shows}: write it in wallets.{lack.wallet}, as deposit = "... ETH"'
        yield error("gateway-deposit-missing", lack.message, lack.label, lack.payers, advice)
