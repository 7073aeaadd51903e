"""The reach of each table of a spec: lines of the hosts' files, and hosts that restart.

In: a sound fleet with its document. Out: `Reach` by table, from the origins of all lines. It takes as long as a
compile, so it asks between two hosts whether anybody still wants to know.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from fleetc import lower
from fleetc.emit import formats
from fleetc.language.fleet import Fleet
from fleetc.language.sharing import CLASSES
from fleetc.places.diagnostic import Path
from fleetc.review.impact.restarts import service_of
from fleetc.review.why import Shipped
from fleetc.text.counting import counted
from fleetc.toml.document import Document


@dataclass
class Reach:
    """What comes from one table: lines below hosts/, and the hosts with a process that reads one of them."""

    lines: int = 0
    hosts: set[str] = field(default_factory=set)

    def __str__(self) -> str:
        lines = f"affects {counted(self.lines, 'line')}"
        return f"{lines} · restarts {counted(len(self.hosts), 'host')}" if self.hosts else lines


def table_of(path: Path) -> Path:
    """The table that a lens stands at, of a path of the text."""
    return path[:3] if path[:1] == (CLASSES,) else path[:2]


def reach(
    fleet: Fleet, document: Document, shipped: Shipped, wanted: Callable[[], bool]
) -> Mapping[Path, Reach] | None:
    """The reach of every table; None if cancelled."""
    if not wanted():
        return None
    reaches: dict[Path, Reach] = {}
    tables_of: dict[Path, Path] = {}
    blueprint = lower.lower(fleet)
    drafts = formats.Drafts(blueprint, *shipped, document.sources)
    for host in blueprint.hosts:
        if not wanted():
            return None
        for draft in drafts.of_host(host):
            process = service_of(draft.path)
            for line in draft.lines():
                tables = set()
                for origin in (*line.origins, *line.presence):
                    for path in origin.paths:
                        if path not in tables_of:
                            tables_of[path] = table_of(document.said_at(path) or path)
                        tables.add(tables_of[path])
                for table in tables:
                    table_reach = reaches.setdefault(table, Reach())
                    table_reach.lines += 1
                    if process is not None:
                        table_reach.hosts.add(process.host)
    return reaches
