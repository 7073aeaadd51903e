"""Writes out values that a spec sets once: defaults of a kind of table, classes, and counter tables.

In: a document as its sources have it. Out: the document with every table written out and the origin of each value
(`Document.layers`), and diagnostics. The result is an ordinary spec: later stages have no classes. Called by
`pipeline.py`, between reading and the language.

Precedence, highest first (`_layers`): the member's own table, its counter table, its classes (last wins), the defaults.
Tables merge, and all else is replaced.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple, get_origin

from fleetc.language.counters import Counted, CounterError, counted, meant_by, names_many, star_in
from fleetc.language.fleet import Fleet
from fleetc.language.secret_fields import SecretRef
from fleetc.places.diagnostic import Diagnostic, Label, Path, error, warning
from fleetc.text.suggestions import Suggestions
from fleetc.toml.document import Document, nothing_to_remove, value_at

DEFAULTS, CLASSES, LIKE, ON = "defaults", "classes", "like", "on"
ALL_LIMIT = 100_000
"""The most members of all counter tables together."""

LISTS = {"orchestrators": "orchestrators", "runners": "runners", "buys_runners": "runners"}
"""The lists of names, and the tables that they name: they take patterns and counters."""

_REFERENCE = frozenset(SecretRef.model_fields)
_Table = dict[str, Any]


@cache
def tables() -> tuple[str, ...]:
    """The tables of a spec whose keys are names of tables: hosts, wallets, gateways and so on."""
    fields = Fleet.model_fields.items()
    return tuple(name for name, field in fields if get_origin(field.annotation) is dict and name != "rates")


def in_the_language(path: Path) -> Path:
    """A path in a class or in defaults as one in a table that takes its values from there."""
    if path[:1] == (CLASSES,):
        return (*path[2:3], *path[1:2], *path[3:])
    return (*path[1:2], "", *path[2:]) if path[:1] == (DEFAULTS,) else path


class _Member(NamedTuple):
    """One table to be, and the table that makes it: its own, or a counter table of `size` members.

    `counter` replaces `{}` in text, and `position` is the member's place. A member for a host that `on` matches has the
    host, and no position.
    """

    table: str
    name: str
    of: str
    counter: str | None = None
    position: int = 0
    size: int = 0
    host: str = ""

    @property
    def path(self) -> Path:
        return (self.table, self.name)


def resolve(document: Document) -> tuple[Document, list[Diagnostic]]:
    """Write out all shared values. A table with an error is left out, and its kind is lost."""
    if not _shares(document.raw):
        return document, [nothing_to_remove(path, place) for path, place in document.removed.items()]
    work = _Work(document)
    return work.resolved(), work.found


def _shares(raw: Mapping[str, Any]) -> bool:
    """Whether anything is to be written out."""
    if DEFAULTS in raw or CLASSES in raw:
        return True
    named = (raw[table] for table in tables() if isinstance(raw.get(table), dict))
    return any(
        "{" in name
        or (isinstance(body, dict) and (LIKE in body or ON in body or any(map(names_many, map(body.get, LISTS)))))
        for table in named
        for name, body in table.items()
    )


_MOST_TEXT = 32_000_000
"""Characters that all counters of a spec make together."""


class _Work:
    """One document on its way: what was found wrong, and what has been written out so far."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.found: list[Diagnostic] = []
        self.layers: dict[Path, tuple[Path, ...]] = {}
        self.moved: dict[Path, Path] = {}
        self.suggestions = Suggestions()
        self._used: set[Path] = set()
        self._plain: dict[Path, bool] = {}
        self._told: set[tuple[str, Path]] = set()
        self._members_left, self._room = ALL_LIMIT, _MOST_TEXT
        self._lost: set[str] = set()
        self._faults = 0

    def resolved(self) -> Document:
        raw = {key: value for key, value in self.document.raw.items() if key not in (DEFAULTS, CLASSES)}
        self._check_definitions()
        for table in tables():
            named = self.document.raw.get(table)
            if isinstance(named, dict):
                hosts = raw.get("hosts")
                raw[table] = self._written_out(table, named, hosts if isinstance(hosts, dict) else {})
        for table in tables():
            for name, body in raw[table].items() if isinstance(raw.get(table), dict) else ():
                if isinstance(body, dict) and any(map(names_many, map(body.get, LISTS))):
                    raw[table][name] = body | self._listed((table, name), body, raw)
        removed = self.document.removed.items()
        self.found += [nothing_to_remove(path, place) for path, place in removed if path not in self.layers]
        for path, _ in removed:
            raw.get(str(path[0]), {}).pop(path[1], None)
        if not self._lost:  # else a table that is left out may take them
            self._unused()
        lost = frozenset(self._lost)
        return Document(self.document.sources, raw, self.document.raw, self.layers, self.moved, lost=lost)

    # ------------------------------------------------------------------------------------------------- members

    def _written_out(self, table: str, named: _Table, hosts: _Table) -> _Table:
        """All tables of a kind, by name. Counter tables come first: a member may have its own table."""
        written: _Table = {}
        many = [name for name, body in named.items() if "{" in name or (isinstance(body, dict) and ON in body)]
        for name in many:
            for member in self._members((table, name), hosts) if isinstance(named[name], dict) else ():
                if member.path in self.layers:
                    self._twice(member)
                else:
                    self._write(member, written)
        for name in named:
            if isinstance(named[name], dict) and name not in many and name not in written:
                self._write(_Member(table, name, name), written)
            elif name not in many and name not in written:
                written[name] = named[name]  # the language says what is wrong with it
        return written

    def _write(self, member: _Member, written: _Table) -> None:
        """Write a member out, unless something of it is not what it should be."""
        before = self._faults
        merged = self._merged(member)
        if self._faults == before:
            written[member.name] = merged
        else:
            self._lost.add(member.table)

    def _members(self, path: Path, hosts: _Table) -> Iterator[_Member]:
        """The members of a counter table: one for each value of its counter, or one for each host."""
        table, name = str(path[0]), str(path[1])
        pattern = value_at(self.document.raw, (*path, ON))
        try:
            text = counted(name)
        except CounterError as problem:
            self._error("counter-invalid", f'the name "{name}": {problem}', path, problem.help, on_key=True)
            return
        if pattern is not None:
            yield from self._on_hosts(path, text, pattern, hosts)
        elif text is None or len(text.counters) != 1 or None in text.pieces:
            advice = f'write one range or list, such as [{table}."name-{{01..20}}"]'
            self._error("counter-invalid", f'the name "{name}" needs exactly one counter', path, advice, on_key=True)
        else:
            (values,) = text.counters
            self._members_left -= len(values)
            if self._members_left < 0:
                message = f"counter tables make more than {ALL_LIMIT} members"
                self._error("too-many-members", message, path, "use a shorter range", on_key=True)
                return
            for position, counter in enumerate(values):
                yield _Member(table, text.at(position, counter), name, counter, position, len(values))

    def _on_hosts(self, path: Path, name: Counted | None, pattern: object, hosts: _Table) -> Iterator[_Member]:
        """One member for each host that `on` matches; `{}` in the name is the text that the star matches."""
        here: Path = (*path, ON)
        if not isinstance(pattern, str) or pattern.count("*") != 1:
            lost, text = set(self._lost), pattern if isinstance(pattern, str) else ""
            meant = [host for host in meant_by(text, hosts) if host in hosts] if "{" in text else []
            pattern = f"{text.partition('{')[0]}*{text.rpartition('}')[2]}" if meant else "gpu-*"
            advice = f'write on = "{pattern}"'
            self._error("on-invalid", "on takes a pattern of host names with one star", here, advice)
            if not meant:
                return
            self._lost = lost  # it is clear which hosts are meant
            hosts = {host: hosts[host] for host in meant}
        if name is None or name.counters or None not in name.pieces:
            advice = f'write [{path[0]}."orch-{{}}"]: {{}} is what the star of on = "{pattern}" stands for'
            self._error("on-invalid", "the name of a table with on needs {} and no other counter", path, advice, True)
            return
        if "host" in value_at(self.document.raw, path):
            self._error("on-invalid", "on names the hosts, so host has no place here", (*path, "host"), "remove it")
            return
        matching = {host: star for host in hosts if (star := star_in(pattern, host)) is not None}
        if not matching:
            near = self.suggestions.near(pattern, tuple(hosts))
            advice = f"the hosts are like {', '.join(near or list(hosts)[:3])}" if hosts else "add hosts"
            self._error("on-matches-nothing", f'no host is called like "{pattern}"', here, advice)
        for host, counter in matching.items():
            yield _Member(str(path[0]), name.at(0, counter), str(path[1]), counter, host=host)

    def _twice(self, member: _Member) -> None:
        first = next(layer for layer in self.layers[member.path] if layer != member.path)
        if first == (member.table, member.of):
            message = f"{member.table}.{member.name} comes out of this name twice"
            self._error("member-twice", message, first, "write each value of a counter once", on_key=True)
            return
        here = Label((member.table, member.of), "the second", on_key=True)
        there = (Label(first, "the first", on_key=True),)
        message = f"{member.table}.{member.name} comes out of two tables"
        self.found.append(error("member-twice", message, here, there, "give one of them other names or another range"))

    def _listed(self, path: Path, body: _Table, raw: _Table) -> _Table:
        """The lists of names of a table, with each pattern or counter as the names that it stands for."""
        lists: _Table = {}
        for field in (field for field in LISTS if names_many(body.get(field))):
            known = raw.get(LISTS[field])
            names: dict[str, int] = {}
            for place, text in enumerate(body[field]):
                for name in meant_by(text, known if isinstance(known, dict) else {}):
                    names.setdefault(name, place)
            layers = self.layers.get(path, (path,))
            said = next(layer for layer in layers if value_at(self.document.raw, (*layer, field)) is not None)
            self.moved |= {(*path, field, now): (*said, field, place) for now, place in enumerate(names.values())}
            lists[field] = list(names)
        return lists

    # --------------------------------------------------------------------------------------------- their values

    def _merged(self, member: _Member) -> _Table:
        """The whole table of a member: its layers laid over each other, the weakest first."""
        layers = self._layers(member)
        if layers != (member.path,):
            self.layers[member.path] = layers
        merged: _Table = {}
        for layer in reversed(layers):
            said = value_at(self.document.raw, layer)
            said, own = {key: said[key] for key in said if key != ON}, layer == member.path
            merged = _laid_over(merged, said if own else self._filled(said, layer, member.path, member))
        merged.pop(LIKE, None)
        if member.host:
            merged["host"] = member.host
            self.moved[(*member.path, "host")] = (member.table, member.of, ON)
        return merged

    def _layers(self, member: _Member) -> tuple[Path, ...]:
        """The tables that a member takes its values from, the strongest first."""
        raw = self.document.raw
        own = [
            path for path in dict.fromkeys((member.path, (member.table, member.of))) if value_at(raw, path) is not None
        ]
        like = next(((*path, LIKE) for path in own if value_at(raw, (*path, LIKE)) is not None), None)
        classes = self._classes(member.table, like, ()) if like else ()
        defaults = [(DEFAULTS, member.table)] if value_at(raw, (DEFAULTS, member.table)) is not None else []
        self._used.update(classes, defaults)
        return (*own, *dict.fromkeys(classes), *defaults)

    def _classes(self, table: str, like: Path, within: tuple[str, ...]) -> tuple[Path, ...]:
        """The tables of the classes that `like` names, strongest first: the last one, then its own `like`."""
        said = value_at(self.document.raw, like)
        names = [said] if isinstance(said, str) else said
        if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
            self._error(
                "class-unknown",
                "like takes the name of a class, or several",
                like,
                'name one, such as like = "gpu-box"',
            )
            return ()
        found: list[Path] = []
        for name in reversed(names):
            path: Path = (CLASSES, name, table)
            if name in within:
                chain = " -> ".join((*within[within.index(name) :], name))
                self._error("class-cycle", f"class {name} is like itself: {chain}", like, "remove one of these")
            elif not isinstance(value_at(self.document.raw, path), dict):
                self._no_class(name, table, like)
            else:
                found.append(path)
                deeper: Path = (*path, LIKE)
                if value_at(self.document.raw, deeper) is not None:
                    found += self._classes(table, deeper, (*within, name))
        return tuple(found)

    def _no_class(self, name: str, table: str, like: Path) -> None:
        known = {one: self._kinds((CLASSES, one)) for one in self._all_classes()}
        if name in known:
            has = ", ".join(known[name]) or "nothing"
            message = f"class {name} says nothing about {table}: it has {has}"
            advice = f"add [{CLASSES}.{name}.{table}], or name another class"
        else:
            message = f'there is no class "{name}"'
            fitting = tuple(one for one, body in known.items() if table in body)
            advice = self.suggestions.did_you_mean(name, fitting, f"add [{CLASSES}.{name}.{table}]")
        self._error("class-unknown", message, like, advice)

    def _filled(self, value: Any, path: Path, of: Path, member: _Member) -> Any:
        """A value of a layer with the counters in its texts and keys filled in for a member; `of` is its path there."""
        if self._is_plain(path, value):
            return value
        if isinstance(value, dict):
            filled: _Table = {}
            for key, inner in value.items():
                name, content = self._filled_item(key, inner, path, of, member)
                if name in filled:
                    message = f'"{key}" becomes "{name}" in {member.table}.{member.name}, and that key is here already'
                    self._error("member-twice", message, (*path, key), "give each key another counter", on_key=True)
                filled[name] = content
            return filled
        if isinstance(value, list):
            return [self._filled(inner, (*path, place), (*of, place), member) for place, inner in enumerate(value)]
        return self._text(value, path, member)

    def _filled_item(self, key: str, value: Any, path: Path, of: Path, member: _Member) -> tuple[str, Any]:
        name = self._text(key, (*path, key), member)
        if name != key:
            self.moved[(*of, name)] = (*path, key)
        return name, self._filled(value, (*path, key), (*of, name), member)

    def _text(self, value: str, path: Path, member: _Member) -> str:
        try:
            text = counted(value)
        except CounterError as problem:
            self._error("counter-invalid", f"{path[-1]}: {problem}", path, problem.help)
            return value
        if text is None or self._room <= 0:
            return value
        if text.plain is not None:
            return text.plain
        if member.counter is None:
            message = f"{member.table}.{member.name} has no counter to fill in here"
            advice = "write {{ and }} for braces themselves, or give the table a counter in its name"
            self._error("counter-unfilled", message, path, advice)
        elif any(len(values) != member.size for values in text.counters):
            self._lengths(text, path, member)
        else:
            made = text.at(member.position, member.counter)
            self._room -= len(made)
            if self._room <= 0:
                message = f"counters make more than {_MOST_TEXT // 10**6} million characters up to here"
                self._error("counter-invalid", message, path, "shorten what stands around them")
            return made
        return value

    def _lengths(self, text: Counted, path: Path, member: _Member) -> None:
        """Two counters of one table that do not go together."""
        if not member.size:
            message = "only {} has a place in a table with on: hosts come and go, and the others would get other values"
            self._error("counter-lengths-differ", message, path, "write {}, or a table for each of these nodes")
            return
        wrong = next(values for values in text.counters if len(values) != member.size)
        message = f"this counter has {len(wrong)} values, but the name has {member.size}"
        related = (Label((member.table, member.of), f"{member.size} members", on_key=True),)
        advice = "make both equally long: each member takes the value at its own position"
        self._error("counter-lengths-differ", message, path, advice, related=related)

    def _is_plain(self, path: Path, value: Any) -> bool:
        """Whether a value has no brace in any text, so that every member takes it as it is."""
        known = self._plain.get(path)
        if known is None:
            known = self._plain[path] = not _has_brace(value)
        return known

    # ---------------------------------------------------------------------------------------------- definitions

    def _all_classes(self) -> _Table:
        classes = self.document.raw.get(CLASSES)
        return classes if isinstance(classes, dict) else {}

    def _kinds(self, path: Path) -> _Table:
        """The tables of a class, or of the defaults, by the kind of table that they are for."""
        kinds = value_at(self.document.raw, path)
        return kinds if isinstance(kinds, dict) else {}

    def _check_definitions(self) -> None:
        """Defaults and classes are tables of tables that a spec has; `on` is of one table."""
        self._check_kinds((DEFAULTS,))
        if CLASSES in self.document.raw and not isinstance(self.document.raw[CLASSES], dict):
            self._error("wrong-type", "classes must be a table", (CLASSES,), "write [classes.gpu-box.hosts]")
        for name in self._all_classes():
            self._check_kinds((CLASSES, name))

    def _check_kinds(self, path: Path) -> None:
        kinds = value_at(self.document.raw, path)
        if kinds is None:
            return
        example = f"write [{'.'.join(map(str, path))}.hosts]"
        if not isinstance(kinds, dict):
            self._error("wrong-type", f"{path[-1]} must be a table", path, example)
            return
        for kind, body in kinds.items():
            here: Path = (*path, kind)
            if kind not in tables():
                advice = self.suggestions.did_you_mean(kind, tables(), example)
                self._error("unknown-key", f'a spec has no tables called "{kind}"', here, advice, on_key=True)
            elif not isinstance(body, dict):
                self._error("wrong-type", f"{kind} must be a table", here, example)
            elif ON in body:
                self._error("on-invalid", "on belongs in the table of nodes itself", (*here, ON), "move it there")

    def _unused(self) -> None:
        """Defaults and classes that no table takes a value from: probably a misspelled name."""
        definitions: list[tuple[str, ...]] = [(CLASSES, name) for name in self._all_classes()]
        defined = [(*path, kind) for path in [*definitions, (DEFAULTS,)] for kind in self._kinds(path)]
        for path in defined:
            if path not in self._used:
                advice = (
                    f'write like = "{path[1]}" in a table of {path[2]}' if path[0] == CLASSES else "add such tables"
                )
                message = f"no table takes its values from {'.'.join(path)}"
                self.found.append(warning("class-unused", message, Label(path), help=f"{advice}, or remove it"))

    def _error(
        self, code: str, message: str, path: Path, help: str, on_key: bool = False, related: tuple[Label, ...] = ()
    ) -> None:
        """One error for a line, however many members it is about."""
        self._faults += 1
        if path[:1] not in ((CLASSES,), (DEFAULTS,)):
            self._lost.add(str(path[0]))
        if (code, path) not in self._told:
            self._told.add((code, path))
            self.found.append(error(code, message, Label(path, on_key=on_key), related, help))


def _has_brace(value: Any) -> bool:
    if isinstance(value, str):
        return "{" in value or "}" in value
    inner = (*value, *value.values()) if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(map(_has_brace, inner))


def _laid_over(base: _Table, over: _Table) -> _Table:
    """Both in one: tables merge, all else is replaced, also references to secrets."""
    merged = dict(base)
    for key, value in over.items():
        old = merged.get(key)
        if isinstance(old, dict) and isinstance(value, dict) and not (value and _REFERENCE.issuperset(value)):
            value = _laid_over(old, value)
        merged[key] = value
    return merged
