"""A gateway on a chain has no highest price.

Why: the node takes an unset cap for zero, and zero for "any price". One dear orchestrator can then empty the deposit.
For a first test, 300 wei a pixel is a cap that has been suggested.

Example:

    [gateways.gate]
    wallet = "payer"

Instead:

    [gateways.gate]
    wallet = "payer"
    max_price = "1500 wei / pixel"
"""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Diagnostic, Label, error
from compiler.model.fleet import Fleet


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the gateways of a fleet on a chain."""
    if not fleet.on_chain:
        return
    for name, gateway in sorted(fleet.gateways.items()):
        if gateway.max_price is None:
            rest = " for anything but the models it has caps for" if gateway.max_model_prices else ""
            yield error(
                "gateway-price-unset",
                f"gateway {name} pays any price{rest}: it has no max_price",
                Label(("gateways", name), "here"),
                help='write max_price = "1500 wei / pixel", or your own cap, or "any" if every price is fine',
            )
