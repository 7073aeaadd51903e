"""Names the nodes and hosts of an adopted fleet, as their sources call them.

In: running processes. Out: their names, and those of their hosts.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Collection, Mapping

from fleetc.adopt.reading import Running
from fleetc.adopt.session import Session, Table

LONE_HOST = "host-1"
_PLAIN_STEMS = frozenset(
    {"compose", "docker-compose", "livepeer", "start", "run", "launch", "main", "node", "standard input"}
)


def name_all(
    found: list[Running], session: Session, inventory: Mapping[str, Table], claimed: set[str]
) -> tuple[dict[str, str], str]:
    """Name nodes and hosts; those `claimed` run nothing but what was named for them. The names of hosts by what sources
    call them come back, and what a lone host is called.
    """
    lone = next(iter(inventory)) if len(inventory) == 1 and not claimed.intersection(inventory) else LONE_HOST
    taken: set[str] = set()
    named: set[str] = set()
    hosts: dict[str, str] = {}
    homes: dict[str, set[str]] = {}
    counted = Counter(one.process.span.source for one in found)
    alone = {source for source, count in counted.items() if count == 1}
    for one in found:
        homes.setdefault(_hint(one, alone), set()).add(one.process.host or lone)
    for one in found:
        process = one.process
        host = process.host or lone
        if host not in hosts:
            hosts[host] = session.name_for(host, "host", named)
            named.add(hosts[host])
        one.host = hosts[host]
        hint = _hint(one, alone)
        called = f"{hint}-{one.host}" if len(homes[hint]) > 1 else hint
        one.name = session.name_for(called, one.role, taken)
        taken.add(one.name)
    return hosts, lone


def _hint(one: Running, alone: Collection[str]) -> str:
    """What the source calls a node, or the name of a source that is about it `alone`, else its role."""
    file = posixpath.splitext(posixpath.basename(one.process.span.source))[0]
    stem = file.removeprefix("livepeer-").removeprefix("livepeer_")
    called = one.process.name.removeprefix("livepeer-")
    stem = stem if one.process.span.source in alone else ""
    return next((text for text in (called, stem) if text and text not in _PLAIN_STEMS), one.role)
