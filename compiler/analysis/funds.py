"""What gateways pay from and how long it lasts: deposit, reserve, and the cost of the load they expect.

In: a sound `Fleet`. Out: one `Funds` for each gateway and remote signer that holds a wallet on a chain. Called by the
rules about deposits and by lowering.

The cost is that of the expected load at the base cap: an upper bound for what is bought under that cap. The runway is
the deposit over the cost of all that pay from the same wallet. Everything is exact; what is not stated is None.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from compiler.analysis.acceptance import Scale, caps_of
from compiler.model.fleet import Fleet, Node
from compiler.model.gateway import Buyer, Gateway
from compiler.quantities import Throughput, Wei

_HOUR = 3600


class Funds(NamedTuple):
    """What a node pays from; `cost` in wei for an hour, `runway` in hours."""

    node: str
    wallet: str
    deposit: Wei | None
    reserve: Wei | None
    load: Throughput | None
    cost: Fraction | None
    runway: Fraction | None


def payers(fleet: Fleet) -> Iterator[tuple[str, Node]]:
    """The nodes that sign tickets with a wallet of this fleet, each with the wallet's name; nothing off-chain."""
    if not fleet.on_chain:
        return
    for node in fleet.nodes:
        settings = node.settings
        signed_elsewhere = isinstance(settings, Gateway) and settings.remote_signer is not None
        if isinstance(settings, Buyer) and settings.wallet is not None and not signed_elsewhere:
            yield settings.wallet, node


def funds(fleet: Fleet) -> tuple[Funds, ...]:
    """The funds of every node that signs tickets, sorted by name."""
    scale = Scale(fleet.rates)
    found = [(wallet, node, _cost(fleet, scale, node)) for wallet, node in payers(fleet)]
    total: dict[str, Fraction | None] = {}
    for wallet, _, cost in found:
        before = total.get(wallet, Fraction(0))
        total[wallet] = None if before is None or cost is None else before + cost
    return tuple(_funds(fleet, wallet, node, cost, total[wallet]) for wallet, node, cost in found)


def _funds(fleet: Fleet, name: str, node: Node, cost: Fraction | None, total: Fraction | None) -> Funds:
    wallet = fleet.wallets[name]
    runway = wallet.deposit.wei / total if total and wallet.deposit is not None else None
    load = node.settings.expected_load if isinstance(node.settings, Gateway) else None
    return Funds(node.name, name, wallet.deposit, wallet.reserve, load, cost, runway)


def _cost(fleet: Fleet, scale: Scale, node: Node) -> Fraction | None:
    """Wei for an hour of the expected load at the base cap; None without a load, a bound, or a rate."""
    if not isinstance(node.settings, Gateway) or node.settings.expected_load is None:
        return None
    cap = caps_of(fleet, scale, node.name, node.settings).base
    if cap.price is None or cap.unit != "wei":
        return None
    return Fraction(cap.worth * node.settings.expected_load.pixels * _HOUR)
