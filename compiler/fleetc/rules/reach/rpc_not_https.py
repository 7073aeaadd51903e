"""The RPC address of the chain does not start with https://.

Why: without encryption, anybody on the path can lie about the chain, and the node pays and redeems by what it receives.
A connection to 127.0.0.1 or localhost never leaves the host, so http:// is fine there. To a node of your own at a
private address, such as 10.0.0.5, it is only a warning: it is as safe as that network. A websocket (wss:// or ws://) is
only a warning: the node connects but polls, and only https:// is documented and common.

Example:

    [fleet]
    rpc = "http://rpc.example.net"

Instead:

    [fleet]
    rpc = "https://rpc.example.net"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.effective import rpc_urls
from fleetc.language.fleet import Fleet
from fleetc.language.quantities import Listener, Url
from fleetc.places.diagnostic import Diagnostic, Label, Path, error, warning
from fleetc.text.ip_addresses import ip_address, is_private


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at addresses that are written out; a secret reference cannot be checked here."""
    if fleet.on_chain:
        for path, rpc in rpc_urls(fleet):
            if rpc.scheme != "https":
                yield from _readable(path, rpc)


def _readable(path: Path, rpc: Url) -> Iterator[Diagnostic]:
    near = Listener(rpc.host, rpc.port or 80).is_loopback
    address = ip_address(rpc.host)
    if not near and address is not None and is_private(address):
        yield warning(
            "rpc-not-https",
            f"the RPC address is {rpc.scheme}:// at a private address: all in that network can read and change it",
            Label(path),
            help="keep it if the node there is yours and the network is too; else write an https:// address",
        )
    elif not near and rpc.scheme != "wss":
        yield error(
            "rpc-not-https",
            f"the RPC address is {rpc.scheme}://, which anybody on the path can read and change",
            Label(path),
            help="write the https:// address of the provider",
        )
    elif rpc.scheme in ("wss", "ws"):
        yield warning(
            "rpc-not-https",
            f"the RPC address is {rpc.scheme}://, but the node is documented for {'http' if near else 'https'}://",
            Label(path),
            help=f"write the {'http' if near else 'https'}:// address of the same service",
        )
