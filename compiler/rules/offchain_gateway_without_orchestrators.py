"""An off-chain gateway has no list of orchestrators and no webhook that names them.

Why: off-chain there is no registry. The gateway starts, accepts streams and transcodes nothing.

Example:

    [gateways.gate]
    mode = "video"

Instead:

    [gateways.gate]
    mode = "video"
    orchestrators = ["orch"]
"""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Diagnostic, Label, error
from compiler.model.fleet import Fleet
from compiler.model.gateway import Webhook

_SHOWN = 6
_OUTSIDE = 'write the addresses of those that it may use, such as orchestrators = ["orch.example.net:8935"]'


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the gateways of an off-chain fleet."""
    if fleet.on_chain:
        return
    names = sorted(fleet.orchestrators)
    listed = ", ".join(f'"{name}"' for name in names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    advice = f"write those that it may use: orchestrators = [{listed}]" if names else _OUTSIDE
    for name, gateway in sorted(fleet.gateways.items()):
        if gateway.orchestrators or isinstance(gateway.discovery, Webhook):
            continue
        path = ("gateways", name)
        if gateway.discovery is None:
            message, place = f"gateway {name} has no orchestrators, and an off-chain fleet has no registry", Label(path)
        else:
            message = f"gateway {name} looks for orchestrators in a registry, and an off-chain fleet has none"
            place = Label((*path, "discovery"))
        yield error(
            "offchain-gateway-without-orchestrators",
            message,
            place,
            [Label(("fleet", "network"), "no chain")],
            advice,
        )
