"""Says once what members of a table share: tables with counters, classes, and defaults.

In: the members of one table, by name. Out: `Shared`, the tables to write in their place. What `language/sharing.py`
writes out of these must be the members again; `writing.py` compares both before it uses them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from fleetc.adopt.session import Table
from fleetc.language.counters import CounterError, counted
from fleetc.language.sharing import LIKE

_ALIKE = 3
"""So many tables with so many values in common are worth a table of their own."""
_TRIES = 40
"""How many tables are compared with all others: it bounds the time for fleets in which all differ."""
_NUMBER = re.compile(r"(?<![0-9])([0-9]{1,9})(?![0-9])")
_OWN = frozenset({"host", "address"})
"""Keys that are about one table, even where others have the same."""


@dataclass
class Shared:
    """The tables of one kind as a person writes them: by name, what all of them have, and classes by name."""

    tables: dict[str, Table]
    defaults: Table = field(default_factory=Table)
    classes: dict[str, Table] = field(default_factory=dict)


def shared(kind: str, members: Mapping[str, Table]) -> Shared:
    """Say once what the members of a table of this kind have in common."""
    found = Shared(_folded(members))
    everywhere = _common(list(found.tables.values())) if len(found.tables) >= _ALIKE else {}
    if len(everywhere) >= _ALIKE:
        found.defaults = Table(everywhere, origin=f"what all {len(members)} have")
    likes = _classify(kind, found)
    for name, table in found.tables.items():
        like = {LIKE: likes[name]} if name in likes else {}
        said = {*found.defaults.values, *(found.classes[likes[name]].values if like else ())}
        values = members[name].values if name in members else table.values  # a table for one has braces as they are
        own = {key: value for key, value in values.items() if key not in said}
        found.tables[name] = replace(table, values=like | own)
    return found


# --- classes ----------------------------------------------------------------------------------------


def _common(tables: Sequence[Table]) -> dict[str, Any]:
    """What all tables have, as a layer above them writes it."""
    first, *others = (_shareable(table) for table in tables)
    return {key: value for key, value in first.items() if all(other.get(key) == value for other in others)}


def _shareable(table: Table) -> dict[str, Any]:
    return {key: value for key, value in table.values.items() if key not in _OWN and not _counts(value)}


def _classify(kind: str, found: Shared) -> dict[str, str]:
    """Make classes of what some tables have in common beside the defaults; which table is like which class."""
    likes: dict[str, str] = {}
    left = {
        name: {key: value for key, value in _shareable(table).items() if key not in found.defaults.values}
        for name, table in found.tables.items()
    }
    left = {name: values for name, values in left.items() if len(values) >= _ALIKE}
    for seed in list(left)[:_TRIES]:
        if seed not in left:
            continue
        names, common = _like(seed, left)
        left.pop(seed)
        if len(names) < _ALIKE:
            continue
        called = _class_name(kind, names, found.classes)
        found.classes[called] = Table(common, origin=f"what {names[0]} and {len(names) - 1} others have")
        for name in names:
            left.pop(name, None)
            likes[name] = called
    return likes


def _like(seed: str, left: Mapping[str, dict[str, Any]]) -> tuple[list[str], dict[str, Any]]:
    """The tables that share most of their values with one, and what all of them share."""
    names, common, most = [seed], left[seed], len(left[seed])
    for name, values in left.items():
        if name == seed:
            continue
        both = {key: value for key, value in common.items() if values.get(key) == value}
        size = max(most, len(values))
        if len(both) >= _ALIKE and 2 * len(both) > size:
            names.append(name)
            common, most = both, size
    return names, common


def _class_name(kind: str, names: Sequence[str], taken: Mapping[str, Table]) -> str:
    """The words that the names of all members begin with, else the kind of table."""
    words = [re.findall("[a-z]+", name.partition("{")[0]) for name in names]
    same = [column[0] for column in zip(*words, strict=False)]
    while same and any(one[: len(same)] != same for one in words):
        same.pop()
    return next(name for name in _numbered("-".join(same) or kind.removesuffix("s")) if name not in taken)


def _numbered(stem: str) -> Iterator[str]:
    yield stem
    number = 2
    while True:
        yield f"{stem}-{number}"
        number += 1


# --- counters ---------------------------------------------------------------------------------------


def _folded(members: Mapping[str, Table]) -> dict[str, Table]:
    """The members, with one table for each row of them in which only numbers differ, and those count up."""
    rows: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for name in members:
        numbers = list(_NUMBER.finditer(name))
        if numbers:
            last = numbers[-1]
            rows.setdefault((name[: last.start()], name[last.end() :]), []).append((int(last[0]), name))
    folded: dict[str, tuple[str, Table]] = {}
    gone: set[str] = set()
    for row in rows.values():
        for names in _runs([name for _, name in sorted(row)], members) if len(row) >= _ALIKE else ():
            together = _together(names, members)
            if together is not None:
                folded[names[0]] = together
                gone.update(names)
    found: dict[str, Table] = {}
    for name, table in members.items():
        if name in folded:
            many, one = folded[name]
            found[many] = one
        elif name not in gone:
            found[name] = replace(table, values={key: _escaped(value) for key, value in table.values.items()})
    return found


def _runs(names: Sequence[str], members: Mapping[str, Table]) -> Iterator[list[str]]:
    """Rows of names whose tables differ in numbers only, each of which stays or counts up by one."""
    run: list[str] = []
    steps: list[int] = []
    before: tuple[str, list[str]] = ("", [])
    for name in names:
        now = _skeleton([name, members[name].values])
        here = [int(b) - int(a) for a, b in zip(before[1], now[1], strict=False)]
        same = bool(run) and now[0] == before[0] and all(step in (0, 1) for step in here)
        if not same or (len(run) > 1 and here != steps):
            if len(run) >= _ALIKE:
                yield run
            run = []
        run, steps, before = [*run, name], here, now
    if len(run) >= _ALIKE:
        yield run


def _skeleton(value: Any) -> tuple[str, list[str]]:
    """A value without the numbers in its texts, and these numbers in order."""
    numbers: list[str] = []

    def without(inner: Any) -> Any:
        if isinstance(inner, str):
            text, found = _without_numbers(inner)
            numbers.extend(found)
            return text
        if isinstance(inner, Mapping):
            return {key: without(item) for key, item in inner.items()}
        return [without(item) for item in inner] if isinstance(inner, list | tuple) else inner

    return repr(without(value)), numbers


@lru_cache(maxsize=16384)  # tables that are alike have the same texts
def _without_numbers(text: str) -> tuple[str, tuple[str, ...]]:
    """A text with a sign that no spec has in place of each number, and the numbers."""
    return _NUMBER.sub("\0", text), tuple(_NUMBER.findall(text))


def _together(names: Sequence[str], members: Mapping[str, Table]) -> tuple[str, Table] | None:
    """One table for several, and its name; None where a number has no counter."""
    tables = [members[name] for name in names]
    if any((table.questions, table.above) != (tables[0].questions, tables[0].above) for table in tables):
        return None
    counter = [_NUMBER.findall(name)[-1] for name in names]
    try:
        name = _counting(names, None)
        values = _overlaid([table.values for table in tables], counter)
    except CounterError:
        return None
    notes = {key: note for key, note in tables[0].notes.items() if all(t.notes.get(key) == note for t in tables)}
    origins = list(dict.fromkeys(table.origin for table in tables if table.origin))
    first, sign, behind = origins[0].partition("; ") if origins else ("", "", "")
    origin = first + (f" and {len(origins) - 1} more" if len(origins) > 1 else "") + sign + behind
    one = Table(values, list(tables[0].questions), origin, notes, above=tables[0].above, below=tables[0].below)
    if any(" = " in question for question in one.questions):
        one.ask("each takes its own from a counter in the text: {} is that of the name, {10..29} counts beside it")
    return name, one


def _overlaid(values: Sequence[Any], counter: Sequence[str]) -> Any:
    """Values that are alike but for their numbers, as one. Raises CounterError."""
    first = values[0]
    if isinstance(first, str):
        return _counting(values, counter)
    if isinstance(first, Mapping):
        return {key: _overlaid([value[key] for value in values], counter) for key in first}
    if isinstance(first, list | tuple):
        return [_overlaid(items, counter) for items in zip(*values, strict=True)]
    return first


def _counting(texts: Sequence[str], counter: Sequence[str] | None) -> str:
    """Texts as one text with counters; `counter` has the numbers of the names. Raises CounterError."""
    texts = texts[:1] if len(set(texts)) == 1 else texts
    pieces = [_NUMBER.split(text) for text in texts]
    written = ""
    for at, column in enumerate(zip(*pieces, strict=True)):
        if len(set(column)) == 1:
            written += _escaped(column[0])
        elif at % 2 == 0:
            raise CounterError("more than numbers differ")
        else:
            written += "{}" if list(column) == counter else f"{{{_range(column[0], column[-1])}}}"
    read = counted(written)
    for position, text in enumerate(texts):
        name = counter[position] if counter else ""
        if (written if read is None else read.at(position, name)) != text:
            raise CounterError("these numbers do not count up as a range does")
    return written


def _range(first: str, last: str) -> str:
    """A range in a counter; both ends of one that begins with 0 are equally wide."""
    return f"0..9,10..{last}" if first == "0" and len(last) > 1 else f"{first}..{last}"


def _escaped(value: Any) -> Any:
    """A value as a layer above members writes it: there, a brace is written twice."""
    if isinstance(value, str):
        return value.replace("{", "{{").replace("}", "}}")
    if isinstance(value, Mapping):
        return {_escaped(key): _escaped(item) for key, item in value.items()}
    return [_escaped(item) for item in value] if isinstance(value, list | tuple) else value


def _counts(value: Any) -> bool:
    """Whether a value has a counter in it."""
    if isinstance(value, str):
        text = counted(value)
        return text is not None and text.plain is None
    if isinstance(value, Mapping):
        return any(_counts(key) or _counts(item) for key, item in value.items())
    return isinstance(value, list | tuple) and any(map(_counts, value))
