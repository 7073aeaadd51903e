"""What sources make: the tables of a spec, and the processes that they are about.

Made by `assemble.py`, completed by `answers.py` and `refusals.py`, written by `writing.py`.

In: the tables that `assemble.py` fills. Out: `Assembled`, which `answers.py` changes and `writing.py` writes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from fleetc.adopt.node.reading import Running
from fleetc.adopt.report.compare import Difference
from fleetc.adopt.tables.session import Table

FLEET_NAME = "adopted"


class Prometheus(NamedTuple):
    """A Prometheus that runs today: its host in the spec, and whether it is in a network apart from that host."""

    host: str
    apart: bool


@dataclass
class Assembled:
    """The tables of a spec, by table and name, and the processes with their nodes.

    `differences` are those of avatar stacks, of which so many variables were `compared`. `more` is what else an
    earlier spec has, and `head` the comments at its top. `prometheus` runs among what the sources start, and `sharing`
    has the nodes whose ports a question is about beside its own node, by its table and key; `refused` are the
    tables and keys of which the check refuses what stands there. Of the
    `unasked` wallets an earlier spec has neither a balance nor a question: people have removed it.
    """

    fleet: Table
    tables: dict[str, dict[str, Table]]
    nodes: list[Running] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)
    compared: int = 0
    more: dict[str, Table | list[Any]] = field(default_factory=dict)
    head: list[str] = field(default_factory=list)
    prometheus: Prometheus | None = None
    sharing: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    refused: set[tuple[str, str]] = field(default_factory=set)
    unasked: set[str] = field(default_factory=set)
