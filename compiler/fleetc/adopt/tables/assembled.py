"""What sources make: the tables of a spec, and the processes that they are about.

In: the tables that `assemble.py` fills. Out: `Assembled`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from fleetc.adopt.found.questions import Question
from fleetc.adopt.node.settings import Running
from fleetc.adopt.read.stack_files import StackFiles
from fleetc.adopt.tables.session import Table


@dataclass
class Assembled:
    """The tables of a spec, by table and name, and the processes with their nodes.

    `stacks` are the files of avatar stacks, by their tables.
    """

    fleet: Table
    tables: dict[str, dict[str, Table]]
    nodes: list[Running] = field(default_factory=list)
    stacks: dict[str, StackFiles] = field(default_factory=dict)

    def each(self) -> Iterator[Table]:
        """All tables."""
        yield self.fleet
        for members in self.tables.values():
            yield from members.values()

    @property
    def questions(self) -> tuple[Question, ...]:
        """What the spec asks."""
        return tuple(one for table in self.each() for one in table.questions)
