"""A node's data directory is the keystore of a wallet on its host.

Why: a rollout changes the owner of the data directory and closes it to everybody except the node's user. Other programs
then cannot read the keys, and the node writes its database among them. This can happen to a node named keystore even
without data_dir, because its default directory is its name under the host's state_dir.

Example:

    [wallets.payer]
    keystore = "/var/lib/livepeer/keystore"

    [gateways.gate]
    wallet = "payer"
    data_dir = "/var/lib/livepeer/keystore"

Instead:

    # without data_dir, each node gets its own directory under the host's state_dir
    [gateways.gate]
    wallet = "payer"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.node import ChainSettings
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare the directories of each host with the keystores of the wallets in use there; off-chain there are none."""
    if not fleet.on_chain:
        return
    for host, nodes in fleet.nodes_by_host.items():
        wallets = {fleet.wallets[name].keystore: name for node in nodes if (name := _wallet(node)) is not None}
        for node in nodes:
            chosen = effective.data_dir(fleet, node)
            if chosen.value in wallets:
                given = chosen.origin.kind == "given"
                yield error(
                    "data-dir-is-keystore",
                    f"the data directory of {node.name} on host {host} is a keystore, {chosen.value}",
                    Label(chosen.origin.paths[0] if given else node.path, chosen.value),
                    [Label(("wallets", wallets[chosen.value], "keystore"), "the keystore")],
                    "remove data_dir: the node then gets its own directory"
                    if given
                    else f'write its own data_dir, such as data_dir = "{chosen.value}-node"',
                )


def _wallet(node: Node) -> str | None:
    return node.settings.wallet if isinstance(node.settings, ChainSettings) else None
