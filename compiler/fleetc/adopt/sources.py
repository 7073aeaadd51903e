"""Reads every source by what it is, and joins what they say: processes with their environment files, and hosts.

In: sources. Out: `Found`. What kind a source is shows in its text; its name only decides where texts look alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from fleetc.adopt.library import Library
from fleetc.adopt.session import Table
from fleetc.adopt.shell import read_shell
from fleetc.adopt.words import Ledger, Process
from fleetc.toml.document import Source


@dataclass
class Found:
    """What all sources together hold."""

    processes: list[Process] = field(default_factory=list)
    hosts: dict[str, Table] = field(default_factory=dict)


def read_sources(sources: Sequence[Source], hosts: dict[str, str], library: Library, ledger: Ledger) -> Found:
    """Read all sources."""
    found = Found()
    for source in sources:
        shell = read_shell(source.name, source.text, ledger)
        found.processes += shell.processes
    return found
