"""Keeps what people have answered when the same sources are adopted again.

In: an earlier spec, and the tables that the sources make now. Out: those tables with the answers, and `Carried`, which
says what was done. What sources say stands. What only the earlier spec has is kept, also whole tables, and tables that
it has under other names keep these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args, get_origin

from fleetc.adopt.assemble import Assembled
from fleetc.adopt.pairing import Mark, paired
from fleetc.adopt.reading import Running
from fleetc.adopt.session import Table
from fleetc.adopt.values import rows_of
from fleetc.language.fleet import NODE_TABLES, Fleet
from fleetc.language.secret_fields import SecretRef
from fleetc.language.sharing import CLASSES, DEFAULTS, tables
from fleetc.language.spec import read_spec
from fleetc.places.diagnostic import Diagnostic, Label, Span, error, has_errors
from fleetc.toml.comments import questions_of, remarks_of
from fleetc.toml.document import Source, value_at

_KEY = re.compile(r"(?:TODO )?([A-Za-z_][A-Za-z0-9_.]*)(?: =|:)")
_OWN_COMMENT = re.compile(
    r"TODO [A-Za-z_.]+(?: =|:)|from (?:the command line$|\S+$|\S+ and [0-9]+ more$)|no source has it$"
    r"|what all [0-9]+ have$|what \S+ and [0-9]+ others have$|each takes its own from a counter"
)
"""What adopting writes into comments, and writes again."""
_REFERENCE = frozenset(SecretRef.model_fields)
NO_SOURCE = "no source has it"
"""The comment at a table that only the earlier spec has."""

Place = tuple[str, ...]


@dataclass(frozen=True)
class Earlier:
    """A spec that people have answered, with all that it says once written out.

    If it was `compared` with the sources, nodes are the `same` there or `differ`, and `names` has the name here of each
    node there, by its table and its name.
    """

    source: Source
    raw: Mapping[str, Any]
    written: Mapping[str, Any]
    compared: bool = False
    same: frozenset[str] = frozenset()
    differ: frozenset[str] = frozenset()
    names: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def stands(self, kind: str, name: str) -> bool:
        """Whether a table is as the sources have it, so that it stays as people wrote it.

        Stacks of avatars stay too, although nothing compares them, because of their settings many say the same.
        """
        if not self.compared or kind == "runners":
            return False
        if kind == "avatars":
            return True
        if kind in NODE_TABLES:
            return name in self.same
        if kind == "fleet":
            return not self.differ
        return not any(_mentions(values, name) for _, values in self._differing())

    def _differing(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        for kind in NODE_TABLES:
            yield from ((name, values) for name, values in _tables(self.raw, kind) if name in self.differ)


@dataclass(frozen=True)
class Contradiction:
    """A value that the sources and the earlier spec have differently; that of the sources is taken."""

    place: Place
    sources: Any
    earlier: Any


@dataclass
class Carried:
    """What was done with an earlier spec: `answers` are places whose values were kept, `tables` those of no source.

    `renamed` has tables that keep the name that the earlier spec has: their kind, and the name that sources give.
    `stacks` are those of avatars that stay without having been compared.
    """

    earlier: Earlier
    answers: list[Place] = field(default_factory=list)
    contradictions: list[Contradiction] = field(default_factory=list)
    tables: list[Place] = field(default_factory=list)
    renamed: list[tuple[str, str, str]] = field(default_factory=list)
    stacks: list[str] = field(default_factory=list)

    @property
    def shares(self) -> bool:
        """Whether the earlier spec said something once for many tables, which adopting decides anew."""
        written = self.earlier.written
        return DEFAULTS in written or CLASSES in written


def read_earlier(source: Source) -> tuple[Earlier | None, list[Diagnostic]]:
    """An earlier spec; none where it cannot be read."""
    document, found = read_spec([source])
    if document is None or has_errors(found):
        return None, found
    raw = document.raw
    if wrong := [path for path in _places(raw) if not isinstance(value_at(raw, path), Mapping)]:
        place = document.span(wrong[0]) or Span(source.name, 0, 1)
        name = ".".join(wrong[0])
        return None, [error("wrong-type", f"{name} is no table", Label(place), help=f"write a table: [{name}]")]
    return Earlier(source, document.raw, document.written), found


def _places(raw: Mapping[str, Any]) -> Iterator[Place]:
    """Where a spec has tables: the fleet, the kinds, and what is in these."""
    for kind in ("fleet", *tables()):
        if kind in raw:
            yield (kind,)
        if kind != "fleet" and isinstance(raw.get(kind), Mapping):
            yield from ((kind, name) for name in raw[kind])


def carry(earlier: Earlier, assembled: Assembled) -> Carried:
    """Take the answers of an earlier spec over into the tables of an adoption."""
    done = Carried(earlier)
    open_keys = {found[1] for _, words in questions_of(earlier.source.text) if (found := _KEY.match(words)) is not None}
    _keep_names(earlier, assembled, done)
    nodes = {one.name: one for one in assembled.nodes}
    fleet = earlier.raw.get("fleet", {})
    if earlier.stands("fleet", ""):
        _stay(assembled.fleet, fleet, ("fleet",), open_keys, done)
    else:
        _merge(assembled.fleet, fleet, ("fleet",), open_keys, set(), done)
    for kind in tables():
        for name, values in _tables(earlier.raw, kind):
            members = assembled.tables.setdefault(kind, {})
            if name not in members:
                members[name] = Table(dict(values), origin=NO_SOURCE)
                done.tables.append((kind, name))
                continue
            if earlier.stands(kind, name):
                _stay(members[name], values, (kind, name), open_keys, done)
                done.stacks += [name] if kind == "avatars" else []
                continue
            said = _said(nodes[name]) if name in nodes and kind in NODE_TABLES else set()
            _merge(members[name], values, (kind, name), open_keys, said, done)
    for key, value in earlier.raw.items():
        if key not in ("spec", "fleet", DEFAULTS, CLASSES, *tables()):
            assembled.more[key] = Table(dict(value)) if isinstance(value, Mapping) else value
            done.tables.append((key,))
    _prune(earlier, assembled)
    for kind, members in assembled.tables.items():
        order = {name: index for index, (name, _) in enumerate(_tables(earlier.raw, kind))}
        named = sorted(members.items(), key=lambda one: order.get(one[0], len(order)))
        assembled.tables[kind] = dict(named)
    _remarks(earlier, assembled)
    return done


def _stay(table: Table, values: Mapping[str, Any], place: Place, open_keys: set[str], done: Carried) -> None:
    """Leave a table as the earlier spec has it; what it still asks, it goes on asking."""
    named = table.values.get("name") if place == ("fleet",) and "name" not in table.guessed else None
    if named is not None and named != values.get("name"):
        done.contradictions.append(Contradiction((*place, "name"), named, values.get("name")))
    done.answers += [(*place, key) for key in values if key not in table.values]
    table.values = {**values, **({"name": named} if named is not None else {})}
    table.questions = [
        asked
        for asked in table.questions
        if (key := _asked_key(asked)) in open_keys and (key not in values or _guessed_anyway(place, key))
    ]


def _guessed_anyway(place: Place, key: str) -> bool:
    """Whether a question is about a value that stands beside it."""
    return place == ("fleet",) and key == "node_release"


def _asked_key(question: str) -> str:
    found = _KEY.match(question)
    return found[1] if found is not None else ""


_NAMED_BY = {
    "wallets": frozenset({"wallet"}),
    "models": frozenset({"use"}),
    "ladders": frozenset({"ladder"}),
    "runners": frozenset({"runners", "buys_runners", "runner_load"}),
    "hosts": frozenset({"host"}),
}
"""Tables that count only where another one names them, and the keys that do; of hosts, those that nobody gave."""


def _prune(earlier: Earlier, assembled: Assembled) -> None:
    """Leave out what only tables of the sources named that stay as people wrote them."""
    if not earlier.compared:
        return
    for kind, keys in _NAMED_BY.items():
        before = dict(_tables(earlier.raw, kind))
        for name, table in list(assembled.tables.get(kind, {}).items()):
            if name in before or (kind == "hosts" and "address" in table.values):
                continue
            others = (one.values for members in assembled.tables.values() for one in members.values())
            if not any(_names(values, keys, name) for values in others):
                del assembled.tables[kind][name]


def _names(value: Any, keys: frozenset[str], name: str) -> bool:
    """Whether one of these keys of a table, or of tables within, names a table."""
    if isinstance(value, Mapping):
        return any(_mentions(item, name) if key in keys else _names(item, keys, name) for key, item in value.items())
    return isinstance(value, list | tuple) and any(_names(item, keys, name) for item in value)


def _mentions(value: Any, name: str) -> bool:
    """Whether a value names a table."""
    if isinstance(value, Mapping):
        return any(key == name or _mentions(item, name) for key, item in value.items())
    if isinstance(value, list | tuple):
        return any(_mentions(item, name) for item in value)
    return bool(value == name)


def _remarks(earlier: Earlier, assembled: Assembled) -> None:
    """Put the comments of people above and behind what they stand at in the earlier spec, where that is still there."""
    for remark in remarks_of(earlier.source.text):
        if _own(remark.words):
            continue
        first = str(remark.path[0]) if remark.path else ""
        if first == "spec" and not remark.behind:
            assembled.head.append(remark.words)
            continue
        table, key = _table_at(assembled, tuple(map(str, remark.path)))
        if table is None or (key and key not in table.values):
            continue
        if remark.behind and key:
            table.notes.setdefault(key, remark.words)
        else:
            table.above.setdefault(key, []).append(remark.words)


def _table_at(assembled: Assembled, path: Place) -> tuple[Table | None, str]:
    """The table of a place in a spec, and its key there; None where there is none, or the place is within a value."""
    whole = {"fleet": assembled.fleet, **assembled.more}.get(path[0]) if path else None
    if isinstance(whole, Table):
        return (whole, path[1] if len(path) == 2 else "") if len(path) < 3 else (None, "")
    table = assembled.tables.get(path[0], {}).get(path[1]) if 1 < len(path) < 4 else None
    return table, path[2] if len(path) == 3 else ""


def lost_comments(earlier: Source, text: str) -> list[tuple[int, str]]:
    """Comments of the earlier spec that a new one does not have, by line, without those that adopting writes."""
    kept = {remark.words for remark in remarks_of(text)}
    return [(one.line, one.words) for one in remarks_of(earlier.text) if one.words not in kept and not _own(one.words)]


def _own(words: str) -> bool:
    """Whether adopting itself writes such a comment."""
    return _OWN_COMMENT.match(words) is not None


def _tables(raw: Mapping[str, Any], kind: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield from raw.get(kind, {}).items()


def _said(node: Running) -> set[str]:
    """The keys that settings of a node are about, also those that the spec leaves out because they are defaults."""
    return {row.field for flag, row in rows_of(node.table).items() if flag in node.settings and len(row.parts) == 1}


def _merge(
    table: Table, values: Mapping[str, Any], place: Place, open_keys: set[str], said: set[str], done: Carried
) -> None:
    """Take over what a table of the earlier spec has."""
    for key, value in values.items():
        here = (*place, key)
        asked = [question for question in table.questions if _asks(question, key)]
        if key not in table.values:
            if key in said and not asked:
                done.contradictions.append(Contradiction(here, None, value))
                continue
            table.values[key] = value
            done.answers.append(here)
        elif _same(table.values[key], value):
            if key in open_keys:
                continue  # its question stands in the earlier spec too
        elif asked or key in table.guessed or _made_up(table.values[key], value):
            table.values[key] = value
            done.answers.append(here)
        elif _plain(table.values[key]) and _plain(value) and (set(table.values[key]) & set(value) or _is_map(here)):
            inner = Table(dict(table.values[key]))
            _merge(inner, value, here, set(), set(), done)
            table.values[key] = inner.values
            continue
        else:
            done.contradictions.append(Contradiction(here, table.values[key], value))
            continue
        table.questions = [question for question in table.questions if question not in asked]


def _asks(question: str, key: str) -> bool:
    return _asked_key(question).partition(".")[0] == key


def _is_map(place: Place) -> bool:
    """Whether the keys of a table are names; those of others may stand for each other, as url and signer do."""
    if len(place) != 3:
        return True
    model = get_args(Fleet.model_fields[place[0]].annotation)[1]
    field = model.model_fields.get(place[2])
    return field is not None and dict in (get_origin(field.annotation), *map(get_origin, get_args(field.annotation)))


def _plain(value: Any) -> bool:
    """Whether a value is a table of keys, and no reference to a secret."""
    return isinstance(value, Mapping) and not _is_reference(value)


def _is_reference(value: Any) -> bool:
    return isinstance(value, Mapping) and len(value) == 1 and set(value) <= _REFERENCE


def _made_up(fresh: Any, earlier: Any) -> bool:
    """Whether adopting chose a variable for a secret, and people have another place for it."""
    return _is_reference(fresh) and "env" in fresh and _is_reference(earlier)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)


# --- names ------------------------------------------------------------------------------------------

_Named = tuple[str, Mapping[str, Any]]
_POINTERS = {
    "hosts": frozenset({"host"}),
    "wallets": frozenset({"wallet"}),
    "models": frozenset({"use"}),
    "ladders": frozenset({"ladder"}),
    "avatars": frozenset(),
    **dict.fromkeys(NODE_TABLES, frozenset({"orchestrators", "orchestrator", "signer", "redeemer", "reward_by"})),
}
"""The keys whose values are names of tables of a kind."""


def _keep_names(earlier: Earlier, assembled: Assembled, done: Carried) -> None:
    """Give tables the names that people gave them, where only one on each side can be the same."""
    for (kind, name), theirs in earlier.names.items():
        if name != theirs and name in assembled.tables.get(kind, {}):
            _rename(assembled, kind, name, theirs)
            done.renamed.append((kind, name, theirs))
    for kind in _POINTERS:
        members = assembled.tables.get(kind, {})
        before = dict(_tables(earlier.raw, kind))
        mine: list[_Named] = [(name, table.values) for name, table in members.items() if name not in before]
        others: list[_Named] = [(name, values) for name, values in before.items() if name not in members]
        for (theirs, _), (name, _), _ in paired(others, mine, _marks(kind)):
            if any(theirs in known for known in assembled.tables.values()):
                continue
            _rename(assembled, kind, name, theirs)
            done.renamed.append((kind, name, theirs))


def _marks(kind: str) -> list[Mark[_Named, _Named]]:
    """By what tables of a kind are the same one under another name."""
    own: dict[str, Callable[[_Named], Hashable]] = {
        "wallets": lambda one: str(one[1].get("address", "")).lower() or None,
        "hosts": lambda one: one[1].get("address") or None,
        "models": lambda one: (str(one[1].get("pipeline")), str(one[1].get("id"))),
        "ladders": lambda one: repr(one[1].get("profiles")),
    }
    by = own.get(kind, _host_of)
    found = [Mark("", by, by)]
    if kind in NODE_TABLES:
        found.append(Mark("", lambda _: True, lambda _: True))
    elif kind in ("hosts", "wallets"):  # one whose address the sources do not say may be the one that is left
        found.append(Mark("", lambda _: True, lambda one: None if by(one) else True))
    return found


def _host_of(one: _Named) -> str:
    return str(one[1].get("host"))


def _rename(assembled: Assembled, kind: str, name: str, theirs: str) -> None:
    """Call a table of an adoption by another name, everywhere."""
    assembled.tables[kind] = {theirs if one == name else one: table for one, table in assembled.tables[kind].items()}
    for members in assembled.tables.values():
        for table in members.values():
            table.values = _repointed(table.values, _POINTERS[kind], name, theirs)
    for node in assembled.nodes:
        if kind == "hosts" and node.host == name:
            node.host = theirs
        elif kind == node.table and node.name == name:
            node.name = theirs


def _repointed(value: Any, keys: frozenset[str], name: str, theirs: str, inside: bool = False) -> Any:
    if isinstance(value, Mapping):
        return {key: _repointed(item, keys, name, theirs, key in keys) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_repointed(item, keys, name, theirs, inside) for item in value]
    return theirs if inside and value == name else value
