"""Lets a new tree take the place of an old one, all at once, and fixes what a killed run left.

In: a target directory, locked as a `TreePlace`; a tree and its comparison with what is there. Out: the changed
directory. Called by `files.py`; `staging.py` makes the new tree.

Two siblings of the target, named for it, exist only while a write is under way, or after one was killed:
- `.fleetc-NAME.stage`: first the new tree in the making (its manifest is written last), then, once the two
  have changed places, the old tree until it is cleared. Either way the target is whole and this can go.
- `.fleetc-NAME.apply`: used only where directories cannot change places (a lower layer of overlayfs, some
  network file systems) or hold something that cannot be linked. It is a complete new tree; its files move into the
  target one by one, the manifest last. Readers refuse while it exists; the next write finishes it first.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
from collections.abc import Callable, Container, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from fleetc.disk.manifest import (
    DIRECTORY,
    FilesError,
    ManifestEntry,
    TreeComparison,
    directories_of,
    failure,
    listed_entries,
    open_directory,
    shown,
)
from fleetc.disk.staging import TreePlace, stage, sync
from fleetc.emit.tree import MANIFEST, Tree

_NOREPLACE, _EXCHANGE = 1, 2  # flags of renameat2, from linux/fs.h
_NO_EXCHANGE = {errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP}


def is_half_applied(place: TreePlace) -> bool:
    """True when a killed write left the target between two trees; the next write fixes it."""
    return _is_leftover(place, place.applying)


def _is_leftover(place: TreePlace, name: str) -> bool:
    """Whether a sibling of this name is there. A stranger's is refused: its content would be used."""
    try:
        status = os.stat(name, dir_fd=place.parent, follow_symlinks=False)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise failure(error, place.beside(name), "read") from error
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise _not_ours(place, name)
    return True


def _not_ours(place: TreePlace, name: str) -> FilesError:
    """A sibling is in the way that must not be removed."""
    path = place.beside(name)
    message = f"{shown(path)} is in the way and contains entries that fleetc did not make"
    return FilesError("leftover-not-ours", message, path=path, advice="look at it, then move or remove it")


def recover(place: TreePlace) -> None:
    """Finish or clear what a killed write left beside the target. Call under the writer's lock."""
    half_applied = is_half_applied(place)
    if not half_applied and not _is_leftover(place, place.staged):
        return
    root = place.open()
    try:
        if half_applied:
            if root is not None:
                _apply(place, root)
            _clear_whole(place, place.applying, None, None)
        if _is_leftover(place, place.staged):
            _clear_whole(place, place.staged, _listed_in(place, place.staged), root)
    except OSError as error:
        raise failure(error, place.shown, "remove what an interrupted run left beside") from error
    finally:
        if root is not None:
            os.close(root)


def _listed_in(place: TreePlace, name: str) -> set[str] | None:
    """Paths that a leftover's manifest lists; None for an unfinished new tree: all of it is ours."""
    leftover = os.open(name, DIRECTORY, dir_fd=place.parent)
    try:
        listed = listed_entries(leftover, place.beside(name))
    except FilesError as error:
        if error.code != "manifest-unreadable":
            raise
        return None  # killed while writing it; an old tree's was readable, or it would not have been replaced
    finally:
        os.close(leftover)
    return None if listed is None else {MANIFEST, *listed}


