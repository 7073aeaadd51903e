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

from fleetc.analysis.funds import unfunded
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the wallets of gateways and remote signers on a chain; a signer pays instead of its gateways."""
    for lack in unfunded(fleet, "reserve"):
        shows = "livepeer_cli shows what is set aside, and sets it aside"
        advice = f'{shows}: write it in wallets.{lack.wallet}, as reserve = "... ETH"'
        yield error("gateway-reserve-missing", lack.message, lack.label, lack.payers, advice)
