"""Reads Ansible inventories, and variables of hosts and groups: which hosts there are, and how Ansible reaches them.

In: texts in YAML, JSON or INI form. Out: tables of hosts. Only how a host is reached is read; other variables of an
inventory are its own.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Sequence
from contextlib import suppress

from pydantic_core import PydanticCustomError

from fleetc.adopt.inventory_groups import ALL, Given, Inventory, Variables
from fleetc.adopt.session import Table
from fleetc.adopt.words import Fate, Ledger
from fleetc.adopt.yaml_nodes import Node, YamlError, documents
from fleetc.language.fields import check_name
from fleetc.language.quantities import QuantityError, parse_host
from fleetc.places.diagnostic import Span
from fleetc.toml.document import Source

_FIELDS = {"ansible_host": "address", "ansible_ssh_host": "address", "ansible_user": "ssh_user",
           "ansible_ssh_user": "ssh_user", "ansible_port": "ssh_port", "ansible_ssh_port": "ssh_port",
           "ansible_become": "become", "fleet_host_owner": "node_user"}  # fmt: skip
_DEFAULTS = {"ssh_user": "root", "ssh_port": 22, "become": False, "node_user": "livepeer"}
_SECTION = re.compile(r"[ \t]*\[([^\]:]+)(?::([a-z]+))?\][ \t]*")
_HOST_LINE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*(?:[ \t]+[a-z_]+=.*)?")
_MOST_HOSTS = 20_000
_OF_ANSIBLE = re.compile("ansible_[a-z_]{1,60}")
_UNKNOWN = re.compile(r"\{\{|\{%|^\s*\$ANSIBLE_VAULT;")
"""A value that only a running Ansible has: of a template, or of a vault."""
_OF_GROUP = "how Ansible reaches the hosts of a group"
_NOT_SAID = "a spec does not say it: set it for whoever deploys"
_NO_PRIORITY = "groups are taken by depth and name alone"
OF_VARIABLES = frozenset({_OF_GROUP, _NOT_SAID, _NO_PRIORITY})
"""What the account says of variables of Ansible."""


def _stem(name: str) -> str:
    return posixpath.splitext(posixpath.basename(name))[0]


def is_inventory(name: str, text: str) -> bool:
    """Whether a text is an inventory, or the variables of a host or a group."""
    if _of_whom(name) or _stem(name) in ("inventory", "hosts"):
        return True
    return "ansible_host" in text[:100_000] and "services:" not in text[:100_000]


def _of_whom(name: str) -> tuple[str, str, str] | None:
    """Of a file of variables: its kind of folder, whose variables it has, and the directory that the folder is in."""
    *folders, _ = parts = name.split("/")
    for at in (len(folders) - 1, len(folders) - 2):
        if at >= 0 and folders[at] in ("host_vars", "group_vars"):
            whose = _stem(name) if at == len(folders) - 1 else parts[at + 1]
            return folders[at], whose, "/".join(folders[:at])
    return None


def read_inventories(sources: Sequence[Source], ledger: Ledger) -> dict[str, Table]:
    """The hosts of some inventories, by name."""
    known: dict[str, Inventory] = {}
    origins: dict[str, str] = {}
    files = [(source, whom) for source in sources if (whom := _of_whom(source.name)) is not None]
    of_hosts = Inventory()
    for source in sources:
        if _of_whom(source.name) is None:
            inventory = known.setdefault(posixpath.dirname(source.name), Inventory())
            before = len(inventory.hosts)
            _read(inventory, source, ledger)
            for name in [*inventory.hosts][before:]:
                origins.setdefault(name, source.name)
    for source, (folder, whose, directory) in files:
        values = _variables_of_file(source)
        if folder == "group_vars":
            beside = [known[directory]] if directory in known else known.values()
            for inventory in beside:  # those beside a playbook are of all inventories
                inventory.group(whose).of_files |= values
            if beside:
                _note_group(values, ledger)
        else:
            for inventory in [one for one in known.values() if whose in one.hosts] or [of_hosts]:
                _note_host(inventory, whose, values, Span(source.name, 0, 1), ledger)
            origins.setdefault(whose, source.name)
    tables: dict[str, dict[str, object]] = {}
    for inventory in (*known.values(), of_hosts):
        for name, variables in inventory.variables():
            _fill(tables.setdefault(name, {}), name, variables, ledger)
    return {
        name: Table({k: v for k, v in values.items() if _DEFAULTS.get(k) != v}, origin=f"from {origins[name]}")
        for name, values in tables.items()
    }


def _variables_of_file(source: Source) -> Variables:
    """What a file of variables says of how Ansible reaches its hosts."""
    try:
        root = _root(source)
    except YamlError:
        root = None
    return _variables(root, source) if root is not None else {}


def _read(inventory: Inventory, source: Source, ledger: Ledger) -> None:
    try:
        root = _root(source)
    except YamlError:
        root = None
    if root is None:
        _ini(inventory, source, ledger)
        return
    _group(inventory, "", root, source, ledger, 0)


def _root(source: Source) -> Node | None:
    if re.match(r"\s*\[[^\]\n]+\]\s*$", source.text.split("\n", 1)[0] or "[") and not source.name.endswith(".json"):
        return None
    roots = documents(source.text)
    return roots[0] if roots and roots[0].kind == "map" else None


def _group(inventory: Inventory, name: str, group: Node, source: Source, ledger: Ledger, depth: int) -> None:
    """A group of a YAML inventory; "" is the file itself, which has several by name."""
    if depth > 20 or len(inventory.hosts) > _MOST_HOSTS:
        return
    inside, own = group.get("hosts"), inventory.group(name or ALL)
    if inside is not None and inside.kind == "map":
        for host, values in inside.fields().items():
            own.hosts.add(host)
            _note_host(inventory, host, _variables(values, source), values.span(source.name), ledger)
    variables = group.get("vars")
    if variables is not None and variables.kind == "map":
        own.variables |= (given := _variables(variables, source))
        _note_group(given, ledger)
    children = group.get("children")
    groups = children if children is not None else group if inside is None else None
    for child, value in groups.fields().items() if groups is not None else ():
        if value.kind == "map" and (value is not variables):
            own.children.add(child)
            _group(inventory, child, value, source, ledger, depth + 1)
        elif children is not None and value.empty:
            own.children.add(child)


def _variables(values: Node, source: Source) -> Variables:
    """The variables of Ansible itself in a map."""
    return {
        key: Given(_plain(value), value.span(source.name))
        for key, value in values.fields().items()
        if key in _FIELDS or _OF_ANSIBLE.fullmatch(key)
    }


def _note_host(inventory: Inventory, name: str, values: Variables, span: Span, ledger: Ledger) -> None:
    if name in ("localhost", "127.0.0.1"):
        return
    inventory.hosts.setdefault(name, {}).update(values)
    ledger.note(span, name, Fate.UNDERSTOOD, "a host, and how Ansible reaches it")
    for key in values.keys() - _FIELDS.keys():
        ledger.note(span, key, Fate.DROPPED, _NOT_SAID)


def _note_group(values: Variables, ledger: Ledger) -> None:
    for key, given in values.items():
        if key == "ansible_group_priority":
            ledger.note(given.span, key, Fate.DROPPED, _NO_PRIORITY)
            ledger.remark(
                "adopt-value-unknown", given.span, f"{key} is not read: groups of one depth are taken by their names",
                "write what hosts get otherwise into their tables",
            )  # fmt: skip
        elif key in _FIELDS:
            ledger.note(given.span, key, Fate.UNDERSTOOD, _OF_GROUP)
        else:
            ledger.note(given.span, key, Fate.DROPPED, _NOT_SAID)


def _plain(value: Node) -> str:
    """A value; Ansible marks some as unsafe, in a map of one key."""
    if value.kind == "map":
        inner = value.get("__ansible_unsafe")
        return inner.text if inner is not None else ""
    return value.text


def _fill(table: dict[str, object], name: str, variables: Variables, ledger: Ledger) -> None:
    """Fill the table of a host with what Ansible knows of how to reach it."""
    for key, field in _FIELDS.items():
        given = variables.get(key)
        text = given.text if given is not None else ""
        if given is not None and _UNKNOWN.search(text):
            ledger.warn(
                "adopt-value-unknown", given.span, f"no source says {key}: only Ansible knows what stands here",
                f"write {field} of its hosts into their tables",
            )  # fmt: skip
        elif field == "address" and given is not None:
            with suppress(QuantityError):
                table[field] = str(parse_host(text))
        elif field == "ssh_port" and text.isdigit() and 1 <= int(text[:6]) <= 65535:
            table[field] = int(text)
        elif field == "become" and given is not None:
            table[field] = text.lower() in ("true", "yes", "on", "y", "t", "1")
        elif field in ("ssh_user", "node_user") and re.fullmatch("[a-z_][a-z0-9_-]{0,31}", text):
            table[field] = text
    if "address" not in table and _is_address(name):
        table["address"] = name


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


def _ini(inventory: Inventory, source: Source, ledger: Ledger) -> None:
    group, kind, place = "", "", 0
    for line in source.text.split("\n"):
        begun, place = place, place + len(line) + 1
        text = re.split(r"(?:^|\s)[#;]", line)[0].strip()
        span = Span(source.name, begun, begun + max(1, len(line)))
        section = _SECTION.fullmatch(line.partition("#")[0])
        if section is not None:
            group, kind = section[1].strip(), section[2] or ""
        elif text and kind == "children":
            inventory.group(group or ALL).children.add(text)
        elif text and kind == "vars":
            key, _, value = (part.strip() for part in text.partition("="))
            if key in _FIELDS or _OF_ANSIBLE.fullmatch(key):
                known = {key: Given(value.strip("'\""), span)}
                inventory.group(group).variables |= known
                _note_group(known, ledger)
        elif text and _HOST_LINE.fullmatch(text):
            with suppress(ValueError):
                name, *pairs = shlex.split(text)
                given = {key: value for key, _, value in (pair.partition("=") for pair in pairs)}
                values = {
                    key: Given(value, span)
                    for key, value in given.items()
                    if key in _FIELDS or _OF_ANSIBLE.fullmatch(key)
                }
                inventory.group(group or "ungrouped").hosts.add(name)
                _note_host(inventory, name, values, span, ledger)
