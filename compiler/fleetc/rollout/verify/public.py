"""Whether orchestrators answer at their public addresses, and administration ports do not.

In: a fleet, answers of public addresses by URL. Out: URLs to ask, and findings. The checks run from fleetc's machine:
addresses only out of reach from here are unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from fleetc.blueprint.blueprint import Blueprint
from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.online.public import UrlAnswer
from fleetc.places.diagnostic import Path
from fleetc.rollout.verify.data import Finding


class PublicUrl(NamedTuple):
    """A URL that belongs to a node: its service address, or its administration, which is for its host alone."""

    url: str
    host: str
    node: str
    path: Path
    is_service: bool


def places_of(fleet: Fleet, blueprint: Blueprint, hosts: tuple[str, ...]) -> tuple[PublicUrl, ...]:
    """The public places of the nodes of some hosts."""
    return tuple(place for node in fleet.nodes if node.settings.host in hosts for place in _of_node(fleet, node))


def _of_node(fleet: Fleet, node: Node) -> Iterator[PublicUrl]:
    settings = node.settings
    host = fleet.hosts[settings.host]
    if node.table == "orchestrators":
        address = effective.service_address(fleet, node)
        if address is not None:
            url = f"{address.value.scheme}://{address.value.authority}/healthz"
            where = address.origin.paths[0] if address.origin.paths else node.path
            yield PublicUrl(url, settings.host, node.name, where, True)
    listener = effective.cli_listener(node).value
    if host.public is not None and listener.is_loopback:
        name = f"[{host.public}]" if ":" in host.public else host.public
        url = f"http://{name}:{listener.port}/status"
        yield PublicUrl(url, settings.host, node.name, node.path, False)


def findings(places: tuple[PublicUrl, ...], answers: Mapping[str, UrlAnswer]) -> Iterator[Finding]:
    """What is wrong with the public places."""
    for place in places:
        answer = answers[place.url]
        if not place.is_service:
            if answer.status:
                message = f"{place.node}: its administration answers at {place.url}, where anybody can steer it"
                advice = "close that port in the firewall, and find out what forwards it"
                yield Finding("drift", "administration-exposed", place.host, place.node, message, place.path, advice)
            elif answer.connected:
                message = f"{place.node}: something takes connections at {place.url}, where its administration must not"
                message += f" be, but does not say what it is: {answer.reason}"
                advice = "find out what listens there; if it is the node, close that port in the firewall"
                yield Finding("unknown", "administration-exposed", place.host, place.node, message, place.path, advice)
        elif answer.status != 200:
            deed = f"answers {answer.status}" if answer.status else f"does not answer: {answer.reason}"
            message = f"{place.node}: {place.url} {deed}"
            if answer.status or answer.refused:
                advice = "no gateway reaches it there; correct the address, or open its port"
                yield Finding("drift", "service-address-silent", place.host, place.node, message, place.path, advice)
            else:
                message += ", as seen from here"
                yield Finding("unknown", "not-answered", place.host, place.node, message, place.path)
