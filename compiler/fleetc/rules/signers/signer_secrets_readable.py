"""A gateway sends the secret headers for its signer through the internet without TLS.

Why: a signer speaks plain HTTP. Anybody who sees one request of the gateway can spend the deposit with its headers.
Hosts in several regions need a private network between them, or a proxy with TLS in front of the signer.

Example:

    [hosts.safe]
    public = "safe.example.net"

    [remote_signers.signer]
    host = "safe"
    http = "0.0.0.0:8935"

    [gateways.live]
    host = "edge"
    remote_signer = { signer = "signer", headers = { host_file = "/etc/livepeer/signer-headers" } }

Instead:

    [hosts.safe]
    public = "safe.example.net"

    [remote_signers.signer]
    host = "safe"
    http = "10.20.0.1:8935"

    [gateways.live]
    host = "edge"
    remote_signer = { signer = "signer", headers = { host_file = "/etc/livepeer/signer-headers" } }
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address, ip_network

from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.places.diagnostic import Diagnostic, Label, warning

_PRIVATE = tuple(
    map(ip_network, ("10.0.0.0/8", "100.64.0.0/10", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"))
)
"""Networks that the internet does not reach; 100.64.0.0/10 is what overlay networks use."""


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at gateways with headers on other hosts than their signer's. A name that is no public one may be private."""
    for name, gateway in sorted(fleet.gateways.items()):
        remote = gateway.remote_signer
        if remote is None or remote.signer is None or remote.headers is None:
            continue
        signer = fleet.remote_signers[remote.signer]
        if signer.host == gateway.host:
            continue
        node, host = Node("remote_signers", remote.signer, signer), fleet.hosts[signer.host]
        reached = effective.reached_at(fleet, node, signer, gateway.host)
        if reached is not None and (reached.host == host.public or _is_public(reached.host)):
            yield warning(
                "signer-secrets-readable",
                f"gateway {name} sends its headers to signer {remote.signer} at {reached} without TLS",
                Label(("gateways", name, "remote_signer", "headers"), "the headers"),
                [Label(effective.helper_http(node, signer).origin.paths[0], "where the signer listens")],
                "let the signer listen in a private network, or name a proxy with a certificate in front of it: "
                'remote_signer = { url = "https://signer.example.net" }',
            )


def _is_public(host: str) -> bool:
    """Whether an address is on the internet; unknown for a name."""
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return not any(address in network for network in _PRIVATE)
