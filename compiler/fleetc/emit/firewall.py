"""Emits `nftables.conf`: who can reach the ports of a host's avatar stack, as packet filter rules.

In: a host. Out: `hosts/<host>/avatar/nftables.conf`, which nft can load any number of times. Needs nftables 0.9.4 or
newer on the host.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from fleetc.blueprint.blueprint import FirewallRow, HostBlueprint, StackBlueprint
from fleetc.emit.draft import Draft, avatar_file
from fleetc.emit.templates import Encoded, Rendered, Templates, View, Word
from fleetc.emit.traced import Mark
from fleetc.text.encoders import visible

FILE = "nftables.conf"
_TEMPLATE = "nftables/avatar.conf.j2"


def emit(host: HostBlueprint, templates: Templates) -> Iterator[Draft]:
    """The rules of the host's stack; none if the host has no stack."""
    avatar = host.avatar
    if avatar is None:
        return
    origins = [*(r.origin for r in avatar.firewall), *(entry.origin for entry in avatar.callers().entries)]
    yield avatar_file(host, avatar, FILE, Rendered(templates, _TEMPLATE, partial(_view, avatar)), origins)


def _view(avatar: StackBlueprint, mark: Mark) -> View:
    callers = avatar.callers().entries
    slots = {slot.network: slot.origin for slot in avatar.slots}
    return {
        "ip4": [mark(entry.text, entry.origin) for entry in callers if ":" not in entry.text],
        "ip6": [mark(entry.text, entry.origin) for entry in callers if ":" in entry.text],
        "slots": [mark(network, slots[network]) for network in avatar.networks],
        "tcp": [_verdict(r, mark) for r in avatar.firewall if r.protocol == "tcp" and r.reach != "everyone"],
        "udp": [_verdict(r, mark) for r in avatar.firewall if r.protocol == "udp" and r.reach != "everyone"],
        "everyone": [
            mark((Word(r.protocol), _ports(r), Encoded(visible(r.purpose))), r.origin)
            for r in avatar.firewall
            if r.reach == "everyone"
        ],
    }


def _verdict(rule: FirewallRow, mark: Mark) -> object:
    return mark((_ports(rule), Word(rule.reach), Encoded(visible(rule.purpose))), rule.origin)


def _ports(rule: FirewallRow) -> Word:
    return Word(str(rule.first) if rule.first == rule.last else f"{rule.first}-{rule.last}")
