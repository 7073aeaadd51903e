"""Says which Compose files make one project: those laid over others, and those of which others extend services.

In: Compose files by name. Out: each file with those above it, the services that only run as parts of others, and what
fields a service has with others laid over them.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from fleetc.adopt.found.words import Ledger
from fleetc.adopt.read.library import Library
from fleetc.adopt.read.yaml_nodes import Node, YamlError, documents
from fleetc.places.diagnostic import Span
from fleetc.text import leaks
from fleetc.toml.document import Source

_OVERRIDE = re.compile(r"compose[^/]*\.override\.ya?ml$")
_BASE = re.compile(r"(?:docker-)?compose\.ya?ml")
_ABOVE = re.compile(r"(?:docker-)?compose\.[^/]+\.ya?ml")


def projects(sources: Sequence[Source]) -> list[tuple[Source, list[Source]]]:
    """Compose files, each with those that are laid over it: the override file that Compose reads by itself, and files
    such as compose.gpu.yml that say more about a service of the compose.yml beside them, as with several -f.
    """
    bases = [source for source in sources if _BASE.fullmatch(posixpath.basename(source.name))]
    above: dict[str, list[Source]] = {}
    for source in sources:
        folder = posixpath.dirname(source.name)
        base = next((one for one in bases if posixpath.dirname(one.name) == folder and one is not source), None)
        if base is None or not _ABOVE.fullmatch(posixpath.basename(source.name)):
            continue
        if _OVERRIDE.search(source.name) or services_of(source) & services_of(base):
            above.setdefault(base.name, []).append(source)
    laid = {source.name for found in above.values() for source in found}
    return [(source, above.get(source.name, [])) for source in sources if source.name not in laid]


def services_of(source: Source) -> frozenset[str]:
    """The names of the services of a file; none of one that cannot be read."""
    try:
        roots = documents(source.text)
    except YamlError:
        return frozenset()
    services = roots[0].get("services") if roots else None
    return frozenset(services.fields()) if services is not None else frozenset()


def extended_file(path: str, source: Source, library: Library) -> Source | None:
    """The file that a service of a file extends: at its path, else a source that is called so."""
    exact = library.sources.get(posixpath.normpath(posixpath.join(posixpath.dirname(source.name), path)))
    found = exact or library.find(path, source.name)
    return None if found is source and exact is None else found


def extended(sources: Sequence[Source], library: Library) -> frozenset[tuple[str, str]]:
    """The services that those of other files extend, by source and name: they only run as what extends them."""
    found = set()
    for source in sources:
        try:
            roots = documents(source.text) if "extends" in source.text else []
        except YamlError:
            continue
        services = roots[0].get("services") if roots else None
        for service in services.fields().values() if services is not None else ():
            extends = service.get("extends")
            file, other = (extends.get("file"), extends.get("service")) if extends is not None else (None, None)
            base = extended_file(file.text, source, library) if file is not None else None
            if base is not None and base is not source and other is not None:
                found.add((base.name, other.text))
    return frozenset(found)


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
    return roots[0] if roots else Node("map", 0, 0)


def merged(below: dict[str, Node], above: dict[str, Node]) -> dict[str, Node]:
    """The fields of a service with others laid over them: lists and maps of these keys add up."""
    found = {**below, **above}
    for key in ("environment", "volumes", "ports", "env_file"):
        if key in below and key in above and below[key].kind == above[key].kind:
            both = Node(above[key].kind, above[key].start, above[key].end, source=above[key].source)
            both.items = [*below[key].items, *above[key].items]
            both.pairs = [*below[key].pairs, *above[key].pairs]
            found[key] = both
    return found
