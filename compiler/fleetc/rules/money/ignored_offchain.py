"""A node of an off-chain fleet has a wallet, prices or price caps.

Why: off-chain nobody pays and nobody is paid. The node reads prices as text and ignores them, so a cap protects nobody
and a price earns nothing. You probably meant another network.

Example:

    [fleet]
    network = "offchain"

    [orchestrators.orch]
    price = "1200 wei / pixel"

Instead:

    [fleet]
    network = "offchain"

    [orchestrators.orch]
    mode = "video"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.language.signing import has_signer
from fleetc.places.diagnostic import Diagnostic, Label, warning

_KEYS = ("wallet", "price", "gateway_prices", "max_price", "max_model_prices")


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the wallet and the prices of every node; prices in the models table may be for another fleet.

    For a gateway behind a signer, setting-belongs-to-signer refuses them.
    """
    if fleet.on_chain:
        return
    if fleet.fleet.gas_price is not None:
        yield warning(
            "ignored-offchain",
            "the fleet has gas_price, but off-chain nobody pays",
            Label(("fleet", "gas_price")),
            [Label(("fleet", "network"), "no chain")],
            "remove gas_price, or set network to the chain",
        )
    for node in fleet.nodes:
        for key in _KEYS:
            if getattr(node.settings, key, None) and not has_signer(node):
                yield warning(
                    "ignored-offchain",
                    f"{node.name} has {key}, which an off-chain node ignores",
                    Label((*node.path, key)),
                    [Label(("fleet", "network"), "no chain")],
                    f"remove {key}, or set network to the chain",
                )
