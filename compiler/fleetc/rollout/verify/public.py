"""Whether orchestrators answer at their public addresses, and nothing answers that is meant for the host alone.

In: a fleet, answers of public addresses by URL. Out: URLs to ask, and findings. The checks run from fleetc's machine:
addresses only out of reach from here are unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from fleetc.blueprint.blueprint import Blueprint, HostBlueprint
from fleetc.blueprint.listeners import CONTROL, HOST, MONITORING, MOVE, READ
from fleetc.language import effective
from fleetc.language.fleet import Fleet
from fleetc.online.public import UrlAnswer
from fleetc.places.diagnostic import Path
from fleetc.rollout.verify.data import Finding


class PublicUrl(NamedTuple):
    """A URL that belongs to a node: its service address, or what is for its host alone, which has a `power`."""

    url: str
    host: str
    node: str
    path: Path
    purpose: str = ""
    power: str = ""


def places_of(fleet: Fleet, blueprint: Blueprint, hosts: tuple[str, ...]) -> tuple[PublicUrl, ...]:
    """The public places of some hosts."""
    return tuple(place for host in blueprint.hosts if host.name in hosts for place in _of_host(fleet, host))


def _of_host(fleet: Fleet, host: HostBlueprint) -> Iterator[PublicUrl]:
    """Service addresses, and ports with some power that are meant for the host alone.

    A proxy may well have the port of a gateway that listens on loopback.
    """
    for service in host.services:
        if service.table == "orchestrators":
            address = effective.service_address(fleet, fleet.nodes_by_name[service.name])
            if address is not None:
                url = f"{address.value.scheme}://{address.value.authority}/healthz"
                yield PublicUrl(url, host.name, service.name, address.origin.paths[0])
    for one in host.listeners if host.public else ():
        of_node = one.owner[0] not in ("avatars", *MONITORING)
        if HOST in (one.reach, one.meant_for) and one.power in (MOVE, CONTROL, READ) and one.protocol == "tcp":
            name = f"[{host.public}]" if ":" in host.public else host.public
            url = f"http://{name}:{one.port}/{'status' if of_node else ''}"
            where = one.owner if of_node else one.origin.paths[0]
            yield PublicUrl(url, host.name, one.name if of_node else "", where, one.purpose, one.power)


def findings(places: tuple[PublicUrl, ...], answers: Mapping[str, UrlAnswer]) -> Iterator[Finding]:
    """What is wrong with the public places."""
    for place in places:
        answer = answers[place.url]
        if place.purpose:
            head = f"{place.node}: its {place.purpose}" if place.node else place.purpose
            if answer.status:
                message = f"{head} answers at {place.url}, where anybody can {place.power}"
                advice = "close that port in the firewall, and find out what forwards it"
                yield Finding("drift", "port-exposed", place.host, place.node, message, place.path, advice)
            elif answer.connected:
                message = f"something takes connections at {place.url}, where {head.rpartition(': ')[2]} must not be, "
                message += f"but does not say what it is: {answer.reason}"
                advice = "find out what listens there; if it is that, close that port in the firewall"
                yield Finding("unknown", "port-exposed", place.host, place.node, message, place.path, advice)
        elif answer.status != 200:
            deed = f"answers {answer.status}" if answer.status else f"does not answer: {answer.reason}"
            message = f"{place.node}: {place.url} {deed}"
            if answer.status or answer.refused:
                advice = "no gateway reaches it there; correct the address, or open its port"
                yield Finding("drift", "service-address-silent", place.host, place.node, message, place.path, advice)
            else:
                message += ", as seen from here"
                yield Finding("unknown", "not-answered", place.host, place.node, message, place.path)
