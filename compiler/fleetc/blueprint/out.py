"""What of a host or a fleet is out of service, and what is left of both without it.

In: a blueprint. Out: names with the reason, or a blueprint. Files are made of all that the spec has. The variables of a
host, rollouts and `fleetc verify` know only what runs.
"""

from __future__ import annotations

from dataclasses import replace

from fleetc.blueprint.blueprint import AVATAR_DIRECTORY, Blueprint, HostBlueprint


def out_on(host: HostBlueprint) -> dict[str, str]:
    """Until when and why each service, or the avatar stack, is out of service; without those that run."""
    stack = {AVATAR_DIRECTORY: host.out.value} if host.avatar is not None and host.out is not None else {}
    return {one.name: one.out.value for one in host.services if one.out is not None} | stack


def running_on(host: HostBlueprint) -> HostBlueprint:
    """The host without what is out of service."""
    out = out_on(host)
    if not out:
        return host
    needs = ((need, tuple(node for node in need.nodes if node not in out)) for need in host.needs)
    return replace(
        host,
        services=tuple(service for service in host.services if service.out is None),
        avatar=host.avatar if host.out is None else None,
        needs=tuple(need._replace(nodes=left) for need, left in needs if left or not need.nodes),
    )


def out_of(blueprint: Blueprint) -> dict[str, str]:
    """Until when and why nodes are out of service, and hosts as a whole, by name."""
    hosts = {host.name: host.out.value for host in blueprint.hosts if host.out is not None}
    return hosts | {node: why for host in blueprint.hosts if host.out is None for node, why in out_on(host).items()}


def running(blueprint: Blueprint) -> Blueprint:
    """The fleet without what is out of service, to which no connection is left."""
    out = {node for host in blueprint.hosts for node in out_on(host)}
    edges = tuple(edge for edge in blueprint.edges if out.isdisjoint((edge.source, edge.target)))
    return replace(blueprint, hosts=tuple(map(running_on, blueprint.hosts)), edges=edges) if out else blueprint
