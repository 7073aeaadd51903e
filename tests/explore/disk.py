"""A disk in memory behind the names that the program of hosts calls: os, open, shutil and fcntl.

In: paths and contents. Out: the same, and what is left after a power cut.

Names reach the disk in the order in which they changed, as on ext4, xfs and btrfs: a sync of anything brings all names
that changed before it. The content of a file reaches the disk only with its own sync. A cut loses all names since the
last sync, or none.
"""

from __future__ import annotations

import errno
import io
import os
import posixpath
import stat
from collections.abc import Callable, Iterator
from functools import cache
from types import SimpleNamespace
from typing import Any

ROOM = ".room"
TEMPORARY = (".new", ".kept")


class File:
    """A plain file; `synced` is its content on the disk, None where only its name may be there."""

    digest: object = None

    def __init__(self, content: bytes, mode: int, changed: int) -> None:
        self.content, self.mode, self.changed = content, mode, changed
        self.synced: bytes | None = None
        self.above: Folder | None = None

    def copy(self) -> File:
        made = File(self.content, self.mode, self.changed)
        made.synced, made.digest = self.synced, self.digest
        return made


class Link(str):
    """A symbolic link: where it leads to."""


class Folder(dict[str, Any]):
    """A directory: files, links and directories by their names."""

    digest: object = None
    above: Folder | None = None


def touch(thing: File | Folder | None) -> None:
    """Forget the digest of what changes, and of the directories above it."""
    while thing is not None:
        thing.digest, thing = None, thing.above


def is_temporary(path: str) -> bool:
    """Whether nobody reads a path before it gets its name: what happens to it needs no fault of its own."""
    return any(part.startswith(TEMPORARY) for part in path.rsplit("/", 3)[1:])


@cache
def names_of(path: str) -> tuple[str, ...]:
    return tuple(name for name in path.split("/") if name)


