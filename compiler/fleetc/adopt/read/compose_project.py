"""Says which Compose files make one project, as `docker compose` does, and what files that lie over others make of it.

In: Compose files by name, and which of them people named. Out: `Project`s; fields of services with those of others laid
over them. A file that Compose would not take is named, and never used.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from fleetc.adopt.found.ledger import Fate, Ledger
from fleetc.adopt.found.library import Library
from fleetc.adopt.found.process import Word
from fleetc.adopt.found.yaml_nodes import NOTHING, Node, YamlError, documents, first_document
from fleetc.adopt.read.env_files import environment
from fleetc.places.diagnostic import Span
from fleetc.text import leaks
from fleetc.text.counting import first_of
from fleetc.text.encoders import visible
from fleetc.toml.document import Source

_BASES = ("compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml")
_OVERRIDES = (
    "compose.override.yml", "compose.override.yaml", "docker-compose.override.yml", "docker-compose.override.yaml",
)  # fmt: skip
"""The names that Compose looks for, the first of each before the others."""
_MOST_NAMED = 4
_REPLACED = frozenset({"command", "entrypoint"})
"""Lists that replace those below them; all others add up."""


class Project(NamedTuple):
    """Compose files in their order, and the variables of the `.env` beside the first."""

    files: tuple[Source, ...]
    variables: Mapping[str, Word]

    @property
    def profiles(self) -> frozenset[str]:
        """The profiles that are active."""
        word = self.variables.get("COMPOSE_PROFILES")
        return frozenset(part.strip() for part in word.text.split(",")) if word is not None else frozenset()


def projects(
    sources: Sequence[Source], listed: Collection[str], hosts: Mapping[str, str], library: Library, ledger: Ledger
) -> Iterator[Project]:
    """The projects of all Compose files: in each folder of a host the files that people named, in their order, else
    those that Compose takes there of the `listed` ones. Files that others extend are parts of these.
    """
    parts = {part.name for source in sources for part in _parts(source, library)}
    parts = parts if any(source.name not in parts for source in sources) else set()  # they go in a circle
    folders: dict[tuple[str, str], list[Source]] = {}
    for source in sources:
        folders.setdefault((hosts.get(source.name, ""), posixpath.dirname(source.name)), []).append(source)
    for name in listed:
        if posixpath.basename(name) == ".env" and "COMPOSE_FILE" in library.sources[name].text:
            folders.setdefault((hosts.get(name, ""), posixpath.dirname(name)), [])
    for (_, folder), files in folders.items():
        env = library.named(posixpath.join(folder, ".env"))
        variables = environment(env.name, env.text).variables if env is not None else {}
        whole = [source for source in files if source.name not in parts]
        chosen = [source for source in whole if source.name not in listed]
        chosen = chosen or _taken(folder, whole, variables, library, ledger)
        if chosen:
            library.used |= {source.name for source in chosen}
            yield Project(tuple(chosen), variables)


def _taken(
    folder: str, files: Sequence[Source], variables: Mapping[str, Word], library: Library, ledger: Ledger
) -> list[Source]:
    """The files that Compose takes in a folder by itself."""
    word = variables.get("COMPOSE_FILE")
    if word is None or not word.text:
        names = {posixpath.basename(source.name): source for source in files}
        base = [names[name] for name in _BASES if name in names][:1]
        return base + [names[name] for name in _OVERRIDES if name in names][:1] if base else []
    separator = variables["COMPOSE_PATH_SEPARATOR"].text if "COMPOSE_PATH_SEPARATOR" in variables else ":"
    library.used.add(word.span.source)
    ledger.note(word.span, "COMPOSE_FILE", Fate.UNDERSTOOD, "the files that Compose takes, in their order")
    taken = []
    for path in word.text.split(separator or ":"):
        source = library.sources.get(posixpath.normpath(posixpath.join(folder, path)))
        if source is None:
            ledger.refuse(
                "adopt-file-missing", word.span, f"COMPOSE_FILE names {leaks.shown(path)}, which is no source",
                "name that file too; docker compose starts nothing here without it",
            )  # fmt: skip
        else:
            taken.append(source)
    return taken


def note_unused(sources: Sequence[Source], library: Library, ledger: Ledger) -> None:
    """Name the Compose files that no project has, in one message for each folder."""
    left: dict[str, list[str]] = {}
    for source in sources:
        if source.name not in library.used and services_of(source):
            ledger.note(Span(source.name, 0, 1), "the file", Fate.DROPPED, "docker compose does not take it by itself")
            if "livepeer" in source.text:
                left.setdefault(posixpath.dirname(source.name), []).append(source.name)
    for names in left.values():
        shown = first_of([leaks.shown(visible(posixpath.basename(name))) for name in names], _MOST_NAMED)
        ledger.warn(
            "adopt-compose-unused", Span(names[0], 0, 1), f"docker compose does not take {shown} by itself",
            "if what runs was started with it, name each file, in the order in which docker compose gets them",
        )  # fmt: skip


def services_of(source: Source) -> dict[str, Node]:
    """The services of a file; none of one that cannot be read."""
    return (first_document(source.text, source.name).get("services") or NOTHING).fields()


def _parts(source: Source, library: Library) -> Iterator[Source]:
    """The files that services of a file extend."""
    for service in services_of(source).values() if "extends" in source.text else ():
        path = (service.get("extends") or NOTHING).get("file")
        part = part_of(path.text, source, library) if path is not None else None
        if part is not None and part is not source:
            yield part


def part_of(path: str, source: Source, library: Library) -> Source | None:
    """The source at a path that another file names."""
    return library.sources.get(posixpath.normpath(posixpath.join(posixpath.dirname(source.name), path)))


def only_document(source: Source, ledger: Ledger) -> Node | None:
    """The one document of a file; None, and why, for any other file."""
    try:
        roots = documents(source.text, source.name)
    except YamlError as problem:
        ledger.refuse(
            "adopt-source-unreadable", Span(source.name, problem.place, problem.place + 1),
            f"this is not YAML that can be read: {leaks.shown(problem.message)}",
            "repair the file; docker compose config says what is wrong",
        )  # fmt: skip
        return None
    if len(roots) > 1:
        ledger.refuse(
            "adopt-source-unreadable", roots[1].span(source.name),
            "a Compose file is one document, and this has several",
            "remove the lines with ---, or give each document a file of its own",
        )  # fmt: skip
        return None
    return roots[0] if roots else NOTHING


def merged(below: dict[str, Node], above: dict[str, Node], library: Library, ledger: Ledger) -> dict[str, Node]:
    """The fields of a map with those of another laid over them: maps and most lists add up, other values replace."""
    fields = dict(below)
    for key, node in above.items():
        other = fields.get(key)
        if other is None:
            fields[key] = node
        elif node.tag == "" and node.kind == other.kind == "map":
            both = Node("map", node.start, node.end, source=node.source)
            both.merged = merged(other.fields(), node.fields(), library, ledger)
            fields[key] = both
        elif node.tag == "" and node.kind == other.kind == "list" and key not in _REPLACED:
            fields[key] = Node("list", node.start, node.end, items=[*other.items, *node.items], source=node.source)
        else:
            fields[key] = node
            if other is not node and (other.kind != "text" or other.text != node.text):
                ledger.note(other.span(""), key, Fate.REPLACED, library.place(node.span("")))
    return {key: node for key, node in fields.items() if node.tag != "!reset"}
