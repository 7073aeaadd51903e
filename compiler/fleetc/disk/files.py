"""The disk door: reads specs and what fleetc ships, reads and writes trees.

In: paths. Out: a `Source`, template texts, trees, a `WriteReport`. Called by `cli/` and `rollout/hosts/`. Every problem
is a `FilesError`; no bare OSError leaves. Behind it: `reading.py` reads specs and shipped files, `spec_writer.py`
writes repaired specs, `new_files.py` first ones. `manifest.py` compares a directory with a tree, `staging.py` makes a
new one beside it, `swapping.py` swaps them. No other module of the core touches the disk.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from fleetc.disk import swapping
from fleetc.disk.included import included_by, parts_then, read_parts
from fleetc.disk.manifest import (
    FilesError,
    ManifestEntry,
    TreeComparison,
    check_relative,
    compare,
    failure,
    listed_entries,
    manifest_artifact,
    open_directory,
    read_manifest,
    read_regular,
    shown,
)
from fleetc.disk.new_files import repository_top, write_new
from fleetc.disk.reading import (
    SPEC_NAME,
    answer_name,
    find_spec,
    has_line,
    read_answer,
    read_examples,
    read_playbooks,
    read_policies,
    read_policy_examples,
    read_shipped,
    read_source,
    read_starter,
    read_stream,
    read_templates,
    read_text,
    recorded_sources,
    spec_above,
    tree_around,
)
from fleetc.disk.spec_writer import write_sources
from fleetc.disk.staging import locked
from fleetc.disk.stat_index import Note, remember
from fleetc.emit.tree import MANIFEST, Artifact, Tree, tree_of
from fleetc.text.counting import first_of

__all__ = [
    "SPEC_NAME",
    "FilesError",
    "Strangers",
    "WriteReport",
    "answer_name",
    "check_relative",
    "find_spec",
    "has_line",
    "included_by",
    "need_tree",
    "parts_then",
    "read_answer",
    "read_examples",
    "read_parts",
    "read_playbooks",
    "read_policies",
    "read_policy_examples",
    "read_shipped",
    "read_source",
    "read_starter",
    "read_stream",
    "read_templates",
    "read_text",
    "read_tree",
    "recorded_sources",
    "repository_top",
    "spec_above",
    "stale",
    "strangers",
    "tree_around",
    "write_new",
    "write_sources",
    "write_tree",
]

_WAIT_SECONDS = 10.0
_NAMED = 10  # files named in one message


@dataclass(frozen=True, slots=True)
class WriteReport:
    """What `write_tree` did, by relative path, each sorted.

    `foreign` are kept entries of others; a directory ends in a slash and includes all below.
    """

    written: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: int
    foreign: tuple[str, ...]


def write_tree(
    tree: Tree,
    target: Path,
    *,
    overwrite_edited: bool = False,
    wait_seconds: float = _WAIT_SECONDS,
    note: Note | None = None,
) -> WriteReport:
    """Make the directory `target` hold exactly this tree, and everything in it that is not ours.

    Readers see the old tree or the new one; when anything fails, the old one stays. Without a change nothing
    is written, and unchanged files keep inode and times. With a `note`, the stat index has the tree
    afterwards. Raises `FilesError`: output-locked, target-refused,
    target-not-directory, target-is-mount, foreign-directory, manifest-unreadable, path-occupied,
    path-refused, artifact-edited (unless `overwrite_edited`), leftover-not-ours, no-such-directory, and what
    the system refuses. Raises ValueError for a tree without manifest, or with a file where another one needs
    a directory.
    """
    wanted = _checked(tree)
    with locked(target, shared=False, wait_seconds=wait_seconds) as place:
        swapping.recover(place)
        root = place.open()
        try:
            recorded = None
            comparison = TreeComparison(missing=list(wanted))
            if root is not None:
                _refuse_precious(root, place.shown)
                recorded = _recorded_entries(root, place.shown)
            if root is not None and recorded is not None:
                comparison = compare(root, place.shown, wanted, recorded)
                _refuse_loss(comparison, place.shown, overwrite_edited)
            if comparison.changed or comparison.missing or comparison.superfluous:
                swapping.replace(place, root, tree, comparison, recorded)
        finally:
            if root is not None:
                os.close(root)
        if note is not None:
            remember(place, note, comparison.verified)
    return WriteReport(
        written=tuple(sorted(comparison.changed + comparison.missing)),
        removed=tuple(sorted(comparison.superfluous)),
        unchanged=len(comparison.same),
        foreign=tuple(sorted(map(shown, comparison.foreign))),
    )


def _checked(tree: Tree) -> dict[str, Artifact]:
    """The tree by path; refuses an unwritable one."""
    wanted = dict(tree.as_mapping())
    if MANIFEST not in wanted:
        raise ValueError("the tree has no manifest")
    for path in wanted:
        check_relative(path)
        end = path.rfind("/")
        while end > 0:
            if path[:end] in wanted:
                raise ValueError(f"{path[:end]} is a file and a directory")
            end = path.rfind("/", 0, end)
    return wanted


def _refuse_precious(root: int, where: str) -> None:
    """Refuse precious directories: the root, the home directory, a repository."""
    precious = {"/": "the root of the file system"}
    with suppress(RuntimeError):
        precious[str(Path.home())] = "your home directory"
    what = ""
    mine = os.fstat(root)
    for path, name in precious.items():
        with suppress(OSError):
            if os.path.samestat(mine, Path(path).stat()):
                what = name
    with suppress(FileNotFoundError):
        os.stat(".git", dir_fd=root, follow_symlinks=False)
        what = what or "the top of a git repository"
    if what:
        message = f"{shown(where)} is {what}, which is not a place for generated files"
        raise FilesError("target-refused", message, path=where, advice="use a separate directory, such as rendered")


def _recorded_entries(root: int, where: str) -> dict[str, ManifestEntry] | None:
    """What the directory's manifest lists, None when it is empty. Refuses a directory that fleetc did not write."""
    recorded = listed_entries(root, where)
    if recorded is not None:
        return recorded
    with os.scandir(root) as entries:
        first = next(entries, None)
    if first is None:
        return None
    message = f"{shown(where)} has files (such as {shown(first.name)}) but no {MANIFEST}, so fleetc did not write it"
    advice = "use a new or empty directory, or one that fleetc wrote"
    raise FilesError("foreign-directory", message, path=where, advice=advice)


