"""Completions of a shell: names of the spec at hand, codes, fields, flags, releases.

In: what was written of a word. Out: the words that begin with it. It runs at each key press, so it reads the spec as
plain TOML without checks. A broken spec gives no completions and no message.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fleetc.toml.document import Source


def prepare() -> None:
    """Have typer answer about --option=value, which bash hands over in three words, and bash keep the order."""
    _keep_order()
    words, at = os.environ.get("COMP_WORDS", "").split("\n"), int(os.environ.get("COMP_CWORD", "0"))
    signs = [place for place in range(1, min(at, len(words))) if words[place] == "=" and words[place - 1][:2] == "--"]
    os.environ["COMP_WORDS"] = "\n".join(word for place, word in enumerate(words) if place not in signs)
    os.environ["COMP_CWORD"] = str(at - len(signs))


def _keep_order() -> None:
    """Have bash show answers in their order. typer has no public place for its script: others keep their own."""
    with suppress(ImportError, AttributeError, KeyError):
        from typer import _completion_classes, _completion_shared

        script = _completion_shared.COMPLETION_SCRIPT_BASH
        last = script.rstrip().rpartition("\n")[2]
        ordered = f"{last.replace('-o default', '-o nosort -o default')} 2>/dev/null || {last}"  # bash before 4.4 sorts
        script = script.replace(last, ordered)
        _completion_classes.BashComplete.source_template = _completion_shared._completion_scripts["bash"] = script


def _beginning(incomplete: str, words: Iterator[str]) -> list[str]:
    return sorted({word for word in words if word.startswith(incomplete)})


def _spec() -> dict[str, Any]:
    """The tables of the spec here, or of the nearest above; empty if none can be read."""
    from pathlib import Path

    import tomli

    from fleetc.disk.files import FilesError, find_spec, read_parts, read_source, spec_above

    try:
        place = spec_above(Path.cwd())
        if place is None:
            return {}
        path = find_spec(place)
        source = read_source(path, str(path))
        spec = tomli.loads(source.text)
        return _written_out([source, *read_parts(source, path)]) if _shares(spec) else spec
    except (FilesError, OSError, ValueError, RecursionError):
        return {}


def _shares(spec: dict[str, Any]) -> bool:
    """Whether names of the spec come from counters, patterns or other files."""
    tables = [table for table in spec.values() if isinstance(table, dict)]
    return "include" in spec or any("{" in name for table in tables for name in table)


def _written_out(sources: list[Source]) -> dict[str, Any]:
    """The spec with those names; it takes the language, which a press of a key does not wait for otherwise."""
    from fleetc.language.spec import read_spec

    document, _ = read_spec(sources)
    return {} if document is None else document.raw


def _table(spec: dict[str, Any], name: str) -> dict[str, Any]:
    table = spec.get(name)
    return table if isinstance(table, dict) else {}


def _nodes(spec: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The host and the name of each node."""
    from fleetc.language.fleet import NODE_TABLES

    for table in NODE_TABLES:
        for name, node in _table(spec, table).items():
            yield str(node.get("host", "")) if isinstance(node, dict) else "", name


def _writers(spec: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The host and the name of each node, and of each live runner with a host."""
    yield from _nodes(spec)
    for name, runner in _table(spec, "runners").items():
        if isinstance(runner, dict) and "host" in runner:
            yield str(runner["host"]), name


def hosts(incomplete: str) -> list[str]:
    """Hosts of the spec."""
    return _beginning(incomplete, iter(_table(_spec(), "hosts")))


def streams(incomplete: str) -> list[str]:
    """Streams of the spec."""
    return _beginning(incomplete, iter(_table(_spec(), "streams")))


def nodes(incomplete: str) -> list[str]:
    """Nodes of the spec."""
    return _beginning(incomplete, (name for _, name in _nodes(_spec())))


def writers(incomplete: str) -> list[str]:
    """Nodes of the spec, and live runners that it starts, which have logs on their hosts."""
    return _beginning(incomplete, (name for _, name in _writers(_spec())))


def logs(incomplete: str) -> list[str]:
    """HOST/NODE for each of them; the shell itself offers files."""
    return _beginning(incomplete, (f"{host}/{name}" for host, name in _writers(_spec())))


def places(incomplete: str) -> list[str]:
    """Nodes and key paths of the spec."""
    return sorted({*nodes(incomplete), *paths(incomplete)})


def paths(incomplete: str) -> list[str]:
    """Key paths of the spec."""
    from fleetc.toml.edits import toml_key

    def below(table: dict[str, Any], prefix: str) -> Iterator[str]:
        for key, value in table.items():
            path = f"{prefix}{toml_key(key)}"
            yield path
            if isinstance(value, dict):
                yield from below(value, f"{path}.")

    return _beginning(incomplete, below(_spec(), ""))


def explained(incomplete: str) -> list[str]:
    """What `explain` has pages for: tables, fields, codes, topics, and flags of the node."""
    from fleetc.messages.finding import words

    return flags(incomplete) if incomplete.startswith("-") else _beginning(incomplete, iter(words()))


def flags(incomplete: str) -> list[str]:
    """Flags of the node, as they are written behind a node: with a hyphen or without."""
    from fleetc.upstream import FLAGS

    start = "-" if incomplete.startswith("-") else ""
    return _beginning(incomplete, (f"{start}{flag}" for flag in FLAGS))


def codes_of_hosts(incomplete: str) -> list[str]:
    """CODE= for what hosts may lack."""
    from fleetc.messages.pages.hosts import HOST_PAGES

    return _beginning(incomplete, (f"{code}=" for code in HOST_PAGES))


def releases(incomplete: str) -> list[str]:
    """Releases of the node that fleetc knows, the oldest first."""
    from fleetc.upstream import RELEASES, format_release

    return [release for release in map(format_release, RELEASES) if release.startswith(incomplete)]


def ready_rules(incomplete: str) -> list[str]:
    """The rules that fleetc ships to copy."""
    from fleetc.cli.shared.ready_rules import names_of, ready_texts
    from fleetc.disk.files import FilesError

    try:
        return _beginning(incomplete, iter(names_of(ready_texts())))
    except FilesError:
        return []


def examples(incomplete: str) -> list[str]:
    """The fleets that fleetc ships."""
    from fleetc.disk.files import FilesError, read_examples

    try:
        return _beginning(incomplete, (name.partition("/")[0] for name in read_examples()))
    except FilesError:
        return []
