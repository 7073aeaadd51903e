"""Which variable of which group a host of Ansible has, where several say it.

In: groups with their hosts, children and variables. Out: the variables of a host, by Ansible's precedence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from fleetc.places.diagnostic import Span

ALL = "all"
_UNGROUPED = "ungrouped"


class Given(NamedTuple):
    """The text of a variable, and where it stands."""

    text: str
    span: Span


Variables = dict[str, Given]


@dataclass
class Group:
    """What an inventory says of a group, and what the files of variables say that stand beside it."""

    hosts: set[str] = field(default_factory=set)
    children: set[str] = field(default_factory=set)
    variables: Variables = field(default_factory=dict)
    of_files: Variables = field(default_factory=dict)


@dataclass
class Inventory:
    """The groups of one directory of inventories, by name, and the variables of its hosts themselves."""

    groups: dict[str, Group] = field(default_factory=dict)
    hosts: dict[str, Variables] = field(default_factory=dict)

    def group(self, name: str) -> Group:
        """The group of a name, which is there now."""
        return self.groups.setdefault(name, Group())

    def variables(self) -> Iterator[tuple[str, Variables]]:
        """Each host with its variables: those of the group `all` come first, then those of other groups, in the
        inventory and then in files, each from parents to children and else by name, then those of the host.
        """
        parents: dict[str, list[str]] = {}
        of_host: dict[str, list[str]] = {}
        for name, group in self.groups.items():
            for child in group.children - {name}:
                parents.setdefault(child, []).append(name)
            for host in group.hosts if name != ALL else ():
                of_host.setdefault(host, []).append(name)
        depths = self._depths(parents)
        whole = self.group(ALL)
        for host, own in self.hosts.items():
            above = _above(of_host.get(host) or [_UNGROUPED], parents)
            groups = [self.groups[name] for name in sorted(above, key=lambda name: (depths.get(name, 0), name))
                      if name != ALL and name in self.groups]  # fmt: skip
            found = dict(whole.variables)
            for group in groups:
                found |= group.variables
            found |= whole.of_files
            for group in groups:
                found |= group.of_files
            yield host, found | own

    def _depths(self, parents: dict[str, list[str]]) -> dict[str, int]:
        """How far each group is below `all`, by the longest way. Groups within each other, which Ansible refuses, stay
        where they are first met.
        """
        depths: dict[str, int] = {}
        for start in self.groups:
            way = [start]
            while way:
                name = way[-1]
                depths.setdefault(name, -1)
                left = [one for one in parents.get(name, ()) if one not in depths]
                if left:
                    way.append(left[0])
                    continue
                depths[name] = max((depths[one] + 1 for one in parents.get(name, ())), default=0)
                way.pop()
        return depths


def _above(names: list[str], parents: dict[str, list[str]]) -> set[str]:
    """Some groups with all that they are in."""
    found: set[str] = set()
    left = [*names]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += parents.get(name, ())
    return found
