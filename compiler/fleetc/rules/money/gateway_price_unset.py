"""A gateway on a chain, or a remote signer, has no price cap.

Why: the node reads an unset cap as zero, and zero as "any price". One expensive orchestrator can then empty the
deposit. For a first test, a cap of 300 wei per pixel has been suggested. Behind a signer, the signer's cap applies.

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

from fleetc.language.fleet import Fleet
from fleetc.language.gateway import Buyer
from fleetc.language.signing import talks_to_chain
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the gateways and the signers of a fleet on a chain."""
    for node in fleet.nodes:
        buyer = node.settings
        if isinstance(buyer, Buyer) and buyer.max_price is None and talks_to_chain(fleet, node):
            what = "gateway" if node.table == "gateways" else "signer"
            rest = " for anything except the models it has caps for" if buyer.max_model_prices else ""
            yield error(
                "gateway-price-unset",
                f"{what} {node.name} pays any price{rest}: it has no max_price",
                Label(node.path, "here"),
                help='write max_price = "1500 wei / pixel", or your own cap, or "any" if any price is fine',
            )
