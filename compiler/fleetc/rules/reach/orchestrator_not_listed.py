"""An off-chain orchestrator that no gateway of the fleet lists.

Why: off-chain there is no registry, so a gateway only uses the orchestrators on its list. An unlisted orchestrator gets
no work from this fleet, without any error. Gateways elsewhere may list it, so this is a warning. There is none in a
fleet without gateways, or with a webhook that names orchestrators.

Example:

    [gateways.gate]
    orchestrators = ["orch-1"]

    [orchestrators.orch-2]
    host = "gpu-2"
    mode = "video"

Instead:

    [gateways.gate]
    orchestrators = ["orch-1", "orch-2"]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.discovery import is_named, lists_unknown
from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.places.diagnostic import Diagnostic, Label, warning

_SHOWN = 6


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare the orchestrators with the lists of gateways, which all have one."""
    lists = [name for name, gateway in sorted(fleet.gateways.items()) if gateway.orchestrators]
    if fleet.on_chain or not lists or lists_unknown(fleet):
        return
    for name, settings in sorted(fleet.orchestrators.items()):
        node = Node("orchestrators", name, settings)
        address = effective.service_address(fleet, node)
        if address is not None and not is_named(fleet, node, address.value):
            yield warning(
                "orchestrator-not-listed",
                f"no gateway here lists orchestrator {name}, and an off-chain fleet has no registry to find it in",
                Label(node.path, "here"),
                [Label(("gateways", gate, "orchestrators"), gate) for gate in lists[:_SHOWN]],
                f'add "{name}" to orchestrators of a gateway, or silence this if gateways elsewhere list it',
            )
