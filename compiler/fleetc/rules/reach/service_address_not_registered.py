"""One account has orchestrators with different service addresses, but can only register one address.

Why: a registry holds one address per account. Gateways that search the registry find only that orchestrator, and the
others get no work from them. Gateways still find orchestrators that they list, or that another one names in
`instances`.

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

from collections.abc import Iterator

from fleetc.analysis.discovery import registered_account, registry_of
from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.orchestrator import Orchestrator, ServiceAddress
from fleetc.places.diagnostic import Diagnostic, Label, Path, warning

_SHOWN = 6


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Group the orchestrators on a chain by account and registry, and look for several addresses in one group."""
    if not fleet.on_chain:
        return
    known = _known(fleet)
    groups: dict[tuple[str, str | None], list[tuple[Node, ServiceAddress, Path]]] = {}
    for node in fleet.nodes:
        settings = node.settings
        if not isinstance(settings, Orchestrator) or (account := registered_account(fleet, settings)) is None:
            continue
        chosen = effective.service_address(fleet, node, settings)
        if chosen is not None and node.name not in known and chosen.value.authority not in known:
            place = chosen.origin.paths[0]
            groups.setdefault((str(account).lower(), registry_of(settings)), []).append((node, chosen.value, place))
    for members in groups.values():
        (first, address, place), *others = members
        different = [(node, service, where) for node, service, where in others if service != address]
        if different:
            names = ", ".join(node.name for node, _, _ in different[:_SHOWN])
            more = f" and {len(different) - _SHOWN} more" if len(different) > _SHOWN else ""
            yield warning(
                "service-address-not-registered",
                f"orchestrators {first.name}, {names}{more} share one account but have different service addresses, "
                "and only one can be registered",
                Label(place, first.name),
                [Label(where, node.name) for node, _, where in different[:_SHOWN]],
                "add the others to instances of the registered one, list them in gateways, or give each its own wallet",
            )


def _known(fleet: Fleet) -> set[str]:
    """The orchestrators that gateways list by name, and the addresses that gateways list or orchestrators advertise."""
    found = {listed.partition("://")[2] or listed for g in fleet.gateways.values() for listed in g.orchestrators}
    for settings in fleet.orchestrators.values():
        found |= {f"{url.host}:{url.port}" for url in settings.instances}
    return found
