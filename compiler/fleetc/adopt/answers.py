"""Keeps what people have answered when the same sources are adopted again.

In: an earlier spec, and the tables that the sources make now. Out: those tables with the answers, and `Carried`, which
says what was done. What sources say stands. What only the earlier spec has is kept, also whole tables, and tables that
it has under other names keep these.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, get_args, get_origin

from fleetc.adopt.asking_chain import asks_chain
from fleetc.adopt.assembled import Assembled
from fleetc.adopt.earlier import Carried, Contradiction, Earlier, Place, mentions, tables_of
from fleetc.adopt.filling import hole_variable
from fleetc.adopt.host_paths import FOLDER_KEYS, is_open
from fleetc.adopt.kept_names import keep_names
from fleetc.adopt.questions import path_of, questions_in
from fleetc.adopt.reading import Running
from fleetc.adopt.rpc import is_known
from fleetc.adopt.session import Table, split_question
from fleetc.adopt.values import mean_same, model_of, rows_of
from fleetc.language.fleet import NODE_TABLES
from fleetc.language.host import FleetSettings
from fleetc.language.monitoring import Monitoring
from fleetc.language.secret_fields import SecretRef
from fleetc.language.sharing import CLASSES, DEFAULTS, tables
from fleetc.toml.comments import questions_of, remarks_of
from fleetc.toml.document import Source

_KEY = re.compile(r"(?:TODO )?(~|[A-Za-z_][^\s:=]*)(?: =|:)")
_OWN_COMMENT = re.compile(
    r"from (?:the command line|standard input|\S*[./]\S*|.+ and [0-9]+ more)"
    r"(?:; the name of the (?:file|folder) says the host)?(?:; there it is called .+, as a host is here)?$"
    r"|no source has it$|what all [0-9]+ have$|what \S+ and [0-9]+ others have$|each takes its own from a counter"
)
"""What adopting writes into comments beside questions, and writes again."""
_REFERENCE = frozenset(SecretRef.model_fields)
NO_SOURCE = "no source has it"
"""The comment at a table that only the earlier spec has."""


def carry(earlier: Earlier, assembled: Assembled) -> Carried:
    """Take the answers of an earlier spec over into the tables of an adoption."""
    done = Carried(earlier)
    asked = _Open(earlier.source.text)
    open_of = _open_of(earlier.source.text)
    for place in earlier.asked | earlier.typed:
        table, key = _table_at(assembled, place)
        if table is not None:
            table.guessed.add(key)
    earlier = keep_names(earlier, assembled, done)
    nodes = {one.name: one for one in assembled.nodes}
    fleet = earlier.raw.get("fleet", {})
    own = {name for name, host in assembled.tables.get("hosts", {}).items() if "rpc" in host.values}
    if any(one.text("ethUrl") == fleet.get("rpc") for one in assembled.nodes if one.host not in own):
        assembled.fleet.guessed.add("rpc")  # it looked as if it had a key, and people know that it has none
    by_host: dict[str, list[Running]] = {}
    for one in assembled.nodes:
        by_host.setdefault(one.host, []).append(one)
    for name, host in tables_of(earlier.raw, "hosts"):
        if any(one.text("ethUrl") == host.get("rpc") for one in by_host.get(name, [])):
            assembled.tables["hosts"][name].guessed.add("rpc")
    open_keys = asked.at("fleet") | _ask_rpc_anew(earlier, assembled, ("fleet",), fleet.get("rpc"), assembled.nodes)
    if earlier.stands("fleet", ""):
        _stay(assembled.fleet, fleet, ("fleet",), open_keys, done)
    else:
        _merge(assembled.fleet, fleet, ("fleet",), open_keys, set(), done)
    fleet_rpc = assembled.fleet.values.get("rpc")
    for kind in tables():
        for name, values in tables_of(earlier.raw, kind):
            members = assembled.tables.setdefault(kind, {})
            if earlier.asks_balances and kind == "wallets" and "minimum_balance" not in asked.at(kind, name):
                assembled.unasked.add(name)
            if name not in members:
                members[name] = Table(dict(values), origin="" if kind == "silences" else NO_SOURCE)
                done.tables.append((kind, name))
                continue
            open_keys = asked.at(kind, name)
            here = by_host.get(name, []) if kind == "hosts" else []
            if here:
                open_keys = open_keys | _ask_rpc_anew(earlier, assembled, (kind, name), values.get("rpc"), here)
            if earlier.stands(kind, name):
                _stay(members[name], values, (kind, name), open_keys, done)
                done.stacks += [name] if kind == "avatars" else []
                continue
            said = _said(nodes[name]) if name in nodes and kind in NODE_TABLES else set()
            if "rpc" in values and _asks_elsewhere(values["rpc"], members[name], here, fleet_rpc):
                done.contradictions.append(Contradiction((kind, name, "rpc"), fleet_rpc, values["rpc"]))
                values = {key: value for key, value in values.items() if key != "rpc"}
            _merge(members[name], values, (kind, name), open_keys, said, done)
            if not _has_new_nodes(earlier, assembled, kind, name):
                _leave_removed(members[name], values, open_of.get((kind, name), set()))
    _keep_hosts(assembled, done)
    for key, value in earlier.raw.items():
        if value != {} and key not in ("spec", "fleet", DEFAULTS, CLASSES, *tables()):
            assembled.more[key] = Table(dict(value)) if isinstance(value, Mapping) else value
            done.tables.append((key,))
    _prune(earlier, assembled)
    _close(assembled)
    _order(earlier, assembled)
    _remarks(earlier, assembled, done)
    return done


def _ask_rpc_anew(
    earlier: Earlier, assembled: Assembled, place: Place, known: Any, nodes: Sequence[Running]
) -> set[str]:
    """Ask about the RPC address that an earlier spec has for some nodes, where one that it does not have asks another:
    nobody has said that this node gets it. The key, while that is asked.
    """
    table = assembled.fleet if place == ("fleet",) else assembled.tables[place[0]][place[1]]
    question = next((one for one in table.questions if _asked_key(one) == "rpc"), "")
    parts = split_question(question)
    if known is None or parts is None:
        return set()
    dotted = ".".join(place)
    before = [one for one in questions_in(earlier.source.text) if (one.table, one.key) == (dotted, "rpc")]
    new = [one for one in nodes if asks_chain(one) and one.name not in earlier.raw.get(one.table, {})]
    others = [one for one in new if known not in (one.text("ethUrl"), {"env": hole_variable(one.word("ethUrl"))})]
    if not (others or (before and not before[0].example)):
        return set()
    table.values["rpc"] = known
    table.questions[table.questions.index(question)] = f"TODO rpc: {parts.words}"
    return {"rpc"}


def _asks_elsewhere(answer: Any, host: Table, nodes: Sequence[Running], fleet_rpc: Any) -> bool:
    """Whether sources say of all nodes of a host that they ask the address of the fleet, and not that of an earlier
    spec. Which address a reference leads to is not known, unless the sources have theirs in clear.
    """
    asking = [one for one in nodes if asks_chain(one)]
    if "rpc" in host.values or any(_asks(one, "rpc") for one in host.questions) or not asking:
        return False
    if not all(map(is_known, asking)) or answer in [one.text("ethUrl") for one in asking]:
        return False
    return isinstance(fleet_rpc, str) if isinstance(answer, Mapping) else True


def _keep_hosts(assembled: Assembled, done: Carried) -> None:
    """Of the hosts of no source, tell those on which people have put a node of the sources: they are in use."""
    chosen = {assembled.tables[one.table][one.name].values.get("host") for one in assembled.nodes}
    done.hosts += [place[1] for place in done.tables if place[0] == "hosts" and place[1] in chosen]
    for name in done.hosts:
        assembled.tables["hosts"][name].origin = ""


class _Open:
    """The keys that an earlier spec still asks about, by table."""

    def __init__(self, text: str) -> None:
        self._found: dict[Place, set[str]] = {}
        lines = set()
        for one in questions_in(text):
            lines.add(one.line)
            path = path_of(one.table)
            path = {CLASSES: path[2:], DEFAULTS: path[1:]}.get(path[0], path) if path else path
            path = path[:1] if any("{" in part for part in path) else path  # a counter, which stands for many tables
            self._found.setdefault(path, set()).add(one.key)
        rest = (_KEY.match(words) for line, words in questions_of(text) if line not in lines)
        self._anywhere = {found[1] for found in rest if found is not None}

    def at(self, kind: str, name: str = "") -> set[str]:
        """Those of a table: also what a layer of many tables asks, and what people wrote in a form of their own."""
        whole = self._found.get((kind,), set())
        return whole | self._found.get((kind, name), set()) | self._anywhere


def _close(assembled: Assembled) -> None:
    """Leave out questions about homes and folders that no path has open any longer."""
    every = (value for kind in assembled.tables.values() for table in kind.values() for value in table.values.values())
    if not any(map(is_open, every)):
        for host in assembled.tables.get("hosts", {}).values():
            host.questions = [asked for asked in host.questions if _asked_key(asked) not in FOLDER_KEYS]


def _order(earlier: Earlier, assembled: Assembled) -> None:
    """Put tables into the order of the earlier spec, and new ones behind."""
    for kind, members in assembled.tables.items():
        order = {name: index for index, (name, _) in enumerate(tables_of(earlier.raw, kind))}
        assembled.tables[kind] = dict(sorted(members.items(), key=lambda one: order.get(one[0], len(order))))


def _stay(table: Table, values: Mapping[str, Any], place: Place, open_keys: set[str], done: Carried) -> None:
    """Leave a table as the earlier spec has it; what it still asks, it goes on asking."""
    named = table.values.get("name") if place == ("fleet",) and "name" not in table.guessed else None
    if named is not None and named != values.get("name"):
        done.contradictions.append(Contradiction((*place, "name"), named, values.get("name")))
    done.answers += [(*place, key) for key, value in values.items() if _answers(table, key, value)]
    table.questions = [
        asked
        for asked in table.questions
        if (key := _asked_key(asked)) in open_keys and not _answered(key, values, table.values)
    ]
    table.values = {**values, **({"name": named} if named is not None else {})}


def _has_new_nodes(earlier: Earlier, assembled: Assembled, kind: str, name: str) -> bool:
    """Whether a host has nodes now that the earlier spec does not have: what it is asked may be new."""
    here = [one for one in assembled.nodes if kind == "hosts" and one.host == name]
    return any(one.name not in earlier.raw.get(one.table, {}) for one in here)


def _open_of(text: str) -> dict[Place, set[str]]:
    """The keys that TODO lines of a spec are about, by table."""
    found: dict[Place, set[str]] = {}
    for remark in remarks_of(text):
        if remark.words.startswith("TODO "):
            found.setdefault(tuple(map(str, remark.path[:2])), set()).add(_asked_key(remark.words))
    return found


def _leave_removed(table: Table, values: Mapping[str, Any], open_keys: set[str]) -> None:
    """Leave out questions that no value answers, and whose lines people have removed."""
    open_ = {*open_keys, *FOLDER_KEYS, *values}
    table.questions = [
        asked for asked in table.questions if split_question(asked) is not None or _asked_key(asked) in open_
    ]


def _answers(table: Table, key: str, value: Any) -> bool:
    """Whether a value of an earlier spec says what the sources leave open, or what adopting only guesses."""
    if key not in table.values or is_open(table.values[key]):
        return True
    guess = key in table.guessed or any(_asks(question, key) for question in table.questions)
    return guess and not _same(table.values[key], value)


def _answered(key: str, values: Mapping[str, Any], fresh: Mapping[str, Any]) -> bool:
    """Whether an earlier spec answers a question about a key: with a value where there is none, or with another one."""
    return key in values and not (key in fresh and _same(fresh[key], values[key]))


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
        before = dict(tables_of(earlier.raw, kind))
        for name, table in list(assembled.tables.get(kind, {}).items()):
            if name in before or (kind == "hosts" and "address" in table.values):
                continue
            others = (one.values for members in assembled.tables.values() for one in members.values())
            if not any(_names(values, keys, name) for values in others):
                del assembled.tables[kind][name]


def _names(value: Any, keys: frozenset[str], name: str) -> bool:
    """Whether one of these keys of a table, or of tables within, names a table."""
    if isinstance(value, Mapping):
        return any(mentions(item, name) if key in keys else _names(item, keys, name) for key, item in value.items())
    return isinstance(value, list | tuple) and any(_names(item, keys, name) for item in value)


def _remarks(earlier: Earlier, assembled: Assembled, done: Carried) -> None:
    """Put the comments of people above and behind what they stand at in the earlier spec, where that is still there. In
    tables of no source, questions that nobody has answered stay with them.
    """
    for remark in remarks_of(earlier.source.text):
        asked = remark.words.startswith("TODO ") and tuple(map(str, remark.path[:2])) in done.tables
        if _own(remark.words) and not asked:
            continue
        first = str(remark.path[0]) if remark.path else ""
        if first == "spec" and not remark.behind:
            assembled.head.append(remark.words)
            continue
        path = tuple(map(str, remark.path))
        table, key = _table_at(assembled, path[: 1 + (path[0] in assembled.tables)] if remark.below else path)
        if table is None or (key and key not in table.values):
            continue
        if remark.words in (table.origin, *table.questions):
            continue
        if remark.below:
            table.below.append(remark.words)
        elif remark.behind and key:
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
    if words.startswith("TODO "):
        return _asked_key(words).partition(".")[0] in _asked_keys()
    return _OWN_COMMENT.match(words) is not None


@cache
def _asked_keys() -> frozenset[str]:
    """What questions can be about: keys of all tables, and homes and folders."""
    whole = (FleetSettings.model_fields, Monitoring.model_fields)
    return frozenset(FOLDER_KEYS).union(*whole, *(model_of(kind).model_fields for kind in tables()))


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
        elif _mean_same(here, table.values[key], value):
            table.values[key] = value  # in the words of people
            if key in open_keys:
                continue
        elif is_open(value) and not is_open(table.values[key]):
            continue  # the folder is known now
        elif asked or key in table.guessed or is_open(table.values[key]) or _made_up(table.values[key], value):
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
    field = model_of(place[0]).model_fields.get(place[2])
    return field is not None and dict in (get_origin(field.annotation), *map(get_origin, get_args(field.annotation)))


def _plain(value: Any) -> bool:
    """Whether a value is a table of keys, and no reference to a secret."""
    return isinstance(value, Mapping) and not _is_reference(value)


def _is_reference(value: Any) -> bool:
    return isinstance(value, Mapping) and len(value) == 1 and set(value) <= _REFERENCE


def _made_up(fresh: Any, earlier: Any) -> bool:
    """Whether adopting chose a variable for a secret, and people have another place for it."""
    return _is_reference(fresh) and "env" in fresh and _is_reference(earlier)


def _mean_same(place: Place, one: Any, other: Any) -> bool:
    """Whether two values of a place in a spec are one in two ways to write it."""
    return mean_same(place[0], place[1 if place[0] == "fleet" else 2 :], one, other)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)
