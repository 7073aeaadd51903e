"""Who signs the tickets of a gateway, which account pays them, and who finds its orchestrators.

In: a sound `Fleet` and one of its nodes. Out: the node that decides, or None if that is a signer elsewhere.
Rules, sums and lowering ask here, so that caps and funds are always the ones that apply.

A remote signer holds the wallet instead of the gateway. The gateway then runs off-chain: it reads no price, account or
registry, and pays only for live AI video. Source: the node's source code at release v0.9.1, doc/remote-signer.md and
the startup of a gateway.
"""

from __future__ import annotations

from fleetc.language.fleet import Fleet, Node
from fleetc.language.gateway import Gateway, Webhook
from fleetc.language.node import ChainSettings
from fleetc.language.quantities import EthAddress

SIGNED_PIPELINE = "live-video-to-video"
"""The only pipeline that a gateway behind a signer pays for."""


ON_CHAIN_ONLY = (
    "wallet", "max_price", "max_model_prices", "price_feed",
    "tickets.max_ev", "tickets.max_total_ev", "tickets.deposit_multiplier", "ignore_max_price_if_needed",
    "cli_transactions", "block_polling_interval", "transaction_timeout", "max_transaction_replacements", "gas_limit",
    "min_gas_price", "max_gas_price", "initialize_round", "initialize_round_max_delay", "live.report_interval",
    "selection.random", "selection.stake", "selection.price", "selection.price_exponent",
    "selection.min_performance", "selection.performance_url", "selection.performance_region",
)  # fmt: skip
"""Settings of a gateway that the node reads only on a chain, dotted below its table."""


def has_signer(node: Node) -> bool:
    """Whether a remote signer, of this fleet or elsewhere, holds the wallet of this gateway."""
    return isinstance(node.settings, Gateway) and node.settings.remote_signer is not None


def talks_to_chain(fleet: Fleet, node: Node) -> bool:
    """Whether the process talks to the chain. Workers never do, nor does a gateway behind a signer."""
    return fleet.on_chain and isinstance(node.settings, ChainSettings) and not has_signer(node)


def payer(fleet: Fleet, node: Node) -> Node | None:
    """Who signs the tickets of a gateway: itself, or a signer of this fleet; None when a signer elsewhere does."""
    signer = node.settings.remote_signer if isinstance(node.settings, Gateway) else None
    if signer is None:
        return node
    return None if signer.signer is None else Node("remote_signers", signer.signer, fleet.remote_signers[signer.signer])


def finder(fleet: Fleet, node: Node) -> Node | None:
    """The node with the settings for a gateway's orchestrators; None when a signer elsewhere does.

    The node asks its webhook, else its own list, else its signer.
    """
    settings = node.settings
    own = isinstance(settings, Gateway) and (bool(settings.orchestrators) or isinstance(settings.discovery, Webhook))
    return node if own else payer(fleet, node)


def account_of(fleet: Fleet, name: str) -> EthAddress | None:
    """The account that pays for a gateway; None where a signer elsewhere holds it, or no wallet is named."""
    paying = payer(fleet, Node("gateways", name, fleet.gateways[name]))
    wallet = paying.settings.wallet if paying is not None and isinstance(paying.settings, ChainSettings) else None
    return None if wallet is None else fleet.wallets[wallet].address
