"""The funds of gateways and how long they last: deposit, reserve, and the cost of the expected load.

In: a sound `Fleet`. Out: one `Funds` for each gateway and remote signer that holds a wallet on a chain. Called by the
rules about deposits and by lowering.

The cost is the expected load (for a signer that of all its gateways) at the base cap: an upper bound. A signer adds its
load of live runners at their prices, as the node converts them. The runway is the deposit divided by the cost of all
nodes that pay from the same wallet. Everything is exact; what is not stated is None.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from fleetc.analysis import runner_prices
from fleetc.analysis.acceptance import Scale, caps_of
from fleetc.language.fleet import Fleet, Node
from fleetc.language.gateway import Buyer, Gateway
from fleetc.language.quantities import RunnerLoad, Throughput, Wei
from fleetc.language.signer import Signer
from fleetc.language.signing import talks_to_chain

_HOUR = 3600
_PAYERS_SHOWN = 6
_HIGHEST_LOAD = 2**63 - 1


class Funds(NamedTuple):
    """What a node pays from; `cost` is in wei per hour, `runway` in hours."""

    node: str
    wallet: str
    deposit: Wei | None
    reserve: Wei | None
    load: Throughput | None
    cost: Fraction | None
    runway: Fraction | None
    runners: tuple[tuple[str, RunnerLoad], ...] = ()


def payers(fleet: Fleet) -> Iterator[tuple[str, Node]]:
    """The nodes that sign tickets with a wallet of this fleet, each with the wallet's name; none off-chain."""
    for node in fleet.nodes:
        settings = node.settings
        if isinstance(settings, Buyer) and settings.wallet is not None and talks_to_chain(fleet, node):
            yield settings.wallet, node


def funds(fleet: Fleet) -> tuple[Funds, ...]:
    """The funds of every node that signs tickets, sorted by name."""
    scale = Scale(fleet.rates)
    signed = _signed(fleet)
    loads = [(wallet, node, _load(node, signed)) for wallet, node in payers(fleet)]
    found = [(wallet, node, load, _whole_cost(fleet, scale, node, load, signed)) for wallet, node, load in loads]
    total: dict[str, Fraction | None] = {}
    for wallet, _, _, cost in found:
        before = total.get(wallet, Fraction(0))
        total[wallet] = None if before is None or cost is None else before + cost
    return tuple(_funds(fleet, wallet, node, load, cost, total[wallet]) for wallet, node, load, cost in found)


def _funds(
    fleet: Fleet, name: str, node: Node, load: Throughput | None, cost: Fraction | None, total: Fraction | None
) -> Funds:
    wallet = fleet.wallets[name]
    runway = wallet.deposit.wei / total if total and wallet.deposit is not None else None
    loads = tuple(sorted(node.settings.runner_load.items())) if isinstance(node.settings, Signer) else ()
    return Funds(node.name, name, wallet.deposit, wallet.reserve, load, cost, runway, loads)


def _signed(fleet: Fleet) -> dict[str, list[Gateway]]:
    """The gateways of each signer of the fleet."""
    found: dict[str, list[Gateway]] = {}
    for gateway in fleet.gateways.values():
        if gateway.remote_signer is not None and gateway.remote_signer.signer is not None:
            found.setdefault(gateway.remote_signer.signer, []).append(gateway)
    return found


def _load(node: Node, signed: dict[str, list[Gateway]]) -> Throughput | None:
    """What a node expects to pay for: its own load, or that of all gateways of a signer; None if one is not stated."""
    if isinstance(node.settings, Gateway):
        return node.settings.expected_load
    loads = [gateway.expected_load for gateway in signed.get(node.name, ())]
    known = [load.pixels for load in loads if load is not None]
    complete = bool(known) and len(known) == len(loads) and sum(known) <= _HIGHEST_LOAD
    return Throughput(sum(known)) if complete else None


def _whole_cost(
    fleet: Fleet, scale: Scale, node: Node, load: Throughput | None, signed: dict[str, list[Gateway]]
) -> Fraction | None:
    """Wei per hour of all that a node pays for; None where a part of it is not known."""
    settings = node.settings
    if not isinstance(settings, Signer) or not settings.buys_runners:
        return _cost(fleet, scale, node, load)
    of_runners = [_cost_of_runner(fleet, settings, name) for name in settings.buys_runners]
    of_gateways = _cost(fleet, scale, node, load) if signed.get(node.name) else Fraction(0)
    total = of_gateways
    for cost in of_runners:
        total = None if total is None or cost is None else total + cost
    return total


def _cost_of_runner(fleet: Fleet, signer: Signer, name: str) -> Fraction | None:
    """Wei per hour of the load of a runner; None without a load, a price, a rate, or in another unit than its price."""
    load, price = signer.runner_load.get(name), fleet.runners[name].price
    worth = runner_prices.worth(price, fleet.rates) if price is not None else None
    if load is None or worth is None or worth.refusal or not fits(load, worth.unit):
        return None
    return worth.wei * runner_prices.PARTS[worth.unit] * load.in_an_hour


def fits(load: RunnerLoad, unit: str) -> bool:
    """Whether a load counts what the node's unit of a price is for: sessions by time, requests by number."""
    return (load.per != "") == (unit == "fixed")


def _cost(fleet: Fleet, scale: Scale, node: Node, load: Throughput | None) -> Fraction | None:
    """Wei per hour of the expected load at the base cap; None without a load, a bound, or a rate."""
    cap = caps_of(fleet, scale, node).base
    if load is None or cap.price is None or cap.unit != "wei":
        return None
    return Fraction(cap.worth * load.pixels * _HOUR)
