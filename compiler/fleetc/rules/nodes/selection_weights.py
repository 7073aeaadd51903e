"""The weights that a gateway chooses orchestrators with do not add up to 1, or their exponent is 0.

Why: a node on a chain panics at startup, or divides by zero with each choice. A weight that is not set keeps its
default: 0.3 for random, 0.7 for stake, 0 for price.

Example:

    [gateways.gate.selection]
    price = "0.5"

Instead:

    [gateways.gate.selection]
    price = "0.5"
    random = "0.2"
    stake = "0.3"
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from fleetc.language.fleet import Fleet
from fleetc.language.gateway import Selection
from fleetc.language.quantities.amounts import plain_number
from fleetc.places.diagnostic import Diagnostic, Label, error
from fleetc.upstream import FLAGS

_WEIGHTS = {"random": "selectRandFreq", "stake": "selectStakeWeight", "price": "selectPriceWeight"}
_TOLERANCE = Decimal("0.0001")


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the gateways of a fleet on a chain that give at least one weight."""
    if not fleet.on_chain:
        return
    for name, gateway in sorted(fleet.gateways.items()):
        if gateway.remote_signer is not None:
            continue  # setting-belongs-to-signer refuses the weights
        if gateway.selection.price_exponent == 0:
            yield error(
                "selection-weights",
                f"the price exponent of gateway {name} is 0, but the node divides prices by it",
                Label(("gateways", name, "selection", "price_exponent")),
                help="write a number above 0, or remove it: the node's default is 100",
            )
        given = {key: getattr(gateway.selection, key) for key in _WEIGHTS}
        weights = {key: _default(key) if value is None else value for key, value in given.items()}
        total = sum(weights.values(), Decimal(0))
        if abs(total - 1) <= _TOLERANCE or all(value is None for value in given.values()):
            continue
        path = ("gateways", name, "selection")
        parts = " + ".join(f"{key} {plain_number(value)}" for key, value in weights.items())
        yield error(
            "selection-weights",
            f"the selection weights of gateway {name} add up to {plain_number(total)}, not to 1: {parts}",
            Label(path, "here"),
            [Label((*path, key)) for key, value in given.items() if value is not None],
            _help(gateway.selection, weights),
        )


def _default(key: str) -> Decimal:
    return Decimal(str(FLAGS[_WEIGHTS[key]].default))


def _help(selection: Selection, weights: dict[str, Decimal]) -> str:
    """The weight to write, if a single one can make up for the others."""
    for key in ("stake", "random", "price"):
        rest = 1 - sum((value for other, value in weights.items() if other != key), Decimal(0))
        if getattr(selection, key) is None and rest >= 0:
            return f'write {key} = "{plain_number(rest)}"'
    return "write random, stake and price so that they add up to 1"
