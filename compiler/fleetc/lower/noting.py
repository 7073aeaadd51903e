"""Records what lowering a host reads of a fleet, so that a similar fleet lowers only hosts with other inputs.

In: a fleet. Out: `Noting`, a stand-in that records reads; and `Likeness`, which compares two fleets by the recorded
reads. Both fleets are in memory, and tables that are the same in both are one object, as `read_fleet` makes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

from fleetc.language.fleet import Fleet, Subject

T = TypeVar("T")

WHOLE = None
"""The key of a note about everything that is there, in its order."""


class Note(NamedTuple):
    """What was read: an attribute of the fleet, or an answer about all of it; and the key of an entry, or WHOLE."""

    of: str | Callable[[Fleet], Any]
    key: Any


class Noting:
    """A stand-in for a fleet. Everything that is read of it is noted, because nothing else of it can be reached."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._tables: dict[Callable[[Fleet], Any], _Table] = {}
        self._answers: dict[tuple[Any, str], tuple[Any, set[Note]]] = {}
        self.notes: set[Note] = set()

    def taken(self) -> frozenset[Note]:
        """What has been read since the last time."""
        notes, self.notes = self.notes, set()
        return frozenset(notes)

    def __getattr__(self, name: str) -> Any:
        if name == "answers":
            raise AttributeError("answers are found by answer and answer_of_all, which note them")
        value = getattr(self._fleet, name)
        if isinstance(value, dict):
            table = _Table(name, value, self)
            setattr(self, name, table)  # asked for once
            return table
        self.notes.add(Note(name, WHOLE))
        return value

    def answer(self, ask: Callable[[Any, Subject], T], subject: Subject) -> T:
        """As `Fleet.answer`. Reading a cached answer counts as reading its inputs."""
        known = self._answers.get((ask, subject.name))
        if known is None:
            outer, self.notes = self.notes, set()
            try:
                known = self._answers[ask, subject.name] = ask(self, subject), self.notes
            finally:
                outer |= self.notes
                self.notes = outer
        else:
            self.notes |= known[1]
        value: T = known[0]
        return value

    def answer_of_all(self, ask: Callable[[Fleet], Any]) -> Any:
        """As `Fleet.answer_of_all`. It comes from the whole fleet, so the answer itself is noted and compared."""
        if ask in self._tables:
            return self._tables[ask]
        value = self._fleet.answer_of_all(ask)
        if isinstance(value, dict):
            return self._tables.setdefault(ask, _Table(ask, value, self))
        self.notes.add(Note(ask, WHOLE))
        return value


class _Table(Mapping[Any, Any]):
    """A dict that records which keys are read."""

    def __init__(self, of: str | Callable[[Fleet], Any], table: dict[Any, Any], noting: Noting) -> None:
        self._of, self._table, self._noting = of, table, noting

    def __getitem__(self, key: Any) -> Any:
        self._noting.notes.add(Note(self._of, key))
        return self._table[key]

    def __contains__(self, key: object) -> bool:
        self._noting.notes.add(Note(self._of, key))
        return key in self._table

    def get(self, key: Any, default: Any = None) -> Any:
        self._noting.notes.add(Note(self._of, key))
        return self._table.get(key, default)

    def __iter__(self) -> Iterator[Any]:
        self._noting.notes.add(Note(self._of, WHOLE))
        return iter(self._table)

    def __len__(self) -> int:
        self._noting.notes.add(Note(self._of, WHOLE))
        return len(self._table)


_NOTHING = object()


class Likeness:
    """Compares two fleets in what was noted, each part once."""

    def __init__(self, one: Fleet, other: Fleet) -> None:
        self._fleets = (one, other)
        self._known: dict[Note, bool] = {}

    def holds(self, notes: Iterable[Note]) -> bool:
        """Whether the two fleets are the same in all of it."""
        return all(map(self._is_alike, notes))

    def _is_alike(self, note: Note) -> bool:
        alike = self._known.get(note)
        if alike is None:
            alike = self._known[note] = _same(*(_read(fleet, note) for fleet in self._fleets))
        return alike


def _read(fleet: Fleet, note: Note) -> Any:
    """What a note is about, in one fleet."""
    value = getattr(fleet, note.of) if isinstance(note.of, str) else fleet.answer_of_all(note.of)
    return value if note.key is WHOLE else value.get(note.key, _NOTHING)


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same in type and content, also in the order of their parts.

    Equality is not enough: 1 == True, and a table equals one that writes out a default. Of what is no plain value, such
    as a table, only the object itself is the same.
    """
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, str | int):
        return bool(one == other)
    if isinstance(one, dict):
        one, other = (*one, *one.values()), (*other, *other.values())
    return isinstance(one, tuple | list) and len(one) == len(other) and all(map(_same, one, other))