def _refuse_loss(comparison: TreeComparison, where: str, overwrite_edited: bool) -> None:
    """Refuse to overwrite files that others made or changed."""
    if comparison.occupied:
        message = f"{_named(comparison.occupied, where)} must be written, but a foreign entry is there"
        advice = "move it away, or use another output directory"
        raise FilesError("path-occupied", message, path=f"{where}/{comparison.occupied[0]}", advice=advice)
    if comparison.edited and not overwrite_edited:
        message = f"{_named(comparison.edited, where)} was edited by hand after fleetc wrote it"
        advice = "make the change in the spec, then replace the file: fleetc compile --overwrite-edited"
        raise FilesError("artifact-edited", message, path=f"{where}/{comparison.edited[0]}", advice=advice)


def _named(paths: list[str], where: str) -> str:
    """Some files, by name, up to a number."""
    return first_of([shown(f"{where}/{path}") for path in sorted(paths)], _NAMED)


def stale(tree: Tree, target: Path, *, wait_seconds: float = _WAIT_SECONDS) -> tuple[str, ...]:
    """How a directory differs from the tree, each as "changed PATH", "missing PATH" or "superfluous PATH";
    writes nothing.

    Only the owner's right to execute counts: version control keeps no more, and the umask sets the rest.
    """
    wanted = _checked(tree)
    if not target.parent.is_dir():
        return tuple(f"missing {path}" for path in sorted(wanted))
    with locked(target, shared=True, wait_seconds=wait_seconds) as place:
        root = place.open()
        if root is None:
            comparison = TreeComparison(missing=list(wanted))
        else:
            try:
                recorded = listed_entries(root, place.shown) or {}
                comparison = compare(root, place.shown, wanted, recorded, mode_mask=0o100)
            finally:
                os.close(root)
    kinds = (("changed", comparison.changed + comparison.occupied), ("missing", comparison.missing))
    lines = [
        f"{word} {path}" for word, paths in (*kinds, ("superfluous", comparison.superfluous)) for path in set(paths)
    ]
    return tuple(sorted(lines, key=lambda line: (line.partition(" ")[2], line)))


