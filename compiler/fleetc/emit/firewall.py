"""Emits `nftables.conf`: who can reach the ports of a host with an avatar stack, as packet filter rules.

In: a host. Out: `hosts/<host>/avatar/nftables.conf`, which nft can load any number of times. Needs nftables 0.9.4 or
newer on the host.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from fleetc.blueprint.blueprint import HostBlueprint, StackBlueprint
from fleetc.blueprint.listeners import CALLERS, EVERYONE, PEERS, Listening
from fleetc.emit.draft import Draft, avatar_file
from fleetc.emit.templates import Encoded, Rendered, Templates, View, Word
from fleetc.emit.traced import Mark
from fleetc.language.quantities import reach_of
from fleetc.text.encoders import visible

FILE = "nftables.conf"
_TEMPLATE = "nftables/avatar.conf.j2"


def emit(host: HostBlueprint, templates: Templates) -> Iterator[Draft]:
    """The rules of the host; none if it has no stack."""
    avatar = host.avatar
    if avatar is None:
        return
    origins = [*(one.origin for one in host.listeners), *(entry.origin for entry in avatar.callers().entries)]
    origins += [avatar.startable.origin, *(origin for _, _, origin in avatar.startable.beside)]
    yield avatar_file(host, avatar, FILE, Rendered(templates, _TEMPLATE, partial(_view, host, avatar)), origins)


def _view(host: HostBlueprint, avatar: StackBlueprint, mark: Mark) -> View:
    callers = avatar.callers().entries
    slots = {slot.network: slot.origin for slot in avatar.slots}
    could, everyone = avatar.startable, [one for one in host.listeners if one.reach == EVERYONE]
    listed = {str(port): (purpose, origin) for port, purpose, origin in could.beside}
    listed |= {one.ports: (one.purpose, one.origin) for one in everyone if one.protocol == "tcp"}
    shut = [one for one in host.listeners if one.closed and reach_of(one.address) != "loopback"]
    return {
        "ip4": [mark(entry.text, entry.origin) for entry in callers if ":" not in entry.text],
        "ip6": [mark(entry.text, entry.origin) for entry in callers if ":" in entry.text],
        "slots": [mark(network, slots[network]) for network in avatar.networks],
        "peers": [_peers(one, mark) for one in shut if one.reach == PEERS],
        "tcp": [_verdict(one, mark) for one in shut if one.protocol == "tcp"],
        "udp": [_verdict(one, mark) for one in shut if one.protocol == "udp"],
        "listed": [
            mark((Word(ports), Encoded(visible(purpose))), origin)
            for ports, (purpose, origin) in sorted(listed.items())
        ],
        "startable": [mark(Word(ports), could.origin) for ports in could.ports],
        "networks": could.networks,
        "everyone": [
            mark((Word(one.protocol), Word(one.ports), Encoded(visible(one.purpose))), one.origin) for one in everyone
        ],
    }


def _verdict(one: Listening, mark: Mark) -> object:
    return mark((Word(one.ports), _chain(one), Encoded(visible(one.purpose))), one.origin)


def _peers(one: Listening, mark: Mark) -> object:
    """A chain of its own for what some hosts of the fleet use."""
    ip4, ip6 = ([peer for peer in one.peers if (":" in peer) == v6] for v6 in (False, True))
    return mark((_chain(one), ip4, ip6), one.origin)


def _chain(one: Listening) -> Word:
    own = f"peers_{one.protocol}_{one.port}"
    return Word({CALLERS: "callers", PEERS: own}.get(one.reach, "nobody"))
