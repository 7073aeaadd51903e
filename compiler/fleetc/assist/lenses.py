"""The reach of each table of a spec: lines of the hosts' files, and hosts that restart.

In: a sound fleet with its document. Out: `Reach` by table, from the origins of all lines. It takes as long as a
compile, so it asks between two hosts whether anybody still wants to know.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from fleetc import lower
from fleetc.emit import formats
from fleetc.emit.tree import Shipped
from fleetc.language.fleet import Fleet
from fleetc.language.sharing import CLASSES
from fleetc.places.diagnostic import Path
from fleetc.review.impact.restarts import service_of
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
    tables: dict[Path, Path] = {}
    blueprint = lower.lower(fleet)
    drafts = formats.Drafts(blueprint, *shipped, document.sources)
    for host in blueprint.hosts:
        if not wanted():
            return None
        for draft in drafts.of_host(host):
            process, lines = service_of(draft.path), draft.lines()
            known: dict[int, set[Path]] = {}  # of groups of origins, which many lines share
            for line in lines:
                found = set[Path]()
                for group in (line.origins, *line.deciding):
                    if id(group) not in known:
                        paths = {path for origin in group for path in origin.paths}
                        for path in [path for path in paths if path not in tables]:
                            tables[path] = table_of(document.said_at(path) or path)
                        known[id(group)] = {tables[path] for path in paths}
                    found |= known[id(group)]
                for table in found:
                    table_reach = reaches.setdefault(table, Reach())
                    table_reach.lines += 1
                    if process is not None:
                        table_reach.hosts.add(process.host)
    return reaches
