"""A node's data directory is the keystore of a wallet on its host, or ends above the directory of its network.

Why: a rollout changes the owner of the data directory and closes it to everybody except the node's user. Other programs
then cannot read the keys, and the node writes its database among them. This can happen to a node named keystore even
without data_dir, because its default directory is its name under the host's state_dir.

Without a data directory, a node keeps its data and keystore in its user's home, in a directory named after the network.
A data_dir that ends above that directory is a new and empty one: the node forgets the tickets that it has not redeemed.

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
from fleetc.places.diagnostic import Diagnostic, Label, error, warning
from fleetc.upstream import NETWORKS

_CODE = "data-dir-beside-keystore"


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare the directories of each host with the keystores of the wallets in use there; off-chain there are none."""
    if not fleet.on_chain:
        return
    for host, nodes in fleet.nodes_by_host.items():
        wallets = {fleet.wallets[name].keystore: name for node in nodes if (name := _wallet(node)) is not None}
        for node in nodes:
            yield from _above_network(fleet, node)
            chosen = effective.data_dir(fleet, node)
            if chosen.value in wallets:
                given = chosen.origin.kind == "given"
                yield error(
                    _CODE,
                    f"the data directory of {node.name} on host {host} is a keystore, {chosen.value}",
                    Label(chosen.origin.paths[0] if given else node.path, chosen.value),
                    [Label(("wallets", wallets[chosen.value], "keystore"), "the keystore")],
                    "remove data_dir: the node then gets its own directory"
                    if given
                    else f'write its own data_dir, such as data_dir = "{chosen.value}-node"',
                )


def _wallet(node: Node) -> str | None:
    return node.settings.wallet if isinstance(node.settings, ChainSettings) else None


def _above_network(fleet: Fleet, node: Node) -> Iterator[Diagnostic]:
    wallet, directory = _wallet(node), node.settings.data_dir
    for network in sorted({fleet.fleet.network, *NETWORKS}) if wallet is not None and directory is not None else ():
        below = f"{directory}/{network}"
        if wallet is not None and fleet.wallets[wallet].keystore == f"{below}/keystore":
            yield warning(
                _CODE,
                f"the keystore of {node.name} is in {below}, and its data directory is not",
                Label((*node.path, "data_dir"), "nothing is put behind this path"),
                [Label(("wallets", wallet, "keystore"), "the keystore")],
                f'write data_dir = "{below}", if the node keeps its data there today',
            )
