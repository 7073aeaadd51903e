"""Emits `manifest.json`: every file of the tree with mode, origins and digest, and what the tree was made from.

In: the blueprint, the sources and all other artifacts. Out: `manifest.json`. `disk/files.py` reads `files` from it to
tell its own files from others.

Changes of two people merge here wherever they merge in the files: a digest stands on a line of its own between lines
that seldom change, and there is none of what every change of a spec touches.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from fleetc.blueprint.blueprint import Blueprint
from fleetc.emit.artifacts import json_line, json_string, without_hidden
from fleetc.emit.tracing import TracedLine, traced
from fleetc.emit.tree import FLEET_PAGE, MANIFEST, SPEC_FOLDER, Artifact, Tree
from fleetc.places.origin import derived, given
from fleetc.toml.document import Source
from fleetc.upstream import format_release
from fleetc.version import __version__

FORMAT = 2
"""Version of the manifest's own form."""


def emit(
    blueprint: Blueprint,
    sources: Sequence[Source],
    digests: Mapping[str, str],
    artifacts: Iterable[Artifact],
) -> Artifact:
    """The manifest; `digests` are those of the files, by path, that are known already."""
    spec = [{"name": source.name.replace("\\", "/").rsplit("/", 1)[-1]} for source in sources]
    node_releases = {blueprint.release, *(service.release for host in blueprint.hosts for service in host.services)}
    members = {
        "format": FORMAT,
        "tool": {"name": "fleetc", "version": __version__},
        "spec": spec,
        "network": blueprint.network,
        "node_releases": [format_release(release) for release in sorted(node_releases)],
    }
    ordered = sorted(artifacts, key=lambda a: a.path)
    return written(members, (entry(a.path, f"{a.mode:04o}", a.origins, _digest(a, digests)) for a in ordered))


def _digest(artifact: Artifact, known: Mapping[str, str]) -> str:
    return "" if is_shared(artifact.path) else known.get(artifact.path) or artifact.sha256


def written(members: Mapping[str, object], entries: Iterable[str]) -> Artifact:
    """The manifest with some members and the entries of its files, in their order."""
    texts = {
        key: _lines(map(json_line, value)) if isinstance(value, list) else json_line(value)
        for key, value in members.items()
    }
    texts["files"] = _lines(entries)
    text = ",\n".join(f'  "{key}": {value}' for key, value in texts.items())
    return Artifact(MANIFEST, without_hidden(f"{{\n{text}\n}}\n").encode())


def entry(path: str, mode: str, origins: Iterable[str], digest: str) -> str:
    """What a manifest says of one file; an empty digest is left out."""
    # Put together by hand: in a large fleet the general way would take a fifth of all the time.
    tables = ", ".join(map(json_string, origins))
    head = f'{{"path": {json_string(path)}, "mode": "{mode}", "origins": [{tables}]'
    return f'{head},\n     "sha256": "{digest}"}}' if digest else f"{head}}}"


def is_shared(path: str) -> bool:
    """Whether a file says something of the whole fleet, so that any two changes of a spec meet in it."""
    return path == FLEET_PAGE or path.startswith(SPEC_FOLDER)


def _lines(items: Iterable[str]) -> str:
    """A JSON array with one member on each line."""
    text = ",\n    ".join(items)
    return f"[\n    {text}\n  ]" if text else "[]"


def trace(tree: Tree) -> list[TracedLine]:
    """The lines of the manifest: digests stem from the tables behind a file, the rest from the fleet and fleetc."""
    by_path = tree.as_mapping()
    of_keys = {
        "spec": derived("the names of the sources", ("spec",)),
        "network": given("fleet", "network"),
        "node_releases": derived("the releases of the fleet and its nodes", ("fleet", "node_release")),
    }
    key, path = "", ""
    lines = []
    for line in by_path[MANIFEST].content.decode().splitlines():
        if line.startswith('  "'):
            key = line.split('"')[1]
        origin = of_keys.get(key, derived("the form of the manifest and the version of fleetc", ("spec",)))
        if key == "files" and line.startswith("    {"):
            path = json.loads(line.rstrip(",}") + "}")["path"]
        if key == "files" and line.startswith("    ") and path:
            tables = [tuple(table.split(".", 1)) for table in by_path[path].origins]
            origin = derived(f"the file {path} and its digest; ask why of its lines", *tables)
        lines.append(traced(line, [origin]))
    return lines
