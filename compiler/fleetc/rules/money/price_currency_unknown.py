"""A price is in a currency that the node cannot convert.

Why: the node panics at startup. Its built-in price feed has only US dollars, on Arbitrum One; another currency or chain
needs its own feed contract.

Example:

    [orchestrators.orch]
    price = "0.38 EUR / terapixel"

Instead:

    [orchestrators.orch]
    price = "0.41 USD / terapixel"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.prices import all_prices
from fleetc.language.fleet import Fleet
from fleetc.language.gateway import Buyer
from fleetc.language.orchestrator import Orchestrator
from fleetc.language.quantities import Price
from fleetc.places.diagnostic import Diagnostic, Label, Path, error

_FEED_NETWORK = "arbitrum-one-mainnet"
_FEED_CURRENCY = "USD"


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at every price and cap of nodes on a chain without their own feed."""
    if not fleet.on_chain:
        return
    known = {"wei", _FEED_CURRENCY} if fleet.fleet.network == _FEED_NETWORK else {"wei"}
    seen: set[Path] = set()
    for path, name, price in _prices(fleet):
        if price.currency not in known and path not in seen:
            seen.add(path)
            where = "on this network" if price.currency == _FEED_CURRENCY else "with its own price feed"
            yield error(
                "price-currency-unknown",
                f"the node of {name} cannot convert {price.currency} {where}",
                Label(path),
                help=f"write the price in {' or '.join(sorted(known, reverse=True))}, or name a feed: price_feed = ...",
            )


def _prices(fleet: Fleet) -> Iterator[tuple[Path, str, Price]]:
    for found in all_prices(fleet):
        settings = found.node.settings
        if found.price is not None and isinstance(settings, Buyer | Orchestrator) and settings.price_feed is None:
            yield found.path, found.node.name, found.price
