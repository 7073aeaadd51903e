"""Other machines can reach a node's administration listener.

Why: it needs no password, and anyone who can reach it can withdraw the deposit, transfer tokens, sign and change
prices. With cli_exposed = true it is still a warning, because a firewall is then the only protection.

Example:

    [orchestrators.orch]
    cli = "0.0.0.0:7935"

Instead:

    [orchestrators.orch]
    cli = "127.0.0.1:7935"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.listeners import of_node
from fleetc.blueprint.listeners import HOST, MOVE
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at every administration listener that the spec moves."""
    for node in fleet.nodes:
        for one in of_node(fleet, node):
            if one.purpose != "administration" or one.reach == HOST:
                continue
            does = ("change its settings and read its state", "transfer its funds and change its prices")
            path, listener, power = (*node.path, "cli"), node.settings.cli, does[one.power == MOVE]
            message = f"anyone who can reach {listener} can administer {node.name} and {power}, without a password"
            if node.settings.cli_exposed:
                related = [Label((*node.path, "cli_exposed"), "stated explicitly")]
                yield warning("cli-exposed", message, Label(path), related, "keep that port behind a firewall")
            else:
                advice = f'write cli = "127.0.0.1:{one.port}", or cli_exposed = true if a firewall protects the port'
                yield error("cli-exposed", message, Label(path), help=advice)