class Strangers(NamedTuple):
    """What a directory holds that a tree does not, by relative path, each sorted.

    `foreign` are entries at other paths than the tree's, or of another kind; a directory ends in a slash and includes
    all below. `changed` are files of the tree with other content, as far as they were read. Paths are as the system has
    them, not yet safe to print.
    """

    foreign: tuple[str, ...]
    changed: tuple[str, ...]


def strangers(
    tree: Tree,
    target: Path,
    *,
    besides: Collection[str] = (),
    reads: Callable[[str], bool] = lambda _: False,
    wait_seconds: float = _WAIT_SECONDS,
) -> Strangers:
    """What a directory holds that the tree, and the paths `besides`, do not have. Only files that `reads` are opened.

    It ignores the manifest on disk: an attacker could have listed a file there. Raises `FilesError` output-locked,
    target-not-directory, and what the system refuses; a directory that is not there holds nothing.
    """
    wanted = {**{path: Artifact(path, b"") for path in besides}, **tree.as_mapping()}
    read = {path: ManifestEntry("", artifact.mode, ()) for path, artifact in wanted.items() if reads(path)}
    try:
        with locked(target, shared=True, wait_seconds=wait_seconds) as place:
            root = place.open()
            if root is None:
                return Strangers((), ())
            try:
                comparison = compare(root, place.shown, wanted, read, mode_mask=0o100, reads=read.__contains__)
            finally:
                os.close(root)
    except FilesError as problem:
        if problem.code != "no-such-directory":
            raise
        return Strangers((), ())
    return Strangers(tuple(sorted({*comparison.foreign, *comparison.occupied})), tuple(sorted(comparison.changed)))


def need_tree(target: Path) -> None:
    """Raise `FilesError` tree-missing where a directory holds no compiled tree at all."""
    if not os.path.lexists(target / MANIFEST):
        message = f"there is no compiled tree in {shown(str(target))} yet"
        advice = "run fleetc compile first, and review what it writes"
        raise FilesError("tree-missing", message, path=str(target), advice=advice)


def read_tree(target: Path, *, wait_seconds: float = _WAIT_SECONDS) -> Tree:
    """The recorded tree: the files that the directory's manifest lists, and the manifest, with the recorded
    modes.

    Files that are gone are left out; content is not checked against its digest. Raises `FilesError`
    tree-missing, tree-interrupted, manifest-unreadable, artifact-not-a-file.
    """
    with locked(target, shared=True, wait_seconds=wait_seconds) as place:
        if swapping.is_half_applied(place):
            message = f"{shown(place.shown)} is between two trees, because a run that wrote it was killed"
            raise FilesError("tree-interrupted", message, path=place.shown, advice="compile again, which fixes it")
        root = place.open()
        try:
            manifest = None if root is None else read_manifest(root, place.shown)
            if root is None or manifest is None:
                message = f"{shown(place.shown)} has no tree that fleetc wrote"
                raise FilesError("tree-missing", message, path=place.shown, advice="compile first")
            content, entries = manifest
            return tree_of([manifest_artifact(content), *_artifacts(root, place.shown, entries)])
        finally:
            if root is not None:
                os.close(root)


def _artifacts(root: int, where: str, entries: dict[str, ManifestEntry]) -> Iterator[Artifact]:
    """Read the listed files that are there, opening each directory once."""
    directory, inside = "", os.dup(root)
    try:
        for path in sorted(entries):
            parent, _, name = path.rpartition("/")
            try:
                if parent != directory:
                    opened = open_directory(root, parent)
                    os.close(inside)
                    directory, inside = parent, opened
                content = read_regular(inside, name)
            except FileNotFoundError:
                continue
            except OSError as error:
                if error.errno not in (errno.ELOOP, errno.EINVAL, errno.ENOTDIR, errno.ENXIO):
                    raise failure(error, f"{where}/{path}", "read") from error
                message = f"{shown(f'{where}/{path}')} is no longer a regular file"
                advice = "move it away and compile again"
                raise FilesError("artifact-not-a-file", message, path=f"{where}/{path}", advice=advice) from error
            yield Artifact(path, content, entries[path].mode, entries[path].origins)
    finally:
        os.close(inside)
