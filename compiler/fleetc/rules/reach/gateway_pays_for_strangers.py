"""Whoever reaches a gateway spends its deposit, and nothing asks who they are.

Why: a gateway pays for every stream and request that it takes. Only a webhook (`auth_webhook`) admits streams, and
nothing admits requests for AI work: whoever may send those is for a proxy to decide. An address of a private network
counts as protected.

Example:

    [gateways.gate]
    mode = "video"
    wallet = "payer"
    http = "0.0.0.0:8935"
    http_ingest = true

Instead:

    [gateways.gate]
    mode = "video"
    wallet = "payer"
    http = "127.0.0.1:8935"  # a proxy in front of it asks who calls
    http_ingest = true
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.listeners import of_node
from fleetc.blueprint.listeners import SPEND
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning
from fleetc.text.ip_addresses import ip_address, is_private


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at where each gateway that pays takes work; one warning for each."""
    for name in sorted(fleet.gateways):
        node = fleet.nodes_by_name[name]
        found = []
        for one in of_node(fleet, node):
            address = ip_address(one.address)
            private = address is not None and is_private(address)
            if one.open_to_strangers and one.power == SPEND and not private and one.purpose in ("HTTP", "RTMP", "WHIP"):
                found.append(one)
        if found:
            where = " and ".join(f"{one.address}:{one.port} ({one.purpose})" for one in found)
            first, *more = (Label(one.origin.paths[0], one.purpose) for one in found)
            keys = {"HTTP": "http", "RTMP": "rtmp"}
            writes = [f'{keys[one.purpose]} = "127.0.0.1:{one.port}"' for one in found if one.purpose in keys]
            advice = f"write {' and '.join(writes)} and put a proxy in front that asks who calls" if writes else ""
            webhook = "set live.auth_webhook" if not writes else ""
            yield warning(
                "gateway-pays-for-strangers",
                f"whoever reaches {where} has gateway {name} pay for their work: nothing asks who they are",
                first,
                more,
                advice or webhook,
            )
