"""Keeps the names that people gave to tables of an adoption.

In: an earlier spec, and the tables that the sources make now. Out: those tables, under the names of the earlier spec
where only one on each side can be the same.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any

from fleetc.adopt.assembled import Assembled
from fleetc.adopt.earlier import Carried, Earlier, mentions, tables_of
from fleetc.adopt.listeners import orchestrator_url, service_url
from fleetc.adopt.naming import LONE_HOST
from fleetc.adopt.pairing import Mark, paired
from fleetc.language.fleet import NODE_TABLES

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


def keep_names(earlier: Earlier, assembled: Assembled, done: Carried) -> Earlier:
    """Give tables the names that people gave them, where only one on each side can be the same. The earlier spec comes
    back, with the hosts that people name by now in place of the one that adopting made up.
    """
    for (kind, name), theirs in earlier.names.items():
        if name != theirs and name in assembled.tables.get(kind, {}):
            _rename(assembled, kind, name, theirs, done)
    earlier = _with_named_hosts(earlier, assembled)
    for kind in _POINTERS:
        members = assembled.tables.get(kind, {})
        before = dict(tables_of(earlier.raw, kind))
        mine: list[_Named] = [(name, table.values) for name, table in members.items() if name not in before]
        others: list[_Named] = [(name, values) for name, values in before.items() if name not in members]
        for (theirs, _), (name, _), _ in paired(others, mine, _marks(kind)):
            _rename(assembled, kind, name, theirs, done)
    _name_orchestrators(earlier, assembled)
    return earlier


def _name_orchestrators(earlier: Earlier, assembled: Assembled) -> None:
    """Call orchestrators that only the earlier spec has by their names, where a node of it does: sources that do not
    start them know their addresses alone.
    """
    named = {
        orchestrator_url(service_url(values["service"])): name
        for name, values in tables_of(earlier.raw, "orchestrators")
        if isinstance(values.get("service"), str) and name not in assembled.tables.get("orchestrators", {})
    }
    for kind in NODE_TABLES:
        before = dict(tables_of(earlier.raw, kind))
        for name, table in assembled.tables.get(kind, {}).items():
            for key in _ORCHESTRATORS & table.values.keys() & before.get(name, {}).keys():
                table.values[key] = _by_name(table.values[key], named, before[name][key])


_ORCHESTRATORS = frozenset({"orchestrator", "orchestrators"})


def _by_name(value: Any, named: Mapping[str, str], earlier: Any) -> Any:
    """An address, or each of a list, as the name of its orchestrator, if the earlier value has that."""
    if isinstance(value, list | tuple):
        return [_by_name(item, named, earlier) for item in value]
    name = named.get(orchestrator_url(value)) if isinstance(value, str) else None
    return name if name is not None and mentions(earlier, name) else value


def _with_named_hosts(earlier: Earlier, assembled: Assembled) -> Earlier:
    """The earlier spec with the named hosts of nodes that it has on the made-up one, which goes with its last node."""
    hosts = dict(tables_of(earlier.raw, "hosts"))
    named = {(one.table, one.name): one.host for one in assembled.nodes if one.process.host}
    if LONE_HOST not in hosts or LONE_HOST in named.values():
        return earlier
    moved: dict[str, Any] = {}
    for kind in NODE_TABLES:
        for name, values in tables_of(earlier.raw, kind):
            host = named.get((kind, name), LONE_HOST) if values.get("host") == LONE_HOST else None
            moved.setdefault(kind, {})[name] = values if host is None else {**values, "host": host}
    raw = {**earlier.raw, **moved}
    if LONE_HOST not in assembled.tables["hosts"]:
        lone = hosts.pop(LONE_HOST)
        same = [name for name in named.values() if _address(assembled, name) == lone.get("address")]
        only = {*named.values()} if len({*named.values()}) == 1 else set()
        for name in [*same, *only][:1]:
            hosts.setdefault(name, lone)
        others = (values for kind in NODE_TABLES for _, values in tables_of(raw, kind))
        if not any(values.get("host") == LONE_HOST for values in others):
            raw["hosts"] = hosts
    return replace(earlier, raw=raw)


def _address(assembled: Assembled, host: str) -> object:
    return assembled.tables["hosts"][host].values.get("address")


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


def _rename(assembled: Assembled, kind: str, name: str, theirs: str, done: Carried) -> None:
    """Call a table of an adoption by another name, everywhere; not by one that another table has."""
    if any(theirs in known for known in assembled.tables.values()):
        return
    done.renamed.append((kind, name, theirs))
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
