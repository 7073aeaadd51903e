"""Emits `manifest.json`: every file of the tree with mode, origins and digest, and what the tree was compiled from.

In: the blueprint, the sources and all other artifacts. Out: `manifest.json`. `disk/files.py` reads `files` from it to
recognise files of fleetc.

Changes that merge in the files also merge here. Each digest has its own line between stable lines; files about
several nodes have none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from fleetc.blueprint.blueprint import Blueprint
from fleetc.emit.artifacts import Member, json_line, json_members, json_string, without_hidden
from fleetc.emit.draft import Draft, Lines
from fleetc.emit.traced import Line, Origins
from fleetc.emit.tree import HOST_VARIABLES, MANIFEST, is_shared
from fleetc.places.origin import derived, given
from fleetc.toml.document import Source
from fleetc.upstream import format_release
from fleetc.version import __version__

FORMAT = 2
"""Version of the manifest format."""

_HOST_AND_NODE = 2
"""The tables behind the variables of a host with one node."""
_FORM = derived("the form of the manifest and the version of fleetc", ("spec",))
_ORIGINS = {
    "spec": derived("the names of the sources", ("spec",)),
    "network": given("fleet", "network"),
    "node_releases": derived("the releases of the fleet and its nodes", ("fleet", "node_release")),
}


def emit(blueprint: Blueprint, sources: Sequence[Source], drafts: Callable[[], Iterable[Draft]]) -> Draft:
    """The manifest of a tree with these other files."""
    make = partial(_lines, blueprint, sources, drafts)
    return Draft(MANIFEST, Lines(partial(make, _text), explain=partial(make, _entry)))


def _lines(
    blueprint: Blueprint,
    sources: Sequence[Source],
    drafts: Callable[[], Iterable[Draft]],
    entry_of: Callable[[Draft], Line],
) -> Iterable[Line]:
    node_releases = {blueprint.release, *(service.release for host in blueprint.hosts for service in host.services)}
    members = {
        "format": FORMAT,
        "tool": {"name": "fleetc", "version": __version__},
        "spec": [{"name": source.recorded_name} for source in sources],
        "network": blueprint.network,
        "node_releases": [format_release(release) for release in sorted(node_releases)],
    }
    return written(members, [entry_of(draft) for draft in sorted(drafts(), key=lambda draft: draft.path)])


def _text(draft: Draft) -> Line:
    """The entry of a file for a compile, which needs no origins."""
    _, _, mode, tables = draft.artifact()
    of_one = draft.path.startswith(HOST_VARIABLES) and len(tables) <= _HOST_AND_NODE
    return entry(draft.path, f"{mode:04o}", tables, draft.digest() if of_one or not is_shared(draft.path) else ""), ()


def _entry(draft: Draft) -> Line:
    """The same entry with its origin."""
    tables = [tuple(table.split(".", 1)) for table in draft.artifact().origins]
    origin = derived(f"the file {draft.path} and its digest; ask why of its lines", *tables)
    return _text(draft)[0], (origin,)


def written(members: Mapping[str, object], entries: list[Line]) -> Iterable[Line]:
    """The lines of a manifest with some members, and the entries of its files in their order."""
    written: list[Member] = []
    for key, value in members.items():
        origins: Origins = (_ORIGINS.get(key, _FORM),)
        text: str | list[Line] = (
            [(json_line(item), origins) for item in value] if isinstance(value, list) else json_line(value)
        )
        written.append((key, text, origins))
    return json_members([*written, ("files", entries, (_FORM,))], (_FORM,))


def entry(path: str, mode: str, origins: Iterable[str], digest: str) -> str:
    """The entry of one file; an empty digest is left out."""
    # Formatted by hand: in a large fleet the general function would take a fifth of the total time.
    tables = ", ".join(map(json_string, origins))
    head = f'{{"path": {json_string(path)}, "mode": "{mode}", "origins": [{tables}]'
    text = f'{head},\n     "sha256": "{digest}"}}' if digest else f"{head}}}"
    return without_hidden(text)
