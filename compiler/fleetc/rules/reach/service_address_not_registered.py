"""One account has orchestrators with different service addresses, but can only register one address.

Why: a registry holds one address per account. Gateways that search the registry find only that orchestrator, and the
others get no work from them. Gateways still find orchestrators that they list. They find those in `instances` of
another one if their selection has extra_nodes, 0 by default. If all others are listed, the unlisted one's address may
be the registered one: then silence this with that reason. `fleetc verify` compares with what the chain has.

Example:

    [orchestrators.a]
    wallet = "earner"
    service = "a.example.net:8935"

    [orchestrators.b]
    wallet = "earner"
    service = "b.example.net:8935"

Instead:

    [orchestrators.a]
    wallet = "earner"
    service = "a.example.net:8935"
    instances = ["https://b.example.net:8935"]

    [orchestrators.b]
    wallet = "earner"
    service = "b.example.net:8935"
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fleetc.analysis.discovery import Sharer, is_named, lists_unknown, registrations, tells_of
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning
from fleetc.text.counting import first_of

_SHOWN = 6


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at orchestrators of one account and registry that have several addresses, and that nobody names."""
    for members in registrations(fleet).values():
        if len({one.address for one in members}) < 2:
            continue
        unnamed = [one for one in members if not is_named(fleet, one.node, one.address)]
        addresses = {one.address for one in unnamed}
        if len(addresses) > 1:
            yield _several(unnamed)
        elif addresses and not lists_unknown(fleet):
            others = [one for one in members if one.address not in addresses]
            authorities = {one.address.authority for one in others}
            if not any(tells_of(one, authorities) for one in unnamed):
                yield _left_out(unnamed[0], others)


def _several(members: Sequence[Sharer]) -> Diagnostic:
    first = members[0]
    different = [one for one in members if one.address != first.address]
    return warning(
        "service-address-not-registered",
        f"orchestrators {first.node.name}, {_names(different)} share one account but have different service addresses, "
        "and only one can be registered",
        Label(first.place, first.node.name),
        [Label(one.place, one.node.name) for one in different[:_SHOWN]],
        "list them in gateways, give each its own wallet, or add the others to instances of the registered one, with "
        "extra_nodes in selection of the gateways",
    )


def _left_out(one: Sharer, others: Sequence[Sharer]) -> Diagnostic:
    """Whether all others of its account are listed, so that this may be the registered one."""
    name = one.node.name
    return warning(
        "service-address-not-registered",
        f"no gateway here lists orchestrator {name}, and its account, which it shares with {_names(others)}, can only "
        "register one service address",
        Label(one.place, "found only if it is this one"),
        [Label(other.place, other.node.name) for other in others[:_SHOWN]],
        f'add "{name}" to orchestrators of a gateway, or its address to instances of the registered one, or give it '
        "its own wallet. If its address is registered, silence this with that reason",
    )


def _names(members: Sequence[Sharer]) -> str:
    return first_of([one.node.name for one in members], _SHOWN)
