"""A node pays less for gas than gas costs, so it sends no transactions.

Why: while the gas price is above max_gas_price, the node redeems no tickets, does not call reward and funds nothing. It
tries a winning ticket again with each block, and loses it after two rounds. The node never goes below min_gas_price, so
a max_gas_price below that stops every transaction: an error. Below the gas price of the chain (gas_price of [fleet], or
else 0.05 gwei) it is a warning.

Example:

    [orchestrators.orch]
    min_gas_price = "0.1 gwei"
    max_gas_price = "0.05 gwei"

Instead:

    [orchestrators.orch]
    min_gas_price = "0.1 gwei"
    max_gas_price = "10 gwei"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.payments import round_up
from fleetc.language import effective
from fleetc.language.fleet import Fleet
from fleetc.language.node import ChainSettings
from fleetc.language.quantities import Wei
from fleetc.places.diagnostic import Diagnostic, Label, Path, error, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each node on a chain that limits its gas price."""
    if not fleet.on_chain:
        return
    gas = effective.gas_price(fleet).value
    for node in fleet.nodes:
        settings = node.settings
        if not isinstance(settings, ChainSettings) or settings.max_gas_price is None:
            continue
        most, least = settings.max_gas_price.wei, effective.min_gas_price(fleet, settings)
        needed = max(gas.wei, least)
        if most >= needed:
            continue
        certain = most < least
        near: Path = (*node.path, "min_gas_price") if settings.min_gas_price is not None else ("fleet", "network")
        where = "it never goes below this" if settings.min_gas_price else f"the node never goes below {Wei(least)} here"
        when = "" if certain else f" at a gas price of {gas}"
        yield (error if certain else warning)(
            "max-gas-price-too-low",
            f"{node.name} sends no transactions{when}: it pays at most {settings.max_gas_price}",
            Label((*node.path, "max_gas_price")),
            [Label(near, where)] if certain else [],
            f'write "{round_up(needed * 10)}", which leaves room for busy hours, or at least "{Wei(needed)}"',
        )