def replace(
    place: TreePlace,
    root: int | None,
    tree: Tree,
    comparison: TreeComparison,
    managed: Mapping[str, ManifestEntry] | None,
) -> None:
    """Make the target hold the tree and everything in `found.foreign`.

    `root` is the target's descriptor, None when it is missing; `managed` are its manifest's entries, None
    when it is missing or empty. On an error before the two change places the target is untouched and the
    staging directory gone.
    """
    if root is not None:
        _refuse_mount(place, root)
    old = None if managed is None else root
    parent = place.parent
    try:
        os.mkdir(place.staged, 0o700, dir_fd=parent)
    except OSError as error:
        raise failure(error, place.shown, "write") from error
    try:
        os.chmod(place.staged, 0o700, dir_fd=parent)
        staged = os.open(place.staged, DIRECTORY, dir_fd=parent)
        try:
            can_exchange = stage(place.shown, staged, old, tree, comparison)
        finally:
            os.close(staged)
        if old is None:
            _put(place)
        elif not can_exchange or not _exchange(place):
            os.rename(place.staged, place.applying, src_dir_fd=parent, dst_dir_fd=parent)
    except BaseException as error:
        with suppress(OSError, FilesError):
            recover(place)
        if not isinstance(error, OSError):
            raise
        raise failure(error, place.shown, "replace") from error
    if old is not None:
        _finish(place, old, {MANIFEST, *(managed or ())})


def _refuse_mount(place: TreePlace, root: int) -> None:
    """A mount point cannot be renamed, and nothing can be renamed or linked into it (a bind mount
    included)."""
    mounts: set[str] = set()
    for descriptor in (place.parent, root):
        with suppress(OSError):
            lines = Path(f"/proc/self/fdinfo/{descriptor}").read_text("ascii").splitlines()
            mounts.update(line for line in lines if line.startswith("mnt_id:"))
    if len(mounts) > 1 or os.fstat(root).st_dev != os.fstat(place.parent).st_dev:
        message = f"{shown(place.shown)} is a mount point, so it cannot be replaced as a whole"
        raise FilesError("target-is-mount", message, path=place.shown, advice="name a directory below it")


def _finish(place: TreePlace, old: int, managed: Container[str]) -> None:
    """Clear the old tree, or move the new one in file by file; a kill in here is fixed by `recover`."""
    try:
        if is_half_applied(place):
            os.fsync(place.parent)
            _apply(place, old)
            _clear_whole(place, place.applying, None, None)
            return
        new = os.open(place.name, DIRECTORY, dir_fd=place.parent)
        try:
            _clear_whole(place, place.staged, managed, new)
        finally:
            os.close(new)
    except OSError as error:
        raise failure(error, place.shown, "finish writing") from error


def _put(place: TreePlace) -> None:
    """Rename the new tree to a name that is free or an empty directory."""
    parent = place.parent
    os.rename(place.staged, place.name, src_dir_fd=parent, dst_dir_fd=parent)
    try:
        os.fsync(parent)
    except OSError:
        os.rename(place.name, place.staged, src_dir_fd=parent, dst_dir_fd=parent)
        raise


def _exchange(place: TreePlace) -> bool:
    """Let the new and the old tree change places; False where the file system cannot."""
    try:
        _rename(place.parent, place.staged, place.parent, place.name, _EXCHANGE)
    except OSError as error:
        if error.errno in _NO_EXCHANGE:
            return False
        raise
    try:
        os.fsync(place.parent)
    except OSError:
        _rename(place.parent, place.staged, place.parent, place.name, _EXCHANGE)
        raise
    return True


def _rename(source: int, old_name: str, target: int, new_name: str, flags: int) -> None:
    """renameat2, which the standard library lacks; ENOSYS where the C library lacks it too."""
    library = ctypes.CDLL(None, use_errno=True)
    number = errno.ENOSYS
    if hasattr(library, "renameat2"):
        if library.renameat2(source, os.fsencode(old_name), target, os.fsencode(new_name), flags) == 0:
            return
        number = ctypes.get_errno()
    raise OSError(number, os.strerror(number))


def _apply(place: TreePlace, root: int) -> None:
    """Move the files of a complete tree into the target, the manifest last. May be repeated after a kill."""
    staged = os.open(place.applying, DIRECTORY, dir_fd=place.parent)
    try:
        listed = listed_entries(staged, place.beside(place.applying))
        if listed is None:  # it was moved already: only clearing is left
            return
        gone = set(listed_entries(root, place.shown) or ()) - set(listed)
        for path in sorted(gone):
            _remove(root, path, os.unlink)
        for path in sorted(directories_of(gone), reverse=True):
            _remove(root, path, os.rmdir)
        _move_all(staged, root, listed)
        sync(root)
        os.rename(MANIFEST, MANIFEST, src_dir_fd=staged, dst_dir_fd=root)
        os.fsync(root)
    finally:
        os.close(staged)


