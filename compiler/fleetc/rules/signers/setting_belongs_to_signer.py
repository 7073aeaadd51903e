"""A gateway behind a remote signer has a setting that only matters on a chain.

Why: behind a signer the gateway runs off-chain. Such a node reads no wallet, cap, ticket limit or gas price: the signer
pays, with its own wallet and caps.

Example:

    [gateways.gate]
    remote_signer = { signer = "signer" }
    max_price = "1500 wei / pixel"

Instead:

    [gateways.gate]
    remote_signer = { signer = "signer" }

    [remote_signers.signer]
    max_price = "1500 wei / pixel"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet, Node
from fleetc.language.signer import Signer
from fleetc.language.signing import ON_CHAIN_ONLY, has_signer, payer
from fleetc.places.diagnostic import Diagnostic, Label, Path, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the gateways behind a signer, of this fleet or elsewhere."""
    for node in fleet.nodes:
        if has_signer(node):
            signer = payer(fleet, node)
            for field in ON_CHAIN_ONLY:
                path = _given(node, field)
                if path is not None:
                    yield error(
                        "setting-belongs-to-signer",
                        f"gateway {node.name} has {field}, which the node does not read behind a signer",
                        Label(path),
                        [Label((*node.path, "remote_signer"), "the signer")],
                        _help(field, signer),
                    )


def _given(node: Node, field: str) -> Path | None:
    """The place of a dotted setting, or None when the spec does not have it."""
    value, path = node.settings, node.path
    for part in field.split("."):
        if part not in value.model_fields_set:
            return None
        value, path = getattr(value, part), (*path, part)
    return path


def _help(field: str, signer: Node | None) -> str:
    first, _, rest = field.partition(".")
    own = {"live": rest}.get(first, first)
    if own not in Signer.model_fields or first == "selection":
        return "remove it"
    if signer is None:
        return "remove it: the signer's operator decides that at the signer"
    there = own if first == "live" else field
    return f"write it in remote_signers.{signer.name} instead{'' if there == field else f', as {there}'}"
