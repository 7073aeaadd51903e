"""Recognises IP addresses that are unreachable from other networks.

In: an address, or a text that may be one. Out: whether it is private.
"""

from __future__ import annotations

import ipaddress

_PRIVATE = [
    ipaddress.ip_network(network)
    for network in (
        *("10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"),
        *("::1/128", "fc00::/7", "fe80::/10"),
    )
]


def ip_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The IP address that a text is, also in the brackets of a URL; None for a name."""
    try:
        return ipaddress.ip_address(text.removeprefix("[").removesuffix("]"))
    except ValueError:
        return None


def is_private(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether an address is unreachable from other networks."""
    return any(address in network for network in _PRIVATE)