def _remove(root: int, path: str, how: Callable[..., None]) -> None:
    """Remove a file or an empty directory, unless it is gone, in use or changed."""
    directory, _, name = path.rpartition("/")
    try:
        inside = open_directory(root, directory)
        try:
            how(name, dir_fd=inside)
        finally:
            os.close(inside)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EISDIR, errno.ENOTEMPTY):
            raise


def _move_all(staged: int, root: int, paths: Iterable[str]) -> None:
    """Move the remaining files, and make their directories."""
    groups: dict[str, list[str]] = {}
    for path in sorted(paths):
        directory, _, name = path.rpartition("/")
        groups.setdefault(directory, []).append(name)
    for path in sorted(directories_of(f"{directory}/x" for directory in groups if directory)):
        directory, _, name = path.rpartition("/")
        inside = open_directory(root, directory)
        try:
            with suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=inside)
                os.chmod(name, stat.S_IMODE(os.stat(path, dir_fd=staged).st_mode), dir_fd=inside)
        finally:
            os.close(inside)
    for directory, names in groups.items():
        source, target = open_directory(staged, directory), open_directory(root, directory)
        try:
            for name in names:
                with suppress(FileNotFoundError):
                    os.rename(name, name, src_dir_fd=source, dst_dir_fd=target)
        finally:
            os.close(source)
            os.close(target)


def _clear_whole(place: TreePlace, name: str, managed: Container[str] | None, other: int | None) -> None:
    """Remove a sibling of the target. Entries that are not managed and not in `other` move there, or stay and are
    reported."""
    if not _clear(place.parent, name, managed, other, ""):
        raise _not_ours(place, name)


def _clear(parent: int, name: str, managed: Container[str] | None, other: int | None, prefix: str) -> bool:
    """Clear one directory, its manifest last; `managed` None means all of it. False if an entry had to stay."""
    directory = os.open(name, DIRECTORY, dir_fd=parent)
    try:
        os.fchmod(directory, 0o700)  # it may be a foreign read-only directory, carried over
        with os.scandir(directory) as listing:
            entries = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in listing]
        empty = True
        has_manifest = not prefix and (MANIFEST, False) in entries
        for entry, is_directory in entries:
            path = prefix + entry
            if is_directory:
                inner = _open_if_there(other, entry)
                try:
                    empty &= _clear(directory, entry, managed, inner, path + "/")
                finally:
                    if inner is not None:
                        os.close(inner)
            elif path != MANIFEST and not _dispose(directory, entry, managed is None or path in managed, other):
                empty = False
        if has_manifest and empty:
            os.unlink(MANIFEST, dir_fd=directory)
        if empty:
            os.rmdir(name, dir_fd=parent)
        return empty
    finally:
        os.close(directory)


def _open_if_there(directory: int | None, name: str) -> int | None:
    """Descriptor of an inner directory, or None."""
    with suppress(FileNotFoundError, NotADirectoryError):
        return None if directory is None else os.open(name, DIRECTORY, dir_fd=directory)
    return None


def _dispose(directory: int, name: str, is_ours: bool, other: int | None) -> bool:
    """Unlink an entry that is ours or also in `other`; move a late one; False when it must stay."""
    if not is_ours and other is not None:
        try:
            mine = os.stat(name, dir_fd=directory, follow_symlinks=False)
            is_ours = os.path.samestat(mine, os.stat(name, dir_fd=other, follow_symlinks=False))
        except FileNotFoundError:
            _rename(directory, name, other, name, _NOREPLACE)
            return True
    if is_ours:
        os.unlink(name, dir_fd=directory)
    return is_ours
