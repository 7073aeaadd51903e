"""The RPC address of the chain is on another machine and starts neither with https:// nor with wss://.

Why: over an open connection anybody on the way can lie about the chain, and the node pays and redeems by what it is
told. A connection to 127.0.0.1 or localhost never leaves the host, so there http:// and ws:// are fine.

Example:

    [fleet]
    rpc = "http://rpc.example.net"

Instead:

    [fleet]
    rpc = "https://rpc.example.net"
"""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Diagnostic, Label, error
from compiler.model.fleet import Fleet
from compiler.quantities import Listener, Url

_ENCRYPTED = ("https", "wss")


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at an address that is written out; a secret reference cannot be checked here."""
    rpc = fleet.fleet.rpc
    if not fleet.on_chain or not isinstance(rpc, Url) or rpc.scheme in _ENCRYPTED:
        return
    if not Listener(rpc.host, rpc.port or 80).is_loopback:
        yield error(
            "rpc-not-https",
            f"the RPC address is {rpc.scheme}://, which anybody on the way can read and change",
            Label(("fleet", "rpc")),
            help="write the https:// or wss:// address of the provider",
        )
