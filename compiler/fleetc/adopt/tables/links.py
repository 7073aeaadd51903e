"""Which orchestrator or redeemer of the fleet a process reaches by an address of its machine or of a private network.

In: the nodes, which know their hosts. Out: names by address; an address at which two of them listen leads to none. Of
a compiled node, whose listener a setting is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from fleetc.adopt.node.listeners import http_listener, is_loopback, split, written
from fleetc.adopt.node.reading import Running
from fleetc.blueprint.blueprint import Service

_Place = TypeVar("_Place", str, tuple[str, int])
LISTENS = "{} listens there from now on"
"""The reason of a setting that is the listener of another node."""
_HELPERS = ("redeemers", "remote_signers")


def on_loopback(found: Iterable[Running]) -> dict[tuple[str, int], str]:
    """The orchestrator at each port of the loopback of a host."""
    return _unambiguous(
        ((one.host, port), one.name) for one in found if one.role == "orchestrator" for port in _loopback_ports(one)
    )


def at_private_addresses(found: Iterable[Running]) -> dict[str, str]:
    """The redeemer at each address that is one of its host, and that other hosts reach."""
    listeners = ((one, http_listener(one.role, one.text("httpAddr"), "")[1]) for one in found if one.role == "redeemer")
    return _unambiguous(
        (written(listener), one.name)
        for one, listener in listeners
        if listener is not None and listener[0] != "*" and not is_loopback(listener[0])
    )


def loopback_port(running: Running, url: str) -> int | None:
    """The port of the host's loopback that a URL means to a process; None for another place. A container with a network
    of its own has a loopback of its own.
    """
    where = split(url.partition("://")[2])
    own = running.process.network == "host"
    return where[1] if own and where is not None and is_loopback(where[0]) else None


def _loopback_ports(one: Running) -> Iterator[int]:
    """Where an orchestrator answers on the loopback of its host."""
    _, listener = http_listener(one.role, one.text("httpAddr"), one.text("serviceAddr"))
    if listener is None:
        return
    host, port = listener
    if one.process.network == "host":
        yield from (port,) if host == "*" or is_loopback(host) else ()
        return
    for published in one.process.published:
        open_there = published.address in ("", "0.0.0.0", "[::]", "::") or is_loopback(published.address)  # noqa: S104
        if published.inside == port and open_there:
            yield published.port


def _unambiguous(pairs: Iterable[tuple[_Place, str]]) -> dict[_Place, str]:
    names: dict[_Place, set[str]] = {}
    for place, name in pairs:
        names.setdefault(place, set()).add(name)
    return {place: next(iter(known)) for place, known in names.items() if len(known) == 1}


def listener_of(flag: str, service: Service | None) -> str:
    """The node whose listener a setting is, as its spec says by name; "" where it is an address, or something else."""
    for argument in service.arguments if service is not None else ():
        if argument.flag == flag and argument.origin.kind == "derived":
            return next((str(path[1]) for path in argument.origin.paths if path[0] in _HELPERS), "")
    return ""
