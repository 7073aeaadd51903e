"""A wallet is meant to have more ether than there is.

Why: about 120 million ETH exist. An amount above that is in the wrong unit, and with it the fleet's plan says that
deposits never run out, and every balance is reported as too low.

Example:

    [wallets.payer]
    deposit = "500000000 ETH"

Instead:

    [wallets.payer]
    deposit = "500000000 gwei"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.language.quantities import WEI_IN_ETHER, Wei
from fleetc.places.diagnostic import Diagnostic, Label, warning

_SUPPLY = 120_000_000 * WEI_IN_ETHER
_GWEI_IN_ETHER = 10**9


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the amounts of each wallet."""
    for name, wallet in sorted(fleet.wallets.items()):
        for key in ("minimum_balance", "deposit", "reserve"):
            amount: Wei | None = getattr(wallet, key)
            if amount is not None and amount.wei > _SUPPLY:
                number = amount.wei // WEI_IN_ETHER
                unit = "gwei" if number < 120_000_000 * _GWEI_IN_ETHER else "wei"
                yield warning(
                    "amount-above-supply",
                    f"wallet {name} is meant to have {amount}, but only about 120000000 ETH exist",
                    Label(("wallets", name, key)),
                    help=f'write {key} = "{number} {unit}" if that is the unit you meant',
                )
