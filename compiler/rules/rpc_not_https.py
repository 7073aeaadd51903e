"""The RPC address of the chain does not start with https://.

Why: over an open connection anybody on the way can lie about the chain, and the node pays and redeems by what it is
told.

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
from compiler.quantities import Url


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at an address that is written out; a secret reference cannot be checked here."""
    rpc = fleet.fleet.rpc
    if fleet.on_chain and isinstance(rpc, Url) and rpc.scheme != "https":
        yield error(
            "rpc-not-https",
            f"the RPC address is {rpc.scheme}://, and the node needs https://",
            Label(("fleet", "rpc")),
            help="write the https:// address of the provider",
        )
