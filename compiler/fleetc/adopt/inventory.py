"""Reads Ansible inventories and host variables: which hosts there are, and how Ansible reaches them.

In: texts in YAML, JSON or INI form. Out: tables of hosts. Only how a host is reached is read; other variables of an
inventory are its own.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterable

from pydantic_core import PydanticCustomError

from fleetc.adopt.session import Table
from fleetc.adopt.words import Fate, Ledger
from fleetc.adopt.yaml_nodes import Node, YamlError, documents
from fleetc.language.fields import check_name
from fleetc.language.quantities import QuantityError, parse_host
from fleetc.places.diagnostic import Span
from fleetc.toml.document import Source

_FIELDS = {"ansible_host": "address", "ansible_ssh_host": "address", "ansible_user": "ssh_user",
           "ansible_ssh_user": "ssh_user", "ansible_port": "ssh_port", "ansible_become": "become",
           "fleet_host_owner": "node_user"}  # fmt: skip
_DEFAULTS = {"ssh_user": "root", "ssh_port": 22, "become": False, "node_user": "livepeer"}
_SECTION = re.compile(r"[ \t]*\[([^\]:]+)(?::([a-z]+))?\][ \t]*")
_HOST_LINE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*(?:[ \t]+[a-z_]+=.*)?")
_MOST_HOSTS = 20_000


def _folder(name: str) -> str:
    return posixpath.basename(posixpath.dirname(name))


def _stem(name: str) -> str:
    return posixpath.splitext(posixpath.basename(name))[0]


def is_inventory(name: str, text: str) -> bool:
    """Whether a text is an inventory or the variables of a host."""
    if _folder(name) == "host_vars" or _stem(name) in ("inventory", "hosts"):
        return True
    return "ansible_host" in text[:100_000] and "services:" not in text[:100_000]


def read_inventories(sources: Iterable[Source], ledger: Ledger) -> dict[str, Table]:
    """The hosts of some inventories, by name."""
    hosts: dict[str, dict[str, object]] = {}
    origins: dict[str, str] = {}
    for source in sources:
        try:
            root = _root(source)
        except YamlError:
            root = None
        if _folder(source.name) == "host_vars" and root is not None:
            _note(hosts, _stem(source.name), root, source, ledger)
        elif root is not None and root.kind == "map":
            _group(hosts, root, source, ledger, 0)
        else:
            _ini(hosts, source, ledger)
        for name in hosts:
            origins.setdefault(name, source.name)
    return {
        name: Table({k: v for k, v in values.items() if _DEFAULTS.get(k) != v}, origin=f"from {origins[name]}")
        for name, values in hosts.items()
    }


def _root(source: Source) -> Node | None:
    if re.match(r"\s*\[[^\]\n]+\]\s*$", source.text.split("\n", 1)[0] or "[") and not source.name.endswith(".json"):
        return None
    roots = documents(source.text)
    return roots[0] if roots and roots[0].kind == "map" else None


def _group(hosts: dict[str, dict[str, object]], group: Node, source: Source, ledger: Ledger, depth: int) -> None:
    """A group of a YAML inventory, or several by name."""
    if depth > 20 or len(hosts) > _MOST_HOSTS:
        return
    inside = group.get("hosts")
    if inside is not None and inside.kind == "map":
        for name, values in inside.fields().items():
            _note(hosts, name, values, source, ledger)
    children = group.get("children")
    groups = children if children is not None else group if inside is None else None
    for value in groups.fields().values() if groups is not None else ():
        if value.kind == "map":
            _group(hosts, value, source, ledger, depth + 1)


def _note(hosts: dict[str, dict[str, object]], name: str, values: Node, source: Source, ledger: Ledger) -> None:
    fields = {key: _plain(value) for key, value in values.fields().items() if key in _FIELDS}
    _host(hosts, name, fields, values.span(source.name), ledger)
    _note_others(values.fields(), values.span(source.name), ledger)


def _note_others(keys: Iterable[str], span: Span, ledger: Ledger) -> None:
    """Account for how Ansible reaches a host otherwise."""
    for key in keys:
        if re.fullmatch("ansible_[a-z_]{1,60}", key) and key not in _FIELDS:
            ledger.note(span, key, Fate.DROPPED, "a spec does not say it: set it for whoever deploys")


def _plain(value: Node) -> str:
    """A value; Ansible marks some as unsafe, in a map of one key."""
    if value.kind == "map":
        inner = value.get("__ansible_unsafe")
        return inner.text if inner is not None else ""
    return value.text


def _host(hosts: dict[str, dict[str, object]], name: str, fields: dict[str, str], span: Span, ledger: Ledger) -> None:
    if name in ("localhost", "127.0.0.1"):
        return
    table = hosts.setdefault(name, {})
    for key, text in fields.items():
        field = _FIELDS[key]
        if field == "address":
            try:
                table[field] = str(parse_host(text))
            except QuantityError:
                continue
        elif field == "ssh_port":
            if text.isdigit() and 1 <= int(text[:6]) <= 65535:
                table[field] = int(text)
        elif field == "become":
            table[field] = text.lower() in ("true", "yes", "1")
        elif re.fullmatch("[a-z_][a-z0-9_-]{0,31}", text):
            table[field] = text
    if "address" not in table and _is_address(name):
        table["address"] = name
    ledger.note(span, name, Fate.UNDERSTOOD, "a host, and how Ansible reaches it")


def _is_address(name: str) -> bool:
    try:
        check_name(name)
    except PydanticCustomError:
        try:
            parse_host(name)
        except QuantityError:
            return False
        return True
    return False


def _ini(hosts: dict[str, dict[str, object]], source: Source, ledger: Ledger) -> None:
    kind, place = "", 0
    for line in source.text.split("\n"):
        begun, place = place, place + len(line) + 1
        text = re.split(r"(?:^|\s)[#;]", line)[0].strip()
        section = _SECTION.fullmatch(line)
        if section is not None:
            kind = section[2] or ""
            continue
        if not text or kind or not _HOST_LINE.fullmatch(text):
            continue
        try:
            name, *pairs = shlex.split(text)
        except ValueError:
            continue
        given = {key: value for key, _, value in (pair.partition("=") for pair in pairs)}
        span = Span(source.name, begun, begun + len(line))
        _host(hosts, name, {key: value for key, value in given.items() if key in _FIELDS}, span, ledger)
        _note_others(given, span, ledger)
