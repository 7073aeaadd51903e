"""What people say beside their sources: where those are from, and what they leave open.

In: nothing. Out: `Said`, which the command line fills.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

FLEET_NAME = "adopted"


@dataclass(frozen=True)
class Folders:
    """Where things are on hosts: whose home `~` is, and the folder of the sources; by host, or "" for all.

    A folder may also be that of one source only, by the folder of that source. `nodes` are those of which no file
    says the host, by name, with their hosts; "" is for all that nobody names.
    """

    homes: Mapping[str, str] = field(default_factory=dict)
    directories: Mapping[str, str] = field(default_factory=dict)
    nodes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Said:
    """What people say of sources. `hosts` says which host a source is about, `addresses` where hosts are, `only` which
    processes count, `role` what a process is that does not say it, `folders` where homes and sources are on hosts and
    which host a node is on. `listed` are sources that nobody named, but their folder or another source. `answers` are
    values for places of the spec.
    """

    hosts: Mapping[str, str] = field(default_factory=dict)
    addresses: Mapping[str, str] = field(default_factory=dict)
    only: Collection[str] = ()
    role: str = ""
    folders: Folders = field(default_factory=Folders)
    listed: Collection[str] = ()
    answers: Sequence[str] = ()

    @property
    def claimed(self) -> set[str]:
        """The hosts that somebody names for something."""
        return {*self.hosts.values(), *self.folders.nodes.values()}
