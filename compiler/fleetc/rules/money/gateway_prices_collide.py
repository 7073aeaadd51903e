"""An orchestrator has two prices for one account.

Why: the node identifies gateways by account, and keeps the last price that it reads for each. Gateways that share a
wallet are one account, so only one of their prices applies: which one depends on their names.

Example:

    [gateways.east]
    wallet = "payer"

    [gateways.west]
    wallet = "payer"

    [orchestrators.orch]
    gateway_prices = { east = "900 wei / pixel", west = "1100 wei / pixel" }

Instead:

    [gateways.east]
    wallet = "payer"

    [gateways.west]
    wallet = "payer"

    [orchestrators.orch]
    gateway_prices = { east = "900 wei / pixel" }
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fleetc.language.fleet import Fleet
from fleetc.language.quantities import Price
from fleetc.language.signing import account_of
from fleetc.places.diagnostic import Diagnostic, Label, Path, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the prices for single gateways, of video and of models. Two equal prices are fine."""
    if not fleet.on_chain:
        return
    for name, orchestrator in sorted(fleet.orchestrators.items()):
        path: Path = ("orchestrators", name)
        yield from _collisions(fleet, name, orchestrator.gateway_prices, path)
        for index, use in enumerate(orchestrator.models):
            yield from _collisions(fleet, name, use.gateway_prices, (*path, "models", index))


def _collisions(fleet: Fleet, name: str, prices: Mapping[str, Price], path: Path) -> Iterator[Diagnostic]:
    if len(prices) < 2:
        return
    seen: dict[str, str] = {}
    for key, price in sorted(prices.items()):
        account = key if key.startswith("0x") else account_of(fleet, key)
        before = seen.setdefault(str(account or key).lower(), key)
        if prices[before].compare(price) != 0:
            yield error(
                "gateway-prices-collide",
                f"orchestrator {name} has two prices for one account: {before} and {key} pay from the same wallet",
                Label((*path, "gateway_prices", key)),
                [Label((*path, "gateway_prices", before), "the other price")],
                f"keep one of them, or give {key if key in fleet.gateways else before} its own wallet",
            )
