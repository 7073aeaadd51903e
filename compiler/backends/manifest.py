"""Emits `manifest.json`: every file of the tree with mode, digest and origins, and what the tree was made from.

In: the plan, the sources, the releases and all other artifacts. Out: `manifest.json`. `files.py` reads `files` from it
to tell its own files from others.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence

from compiler.artifacts import json_line, json_string, without_hidden
from compiler.origin import derived, given
from compiler.plan import Plan
from compiler.source import Source
from compiler.tracing import TracedLine, traced
from compiler.tree import MANIFEST, Artifact, Tree
from compiler.upstream import format_release
from compiler.version import __version__

FORMAT = 1
"""Version of the manifest's own form."""


def emit(
    plan: Plan,
    sources: Sequence[Source],
    releases: Mapping[str, str],
    digests: Mapping[str, str],
    artifacts: Iterable[Artifact],
) -> Artifact:
    """The manifest. Each file stands on a line of its own, for readable diffs.

    `releases` are the hosts' digests, `digests` those of the files, by path, that are known already.
    """
    spec = [
        {
            "name": source.name.replace("\\", "/").rsplit("/", 1)[-1],
            "sha256": hashlib.sha256(source.text.encode()).hexdigest(),
        }
        for source in sources
    ]
    node_releases = {plan.release, *(service.release for host in plan.hosts for service in host.services)}
    members = {
        "format": json_line(FORMAT),
        "tool": json_line({"name": "fleetc", "version": __version__}),
        "spec": _lines(map(json_line, spec), "[]"),
        "network": json_line(plan.network),
        "node_releases": json_line([format_release(release) for release in sorted(node_releases)]),
        "releases": _lines((f"{json_line(host)}: {json_line(releases[host])}" for host in sorted(releases)), "{}"),
        "files": _lines(
            (_file(a, digests.get(a.path) or a.sha256) for a in sorted(artifacts, key=lambda a: a.path)), "[]"
        ),
    }
    text = ",\n".join(f'  "{key}": {value}' for key, value in members.items())
    return Artifact(MANIFEST, without_hidden(f"{{\n{text}\n}}\n").encode())


def _file(artifact: Artifact, digest: str) -> str:
    # Put together by hand: in a large fleet the general way would take a fifth of all the time.
    origins = ", ".join(map(json_string, artifact.origins))
    head = f'"path": {json_string(artifact.path)}, "mode": "{artifact.mode:04o}", "sha256": "{digest}"'
    return f'{{{head}, "origins": [{origins}]}}'


def _lines(items: Iterable[str], brackets: str) -> str:
    """A JSON array or object with one member on each line."""
    text = ",\n    ".join(items)
    return f"{brackets[0]}\n    {text}\n  {brackets[1]}" if text else brackets


def trace(tree: Tree) -> list[TracedLine]:
    """The lines of the manifest: digests stem from the tables behind a file, the rest from the fleet and fleetc."""
    by_path = tree.as_mapping()
    of_keys = {
        "spec": derived("the digest of a source", ("spec",)),
        "network": given("fleet", "network"),
        "node_releases": derived("the releases of the fleet and its nodes", ("fleet", "node_release")),
        "releases": derived("the digest of all files of a host", ("hosts",)),
    }
    key = ""
    lines = []
    for line in by_path[MANIFEST].content.decode().splitlines():
        if line.startswith('  "'):
            key = line.split('"')[1]
        origin = of_keys.get(key, derived("the form of the manifest and the version of fleetc", ("spec",)))
        if key == "files" and line.startswith("    {"):
            artifact = by_path[json.loads(line.rstrip(","))["path"]]
            tables = [tuple(table.split(".", 1)) for table in artifact.origins]
            origin = derived(f"the digest of {artifact.path}; ask why of its lines", *tables)
        elif key == "releases" and line.startswith("    "):
            origin = derived("the digest of all files of this host", ("hosts", line.split('"')[1]))
        lines.append(traced(line, [origin]))
    return lines
