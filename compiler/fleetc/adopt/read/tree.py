"""Reads a tree that fleetc compiled: its hosts, and which of its processes is on which host.

In: the files below `ansible/host_vars` and `hosts` of such a tree. Out: fields of the tables of hosts; processes whose
words are all values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from fleetc.adopt.found.ledger import Fate, Ledger
from fleetc.adopt.found.library import Library
from fleetc.adopt.found.process import OURS, Process, Word
from fleetc.places.diagnostic import Span
from fleetc.toml.document import Source

_OF_HOST = re.compile(r"(?:^|/)ansible/(?:host_vars/(?P<host>[^/]+)|inventory)\.json$")
_FIELDS = {
    "ansible_host": "address", "ansible_user": "ssh_user", "ansible_port": "ssh_port", "ansible_become": "become",
    "fleet_host_owner": "node_user",
}  # fmt: skip
_DEFAULTS: Mapping[str, object] = {"ssh_user": "root", "ssh_port": 22, "become": False, "node_user": "livepeer"}


def is_of_hosts(source: Source) -> bool:
    """Whether a source is the inventory of a tree, or the variables of one of its hosts."""
    return _OF_HOST.search(source.name) is not None and "fleet_host" in source.text


def read_hosts(sources: Iterable[Source], ledger: Ledger) -> Iterator[tuple[str, dict[str, Any], Source]]:
    """The hosts of a tree: the name, what it says of the table of the host, and the file that says it."""
    for source in sources:
        ledger.note(Span(source.name, 0, 1), "the file", Fate.UNDERSTOOD, "hosts, and how they are reached")
        called = _OF_HOST.search(source.name)
        values = plain_json(source.text)
        if called is not None and called["host"] and isinstance(values, dict):
            fields = {name: values[key] for key, name in _FIELDS.items() if key in values}
            own = {key: value for key, value in fields.items() if _DEFAULTS.get(key) != value}
            yield called["host"], own, source


def plain_json(text: str) -> Any:
    """JSON, in which fleetc marks texts that are no templates of Ansible; None for another text."""
    try:
        return json.loads(text, object_hook=lambda table: table.get("__ansible_unsafe", table))
    except (ValueError, RecursionError):
        return None


def on_host(process: Process, hosts: Mapping[str, str], library: Library) -> Process:
    """A process on its host: as people say, or as the folder below `hosts` is called. In a file of fleetc, what looks
    like a placeholder is a value.
    """
    folders = process.span.source.split("/")[:-2]
    host = hosts.get(process.span.source, "") or process.host
    if not host and "hosts" in folders:
        host = process.span.source.split("/")[len(folders) - folders[::-1].index("hosts")]
    process = replace(process, host=host)
    source = library.sources.get(process.span.source)
    if source is None or not source.text.startswith(OURS):
        return process
    words = tuple(Word(word.text, word.span) for word in process.words)
    variables = {name: Word(word.text, word.span) for name, word in process.variables.items()}
    return replace(process, words=words, variables=variables, ours=True)
