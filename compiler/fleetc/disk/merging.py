"""Resolves files of two trees in a git merge: the merge finishes, and a compile then makes the tree right.

In: a file as it was, as one side has it and as the other has it. Out: its bytes. Pure; `cli/merge_file.py` is the
driver that git starts. It cannot compile: git merges file by file, and the spec may come last. So text merges as text
and the manifest by entries; one line replaces a conflict, and Ansible stops at it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from fleetc.emit import manifest
from fleetc.emit.draft import text_of
from fleetc.emit.traced import Line

PLACEHOLDER = b"@ two changes met in this file in a merge; run fleetc compile\n"
"""The content of a file with conflicting lines. It is not JSON or YAML, so Ansible stops at it."""

_Entry = Mapping[str, Any]


class Settled(NamedTuple):
    """A file after a merge; `open`: only a compile can resolve it."""

    content: bytes
    open: bool


def settle_manifest(base: bytes, ours: bytes, theirs: bytes) -> Settled:
    """The manifest of both changes.

    A file that both changed has no digest, so that a compile may replace or remove it.
    """
    try:
        before, mine, yours = (json.loads(text) if text else {"files": []} for text in (base, ours, theirs))
        old, own, other = (_by_path(document) for document in (before, mine, yours))
        entries, is_open = [], False
        for path in sorted({*own, *other}):
            entry = _chosen(old.get(path), own.get(path), other.get(path))
            is_open |= entry is None
            entry = entry if entry is not None else {**(own.get(path) or other[path]), "sha256": ""}
            if entry:
                entries.append(_written(entry))
        keys = [key for key in mine if key != "files"]
        members = {key: _chosen(before.get(key), mine.get(key), yours.get(key)) or mine[key] for key in keys}
        return Settled(text_of(manifest.written(members, entries)).encode(), is_open)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Settled(PLACEHOLDER, True)


def _by_path(document: Any) -> dict[str, _Entry]:
    return {str(entry["path"]): entry for entry in document["files"]}


def _chosen(base: Any, ours: Any, theirs: Any) -> Any:
    """What one side made of a value while the other left it, an empty value where it is gone; None where both did."""
    if ours == theirs or theirs == base:
        return ours if ours is not None else {}
    if ours == base:
        return theirs if theirs is not None else {}
    return None


def _written(entry: _Entry) -> Line:
    origins = [str(origin) for origin in entry.get("origins", [])]
    return manifest.entry(str(entry["path"]), str(entry["mode"]), origins, str(entry.get("sha256", ""))), ()