class Disk:
    """One disk. `effect` hears of each change that others can see, before it happens."""

    def __init__(self, effect: Callable[[str, str], None]) -> None:
        self.root = Folder()
        self.effect = effect
        self.undo: list[tuple[Folder, str, Any]] = []
        self.full = False
        """Whether nothing more can be written until somebody frees the room that fleetc keeps."""
        self.version = 0
        self.numbers = 0
        self.handles: dict[int, tuple[str, Any]] = {}
        self.special: Callable[[str], bytes | None] = lambda path: None
        """What the kernel says in /proc."""

    def copy(self) -> tuple[Any, ...]:
        """All that is on it now. Nobody has a file open between two steps of the world."""
        folders: dict[int, Folder] = {}

        def of(thing: Any) -> Any:
            if type(thing) is Folder:
                copied = folders[id(thing)] = Folder({name: of(inside) for name, inside in thing.items()})
                copied.digest = thing.digest
                for inside in copied.values():
                    if type(inside) is not Link:
                        inside.above = copied
                return copied
            return thing.copy() if type(thing) is File else thing

        root = of(self.root)
        undo = [(folders.get(id(folder)) or of(folder), name, of(old)) for folder, name, old in self.undo]
        return root, undo, self.full, self.version, self.numbers

    def restore(self, copied: tuple[Any, ...]) -> None:
        self.root, self.undo, self.full, self.version, self.numbers = copied
        self.root, self.undo, *_ = self.copy()
        self.handles.clear()

    def find(self, path: str, follow: bool = True) -> tuple[Folder, str, Any]:
        """The directory of a path, its last name, and what is there; None for nothing."""
        folder: Any = self.root
        *names, last = names_of(path) or ("",)
        for name in names:
            folder = folder.get(name)
            if type(folder) is not Folder:
                break
        else:
            here = folder.get(last) if last else None
            if last and last != ".." and (not follow or type(here) is not Link):
                return folder, last, here
        rest = [name for name in path.split("/")[::-1] if name]
        above: list[Folder] = [self.root]
        links = 0
        while rest:
            name = rest.pop()
            if name == "..":
                if len(above) > 1:
                    above.pop()
                continue
            here = above[-1].get(name)
            if not rest and (not follow or type(here) is not Link):
                return above[-1], name, here
            if type(here) is Link:
                links += 1
                if links > 20:
                    raise OSError(errno.ELOOP, "too many links", path)
                if here.startswith("/"):
                    above = [self.root]
                rest += [name for name in here.split("/")[::-1] if name]
            elif here is None:
                raise FileNotFoundError(errno.ENOENT, "No such file or directory", path)
            elif type(here) is Folder:
                above.append(here)
            else:
                raise NotADirectoryError(errno.ENOTDIR, "Not a directory", path)
        return above[-1], "", above[-1]

    def at(self, path: str, follow: bool = True) -> Any:
        """What is at a path; None where nothing is."""
        try:
            return self.find(path, follow)[2]
        except OSError:
            return None

    def need(self, path: str, follow: bool = True) -> Any:
        found = self.find(path, follow)[2]
        if found is None:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", path)
        return found

    def put(self, folder: Folder, name: str, thing: Any) -> None:
        """Change one name; None removes it."""
        self.undo.append((folder, name, folder.get(name)))
        self.version += 1
        if thing is None:
            del folder[name]
        else:
            folder[name] = thing
            if type(thing) is not Link:
                thing.above = folder
        touch(folder)

    def write_to(self, path: str) -> None:
        if self.full and not path.endswith(ROOM):
            raise OSError(errno.ENOSPC, "No space left on device", path)

    def sync(self) -> None:
        """Bring all names to the disk."""
        self.undo.clear()

    def settle(self) -> None:
        """What a kernel does by itself within half a minute: everything reaches the disk."""
        self.undo.clear()
        for _, file in self.files():
            if file.synced is not file.content:
                file.synced = file.content
                touch(file)

    def cut(self, lose: bool) -> None:
        """Lose the power, and with it, or without, what was not synced."""
        if lose:
            for folder, name, old in reversed(self.undo):
                if old is None:
                    folder.pop(name, None)
                else:
                    folder[name] = old
                    if type(old) is not Link:
                        old.above = folder
                touch(folder)
            for _, file in self.files():
                file.content = file.synced if file.synced is not None else b""
        for _, file in self.files():  # another boot
            touch(file)
        self.handles.clear()
        self.full = False
        self.settle()

    def files(self, folder: Folder | None = None, path: str = "") -> Iterator[tuple[str, File]]:
        for name, thing in sorted((self.root if folder is None else folder).items()):
            if isinstance(thing, Folder):
                yield from self.files(thing, f"{path}/{name}")
            elif isinstance(thing, File):
                yield f"{path}/{name}", thing

    def digest(self, seen: Callable[[bytes], object]) -> int:
        """All names with what they are, and what a power cut would lose; `seen` says what counts of a content."""

        def of(thing: Any) -> object:
            if type(thing) is Link:
                return thing
            if thing.digest is None:
                if type(thing) is Folder:
                    thing.digest = hash(frozenset([(name, of(inside)) for name, inside in thing.items()]))
                else:
                    thing.digest = seen(thing.content), thing.mode, thing.synced == thing.content
            return thing.digest

        return hash((of(self.root), tuple([name for _, name, _ in self.undo])))

    # What programs call, as os, shutil and open have it.

    def number(self, path: str, file: Any) -> int:
        self.numbers += 1
        self.handles[self.numbers] = (path, file)
        return self.numbers

    def open_number(self, path: str, flags: int, mode: int = 0o777) -> int:
        path = str(path)
        folder, name, there = self.find(path)
        if there is None:
            if not flags & os.O_CREAT:
                raise FileNotFoundError(errno.ENOENT, "No such file or directory", path)
            self.write_to(path)
            self.version += 1
            there = File(b"", mode, self.version)
            self.put(folder, name, there)
        elif flags & os.O_EXCL:
            raise FileExistsError(errno.EEXIST, "File exists", path)
        elif flags & os.O_TRUNC:
            there.content = b""
            touch(there)
        return self.number(path, there)

    def write_number(self, number: int, content: bytes) -> int:
        path, file = self.handles[number]
        self.write_to(path)
        file.content += content
        touch(file)
        self.version += 1
        file.changed = self.version
        return len(content)

    def truncate(self, number: int, size: int) -> None:
        file = self.handles[number][1]
        file.content = file.content[:size]
        touch(file)

    def sync_number(self, number: int) -> None:
        path, thing = self.handles[number]
        if isinstance(thing, Folder):
            self.effect("sync", path)
        else:
            thing.synced = thing.content
            touch(thing)
        self.sync()

    def opened(self, path: str, mode: str = "r") -> io.BytesIO:
        path = str(path)
        if path == "/dev/null":
            return Reading(self, self.number(path, File(b"", 0o666, 0)))
        if mode == "rb":
            if path.startswith("/proc/"):
                said = self.special(path)
                if said is None:
                    raise FileNotFoundError(errno.ENOENT, "No such file or directory", path)
                return Reading(self, self.number(path, File(said, 0o444, 0)))
            there = self.need(path)
            if isinstance(there, Folder):
                raise IsADirectoryError(errno.EISDIR, "Is a directory", path)
            return Reading(self, self.number(path, there))
        number = self.open_number(path, os.O_CREAT | os.O_TRUNC, 0o644)
        return Writing(self, number)

    def rename(self, old: str, new: str) -> None:
        folder, name, thing = self.find(old, follow=False)
        into, as_name, _ = self.find(new, follow=False)
        if thing is None:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", old)
        self.write_to(new)
        self.effect("rename", new)
        self.put(folder, name, None)
        self.put(into, as_name, thing)

    def unlink(self, path: str) -> None:
        folder, name, thing = self.find(path, follow=False)
        if thing is None:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", path)
        if isinstance(thing, Folder):
            raise IsADirectoryError(errno.EISDIR, "Is a directory", path)
        if not is_temporary(path):
            self.effect("unlink", path)
        if name == ROOM:
            self.full = False
        self.put(folder, name, None)

    def symlink(self, target: str, path: str) -> None:
        folder, name, there = self.find(path, follow=False)
        if there is not None:
            raise FileExistsError(errno.EEXIST, "File exists", path)
        self.write_to(path)
        if not is_temporary(path):
            self.effect("symlink", path)
        self.put(folder, name, Link(target))

    def mkdir(self, path: str, mode: int = 0o777) -> None:
        folder, name, there = self.find(path)
        if there is not None:
            raise FileExistsError(errno.EEXIST, "File exists", path)
        self.write_to(path)
        self.put(folder, name, Folder())

    def makedirs(self, path: str, mode: int = 0o777, exist_ok: bool = False) -> None:
        there = self.at(path)
        if there is not None:
            if exist_ok and isinstance(there, Folder):
                return
            raise FileExistsError(errno.EEXIST, "File exists", path)
        above = posixpath.dirname(path.rstrip("/"))
        if above and self.at(above) is None:
            self.makedirs(above)
        self.mkdir(path)

    def rmdir(self, path: str) -> None:
        folder, name, _ = self.find(path, follow=False)
        self.put(folder, name, None)

    def rmtree(self, path: str) -> None:
        """Remove a directory. One fault may end it halfway: then the first of its names is gone."""
        folder, name, thing = self.find(path, follow=False)
        if not isinstance(thing, Folder):
            raise NotADirectoryError(errno.ENOTDIR, "Not a directory", path)
        if not is_temporary(path):
            self.effect("rmtree", path)
            for inside in sorted(thing)[:1]:
                self.put(thing, inside, None)
            self.effect("rmtree half", path)
        self.put(folder, name, None)

    def stat(self, path: str, follow: bool = True) -> Any:
        return self.facts(self.need(str(path), follow))

    def facts(self, thing: Any) -> Any:
        kind = stat.S_IFDIR if isinstance(thing, Folder) else stat.S_IFLNK if isinstance(thing, Link) else stat.S_IFREG
        mode, content = (thing.mode, thing.content) if isinstance(thing, File) else (0o755, b"")
        changed = thing.changed if isinstance(thing, File) else 0
        facts = {"st_mode": kind | mode, "st_size": len(content), "st_mtime_ns": changed, "st_mtime": changed / 1e9}
        return SimpleNamespace(**facts, st_uid=0, st_gid=0, st_dev=1, st_ino=id(thing))

    def readlink(self, path: str) -> str:
        thing = self.need(path, follow=False)
        if not isinstance(thing, Link):
            raise OSError(errno.EINVAL, "Invalid argument", path)
        return str(thing)

    def listdir(self, path: str) -> list[str]:
        thing = self.need(path)
        if not isinstance(thing, Folder):
            raise NotADirectoryError(errno.ENOTDIR, "Not a directory", path)
        return list(thing)

    def walk(self, top: str) -> Iterator[tuple[str, list[str], list[str]]]:
        thing = self.at(top)
        if not isinstance(thing, Folder):
            return
        folders = [name for name, inside in thing.items() if isinstance(inside, Folder)]
        yield top, folders, [name for name in thing if name not in folders]
        for name in folders:
            yield from self.walk(f"{top}/{name}")

    def change_mode(self, number: int, mode: int) -> None:
        self.handles[number][1].mode = mode
        touch(self.handles[number][1])

    def chmod(self, path: str, mode: int, **_: object) -> None:
        thing = self.need(path)
        if isinstance(thing, File):
            thing.mode = mode
            touch(thing)

    def real(self, path: str) -> str:
        """A path without links; the last name need not be there."""
        done, rest = "", path.split("/")[::-1]
        while rest:
            name = rest.pop()
            if name in ("", "."):
                continue
            if name == "..":
                done = posixpath.dirname(done)
                continue
            thing = self.at(f"{done}/{name}", follow=False)
            if isinstance(thing, Link):
                rest += thing.split("/")[::-1]
                done = "" if thing.startswith("/") else done
            else:
                done = f"{done}/{name}"
        return done or "/"


