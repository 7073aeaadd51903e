"""Which processes of the sources count, where people name some with --only.

In: all that sources start. Out: those of these names: their own, or the ones that their nodes would have in a spec of
all of them.
"""

from __future__ import annotations

from fleetc.adopt.found.ledger import Ledger
from fleetc.adopt.found.library import Library
from fleetc.adopt.found.process import Process
from fleetc.adopt.found.said import Said
from fleetc.adopt.node.reading import running
from fleetc.adopt.read.sources import Found
from fleetc.adopt.tables.naming import name_all, place_all
from fleetc.adopt.tables.session import Session


def chosen(found: Found, said: Said, library: Library) -> tuple[list[Process], set[str]]:
    """The processes that count, and the names by which people can choose."""
    own = {one.name for one in found.processes if one.name}
    if not said.only or own.issuperset(said.only):
        return [one for one in found.processes if not said.only or one.name in said.only], own
    names = _names(found, said, library)
    others = set(said.only) - own
    processes = [
        one for one, name in zip(found.processes, names, strict=True) if one.name in said.only or name in others
    ]
    return processes, own | {*filter(None, names)}


def _names(found: Found, said: Said, library: Library) -> list[str]:
    """The name that the node of each process would have; "" where it would be none."""
    apart = Session(Library(library.sources, library.written), Ledger())  # what is read for names alone is not used
    placed = place_all(found.processes, found.hosts, apart.ledger)
    nodes = [running(one, apart.library, apart.ledger, said.role) for one in placed]
    name_all([one for one in nodes if one is not None], apart, found.hosts, found.claimed)
    return [one.name if one is not None else "" for one in nodes]
