"""One side of a comparison: a compiled or recorded tree, and its spec if known.

In: a `Compiled`, or the files of a directory with its manifest. Out: `Side`. Made here and by
`cli/shared/baseline.py`, and compared by `compare.py`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fleetc import lower
from fleetc.blueprint.blueprint import Blueprint
from fleetc.emit.source_copy import copies, originals, part_of
from fleetc.emit.tree import FILE_MODE, MANIFEST, Artifact, Tree, tree_of
from fleetc.language.fleet import Fleet
from fleetc.language.spec import read_fleet, read_spec
from fleetc.pipeline import Compiled
from fleetc.places.diagnostic import has_errors
from fleetc.policy.judging import Policies
from fleetc.toml.document import Document, Source
from fleetc.version import __version__


@dataclass(frozen=True, slots=True)
class Side:
    """`files` come from a directory or the compiler, with their `modes`; `digests` from a manifest, as far as it goes.

    A file whose digest is another was edited. `document` and `fleet` are None if the spec is not known; `whole` is the
    blueprint if it already exists. `policies` are the rules beside the spec, None if unknown.
    """

    name: str
    files: Mapping[str, bytes]
    digests: Mapping[str, str]
    document: Document | None
    fleet: Fleet | None
    tool: str = __version__
    notes: tuple[str, ...] = ()
    whole: Blueprint | None = None
    policies: Policies | None = None
    modes: Mapping[str, int] = field(default_factory=dict)

    def blueprint(self, hosts: Collection[str]) -> Blueprint | None:
        """The blueprint with only some of its hosts; unknown host names are ignored."""
        if self.whole is not None:
            return replace(self.whole, hosts=tuple(host for host in self.whole.hosts if host.name in hosts))
        if self.fleet is None:
            return None
        return lower.lower(self.fleet, [name for name in hosts if name in self.fleet.hosts])

    def tree(self) -> Tree:
        """The files as a tree, with their modes."""
        return tree_of(Artifact(path, content, self.modes.get(path, FILE_MODE)) for path, content in self.files.items())

    def edited(self, path: str) -> bool:
        """Whether a file differs from the manifest, which does not cover all files."""
        digest = self.digests.get(path)
        return bool(digest) and digest != hashlib.sha256(self.files[path]).hexdigest()


def of_compiled(name: str, compiled: Compiled) -> Side:
    """The side of a successful compile."""
    assert compiled.tree is not None  # noqa: S101  # the precondition
    return Side(
        name,
        {artifact.path: artifact.content for artifact in compiled.tree.artifacts},
        {},
        compiled.checked.document,
        compiled.checked.fleet,
        whole=compiled.blueprint,
        policies=compiled.checked.policies,
        modes={artifact.path: artifact.mode for artifact in compiled.tree.artifacts},
    )


def of_recorded(name: str, tree: Tree) -> Side:
    """The side of a directory that fleetc wrote. What its own spec lacks stays unknown, with a note."""
    files = {artifact.path: artifact.content for artifact in tree.artifacts}
    manifest = json.loads(files[MANIFEST])  # the reader of the tree has checked that it is one
    digests = {str(entry["path"]): str(entry.get("sha256", "")) for entry in manifest["files"]}
    modes = {str(entry["path"]): int(entry["mode"], 8) for entry in manifest["files"]}
    made_by = manifest.get("tool", {})
    tool = str(made_by.get("version", "")) if isinstance(made_by, dict) else ""
    notes = []
    if tool != __version__:
        notes.append(f"{name} was written by fleetc {tool or 'of an unknown version'}, but this is {__version__}")
    document, fleet = None, None
    sources = sources_in(name, files)
    if sources:
        document, fleet = _read(sources)
    if not sources:
        notes.append(f"{name} has no copy of the spec it was compiled from, so only files are compared")
    elif fleet is None:
        notes.append(f"this version of fleetc cannot read the spec in {name}, so only files are compared")
    return Side(name, files, digests, document, fleet, tool, tuple(notes), modes=modes)


def sources_in(name: str, files: Mapping[str, bytes]) -> list[Source]:
    """The texts that a tree was compiled from, the base first."""
    try:
        sources = [Source(f"{name}/{path}", files[path].decode("utf-8"), part_of(path)) for path in originals(files)]
    except UnicodeDecodeError:
        return []
    return sources if sources and not sources[0].part and copies(sources) == originals(files) else []


def _read(sources: Sequence[Source]) -> tuple[Document | None, Fleet | None]:
    """What the stages before the rules make of a spec: the fleetc that wrote the tree has already checked it."""
    document, diagnostics = read_spec(sources)
    if document is None or has_errors(diagnostics):
        return None, None
    fleet, diagnostics = read_fleet(document)
    if fleet is None or has_errors(diagnostics):
        return None, None
    return document, fleet