class Reading(io.BytesIO):
    """An open file that is read."""

    def __init__(self, disk: Disk, number: int) -> None:
        super().__init__(disk.handles[number][1].content)
        self.disk, self.number = disk, number

    def fileno(self) -> int:
        return self.number

    def close(self) -> None:
        self.disk.handles.pop(self.number, None)
        super().close()


class Writing(Reading):
    """An open file that is written."""

    def write(self, content: Any) -> int:
        return self.disk.write_number(self.number, bytes(content))


def os_of(disk: Disk, random: Callable[[int], bytes], closed: Callable[[int], None]) -> SimpleNamespace:
    """What `import os` gives to a program that sees this disk."""

    def close(number: int) -> None:
        closed(number)
        disk.handles.pop(number, None)

    path = SimpleNamespace(
        **{
            name: getattr(posixpath, name) for name in ("join", "dirname", "basename", "relpath", "splitext", "abspath")
        },
        islink=lambda path: isinstance(disk.at(path, follow=False), Link),
        isdir=lambda path: isinstance(disk.at(path), Folder),
        isfile=lambda path: isinstance(disk.at(path), File),
        exists=lambda path: disk.at(path) is not None,
        lexists=lambda path: disk.at(path, follow=False) is not None,
        realpath=disk.real,
        samefile=lambda one, other: disk.need(one) is disk.need(other),
    )
    kept = ("O_WRONLY", "O_RDONLY", "O_RDWR", "O_CREAT", "O_EXCL", "O_APPEND", "O_TRUNC", "O_DIRECTORY", "O_NOFOLLOW")
    return SimpleNamespace(
        **{
            name: getattr(os, name) for name in (*kept, "O_NONBLOCK", "strerror", "fsencode", "fsdecode", "X_OK", "sep")
        },
        path=path,
        devnull="/dev/null",
        environ={},
        open=disk.open_number,
        close=close,
        fdopen=lambda number, mode: Writing(disk, number),
        write=disk.write_number,
        fsync=disk.sync_number,
        ftruncate=disk.truncate,
        pread=lambda number, size, start: disk.handles[number][1].content[start : start + size],
        fstat=lambda number: disk.facts(disk.handles[number][1]),
        fchmod=disk.change_mode,
        rename=disk.rename,
        unlink=disk.unlink,
        symlink=disk.symlink,
        readlink=disk.readlink,
        mkdir=disk.mkdir,
        makedirs=disk.makedirs,
        rmdir=disk.rmdir,
        listdir=disk.listdir,
        walk=disk.walk,
        stat=disk.stat,
        lstat=lambda path: disk.stat(path, follow=False),
        chmod=disk.chmod,
        chown=lambda path, user, group, **_: None,
        access=lambda path, how: disk.at(path) is not None,
        umask=lambda mask: 0,
        urandom=random,
        geteuid=lambda: 0,
    )


def shutil_of(disk: Disk) -> SimpleNamespace:
    """What `import shutil` gives."""

    def copy(path: str, to: str, **_: object) -> None:
        folder, name, _there = disk.find(to, follow=False)
        thing = disk.need(path, follow=False)
        disk.put(folder, name, thing.copy() if isinstance(thing, File) else thing)

    def copyfileobj(source: Any, target: Any, *_: object) -> None:
        target.write(source.read())

    return SimpleNamespace(rmtree=disk.rmtree, move=disk.rename, copy2=copy, copytree=copy, copyfileobj=copyfileobj)
