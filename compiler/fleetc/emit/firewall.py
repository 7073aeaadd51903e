"""Emits `nftables.conf`: who reaches the ports of the avatar stack of a host, as rules of the packet filter.

In: a host. Out: `hosts/<host>/avatar/nftables.conf`, which nft loads as often as one likes. Needs nftables 0.9.4 or
newer on the host.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fleetc.blueprint.blueprint import FirewallRow, HostBlueprint, StackBlueprint
from fleetc.emit.artifacts import avatar_file
from fleetc.emit.templates import Encoded, Templates, Word
from fleetc.emit.tracing import Marks, TracedLine, trace_template
from fleetc.emit.tree import Artifact
from fleetc.text.encoders import visible

FILE = "nftables.conf"
_TEMPLATE = "nftables/avatar.conf.j2"


def emit(host: HostBlueprint, templates: Templates) -> Iterator[Artifact]:
    """The rules of the host's stack; nothing for a host without one."""
    avatar = host.avatar
    if avatar is None:
        return
    callers = avatar.callers()
    text = templates.render(_TEMPLATE, _view(avatar))
    origins = [*(row.origin for row in avatar.firewall), *(entry.origin for entry in callers.entries)]
    yield avatar_file(host, avatar, FILE, text, origins)


def _view(avatar: StackBlueprint) -> dict[str, object]:
    callers = avatar.callers()
    return {
        "ip4": [text for text in callers.texts if ":" not in text],
        "ip6": [text for text in callers.texts if ":" in text],
        "slots": list(avatar.networks),
        "tcp": list(_verdicts(row for row in avatar.firewall if row.protocol == "tcp")),
        "udp": list(_verdicts(row for row in avatar.firewall if row.protocol == "udp")),
        "everyone": [
            (Word(row.protocol), _ports(row), Encoded(visible(row.purpose)))
            for row in avatar.firewall
            if row.reach == "everyone"
        ],
    }


def _verdicts(rows: Iterable[FirewallRow]) -> Iterator[tuple[Word, Word, Encoded]]:
    for row in rows:
        if row.reach != "everyone":
            yield _ports(row), Word(row.reach), Encoded(visible(row.purpose))


def _ports(row: FirewallRow) -> Word:
    return Word(str(row.first) if row.first == row.last else f"{row.first}-{row.last}")


def trace(avatar: StackBlueprint, templates: Templates) -> list[TracedLine]:
    """The lines of the file, each with the origins of the networks and ports on it."""
    entries = avatar.callers().entries
    slots = {slot.network: slot.origin for slot in avatar.slots}
    rows = {
        kind: [row.origin for row in avatar.firewall if row.protocol == kind and row.reach != "everyone"]
        for kind in ("tcp", "udp")
    }
    marks: dict[str, Marks] = {
        "ip4": [entry.origin for entry in entries if ":" not in entry.text],
        "ip6": [entry.origin for entry in entries if ":" in entry.text],
        "slots": [slots[network] for network in avatar.networks],
        "tcp": rows["tcp"],
        "udp": rows["udp"],
        "everyone": [row.origin for row in avatar.firewall if row.reach == "everyone"],
    }
    return trace_template(templates, _TEMPLATE, _view(avatar), marks)
