"""A disk in memory behind the names that the program of hosts calls: os, open and shutil.

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
from types import SimpleNamespace
from typing import Any, NamedTuple

ROOM = ".room"
TEMPORARY = (".new", ".kept")


class File(NamedTuple):
    """A plain file; `synced` is its content on the disk, None where only its name may be there."""

    content: bytes
    mode: int
    changed: int = 0
    synced: bytes | None = None


class Link(str):
    """A symbolic link: where it leads to."""


class Folder:
    """A directory. What is in it are the paths below it."""


FOLDER = Folder()
Thing = File | Link | Folder


def is_temporary(path: str) -> bool:
    """Whether nobody reads a path before it gets its name: what happens to it needs no fault of its own."""
    return any(part.startswith(TEMPORARY) for part in path.rsplit("/", 3)[1:])


def wrong(number: int, path: str) -> OSError:
    return OSError(number, os.strerror(number), path)


class Disk:
    """One disk. `effect` hears of each change that others can see, before it happens; `plain` says what counts of a
    content where two disks are compared."""

    def __init__(self, effect: Callable[[str, str], None], plain: Callable[[bytes], object]) -> None:
        self.effect, self.plain = effect, plain
        self.names: dict[str, Thing] = {"": FOLDER}
        """All that there is, by its path without links."""
        self.undo: list[tuple[str, Thing | None]] = []
        self.digest = 0
        self.full = False
        """Whether nothing more can be written until somebody frees the room that fleetc keeps."""
        self.version = 0
        self.handles: dict[int, str] = {}
        self.special: Callable[[str], bytes | None] = lambda path: None
        """What the kernel says in /proc."""

    def copy(self) -> tuple[Any, ...]:
        """All that is on it. Nobody has a file open between two steps of the world."""
        return self.names.copy(), self.undo[:], self.digest, self.full, self.version

    def restore(self, copied: tuple[Any, ...]) -> None:
        names, undo, self.digest, self.full, self.version = copied
        self.names, self.undo = names.copy(), undo[:]
        self.handles.clear()

    # Paths.

    def place(self, path: str, follow: bool = True) -> str:
        """A path without links; the last name need not be there."""
        known = self.names.get(path)
        if known is not None and not (follow and type(known) is Link):
            return path
        above, _, last = path.rpartition("/")
        if known is None and self.names.get(above) is FOLDER and last not in ("", ".", ".."):
            return path
        done, rest, links = "", [name for name in path.split("/")[::-1] if name], 0
        while rest:
            name = rest.pop()
            if name == "..":
                done = posixpath.dirname(done).rstrip("/")
                continue
            here = self.names.get(f"{done}/{name}")
            if isinstance(here, Link) and (rest or follow):
                links += 1
                if links > 20:
                    raise wrong(errno.ELOOP, path)
                done = "" if here.startswith("/") else done
                rest += [name for name in here.split("/")[::-1] if name]
            elif rest and here is not FOLDER:
                raise wrong(errno.ENOENT if here is None else errno.ENOTDIR, path)
            else:
                done = f"{done}/{name}"
        return done

    def at(self, path: str, follow: bool = True) -> Any:
        """What is at a path; None where nothing is."""
        try:
            return self.names.get(self.place(path, follow))
        except OSError:
            return None

    def need(self, path: str, follow: bool = True) -> Any:
        there = self.names.get(self.place(path, follow))
        if there is None:
            raise wrong(errno.ENOENT, path)
        return there

    def free(self, path: str, follow: bool = False) -> str:
        """The place of a path at which nothing is."""
        place = self.place(path, follow)
        if place in self.names:
            raise wrong(errno.EEXIST, path)
        return place

    def listdir(self, path: str) -> list[str]:
        """The names in a directory."""
        if self.need(path) is not FOLDER:
            raise wrong(errno.ENOTDIR, path)
        above = self.place(path) + "/"
        return [
            place[len(above) :] for place in self.names if place.startswith(above) and "/" not in place[len(above) :]
        ]

    def below(self, place: str) -> list[str]:
        """A path and all paths below it."""
        return [known for known in self.names if known == place or known.startswith(place + "/")]

    # Changes.

    def set(self, place: str, thing: Thing | None) -> None:
        """Have a thing at a place; None removes it."""
        self.digest ^= self.counted(place) ^ self.counted(place, thing)
        self.version += 1
        if thing is None:
            del self.names[place]
        else:
            self.names[place] = thing

    def counted(self, place: str, thing: Any = ...) -> int:
        """What a place counts in the digest, with this thing or with what is there."""
        there = self.names.get(place) if thing is ... else thing
        if isinstance(there, File):
            return hash((place, self.plain(there.content), there.mode, there.synced == there.content))
        return hash((place, there)) if there is not None else 0

    def put(self, place: str, thing: Thing | None) -> None:
        """Change one name; a power cut may lose that."""
        self.undo.append((place, self.names.get(place)))
        self.set(place, thing)

    def write_to(self, path: str) -> None:
        if self.full and not path.endswith(ROOM):
            raise wrong(errno.ENOSPC, path)

    def settle(self) -> None:
        """What a kernel does by itself within half a minute: everything reaches the disk."""
        self.undo.clear()
        for place, file in self.files():
            if file.synced is not file.content:
                self.set(place, file._replace(synced=file.content))

    def cut(self, lose: bool) -> None:
        """Lose the power, and with it, or without, what was not synced."""
        for place, old in reversed(self.undo if lose else ()):
            if old is not None or place in self.names:
                self.set(place, old)
        for place, file in self.files():
            if lose and file.synced is not file.content:
                self.set(place, file._replace(content=file.synced or b""))
        self.handles.clear()
        self.full = False
        self.settle()

    def begin_again(self) -> None:
        """Count all anew: another boot reads other contents."""
        self.digest = 0
        for place in self.names:
            self.digest ^= self.counted(place)

    def files(self) -> list[tuple[str, File]]:
        return [(place, thing) for place, thing in self.names.items() if isinstance(thing, File)]

    # What programs call, as os, shutil and open have it.

    def number(self, place: str) -> int:
        number = max(self.handles, default=2) + 1
        self.handles[number] = place
        return number

    def open_number(self, path: str, flags: int, mode: int = 0o777) -> int:
        place = self.place(str(path))
        there = self.names.get(place)
        if there is None:
            if not flags & os.O_CREAT:
                raise wrong(errno.ENOENT, path)
            self.write_to(place)
            self.put(place, File(b"", mode, self.version))
        elif flags & os.O_EXCL:
            raise wrong(errno.EEXIST, path)
        elif flags & os.O_TRUNC:
            self.change(place, content=b"")
        return self.number(place)

    def change(self, place: str, **facts: Any) -> None:
        """Change a file that is there."""
        there = self.names[place]
        if isinstance(there, File):
            self.set(place, there._replace(**facts))

    def write_number(self, number: int, content: bytes) -> int:
        place = self.handles[number]
        self.write_to(place)
        self.change(place, content=self.need(place).content + content, changed=self.version)
        return len(content)

    def truncate(self, number: int, size: int) -> None:
        self.change(self.handles[number], content=self.need(self.handles[number]).content[:size])

    def sync_number(self, number: int) -> None:
        place = self.handles[number]
        there = self.need(place)
        if there is FOLDER:
            self.effect("sync", place)
        else:
            self.change(place, synced=there.content)
        self.undo.clear()

    def opened(self, path: str, mode: str = "r") -> io.BytesIO:
        path = str(path)
        if path == "/dev/null":
            return Open(self, 0, b"")
        if mode != "rb":
            return Open(self, self.open_number(path, os.O_CREAT | os.O_TRUNC, 0o644))
        if path.startswith("/proc/"):
            content = self.special(path)
            if content is None:
                raise wrong(errno.ENOENT, path)
            return Open(self, 0, content)
        there = self.need(path)
        if there is FOLDER:
            raise wrong(errno.EISDIR, path)
        return Open(self, self.number(self.place(path)), there.content)

    def rename(self, old: str, new: str) -> None:
        place, target = self.place(old, follow=False), self.place(new, follow=False)
        if place not in self.names:
            raise wrong(errno.ENOENT, old)
        self.write_to(new)
        self.effect("rename", target)
        moved = [(known, self.names[known]) for known in self.below(place)]
        for known, _ in moved:
            self.put(known, None)
        for known, thing in moved:
            self.put(target + known[len(place) :], thing)

    def unlink(self, path: str) -> None:
        place = self.place(path, follow=False)
        if place not in self.names:
            raise wrong(errno.ENOENT, path)
        if self.names[place] is FOLDER:
            raise wrong(errno.EISDIR, path)
        if not is_temporary(place):
            self.effect("unlink", place)
        self.full &= not place.endswith(ROOM)
        self.put(place, None)

    def symlink(self, target: str, path: str) -> None:
        place = self.free(path)
        self.write_to(path)
        if not is_temporary(place):
            self.effect("symlink", place)
        self.put(place, Link(target))

    def mkdir(self, path: str, mode: int = 0o777) -> None:
        place = self.free(path, follow=True)
        self.write_to(path)
        self.put(place, FOLDER)

    def makedirs(self, path: str, mode: int = 0o777, exist_ok: bool = False) -> None:
        if exist_ok and self.at(path) is FOLDER:
            return
        above = posixpath.dirname(path.rstrip("/"))
        if self.at(above) is None:
            self.makedirs(above)
        self.mkdir(path)

    def rmdir(self, path: str) -> None:
        self.put(self.place(path, follow=False), None)

    def rmtree(self, path: str) -> None:
        """Remove a directory. One fault may end it halfway: then the first of its names is gone."""
        place = self.place(path, follow=False)
        if self.need(path, follow=False) is not FOLDER:
            raise wrong(errno.ENOTDIR, path)
        if not is_temporary(place):
            self.effect("rmtree", place)
            for name in sorted(self.listdir(place))[:1]:
                self.remove(f"{place}/{name}")
            self.effect("rmtree half", place)
        self.remove(place)

    def remove(self, place: str) -> None:
        for known in self.below(place):
            self.put(known, None)

    def copy_to(self, path: str, to: str, **_: object) -> None:
        place, target = self.place(path, follow=False), self.place(to, follow=False)
        for known in self.below(place):
            self.put(target + known[len(place) :], self.names[known])

    def stat(self, path: str, follow: bool = True) -> Any:
        place, there = self.place(str(path), follow), self.need(str(path), follow)
        kind = stat.S_IFDIR if there is FOLDER else stat.S_IFLNK if isinstance(there, Link) else stat.S_IFREG
        file = there if isinstance(there, File) else File(b"", 0o755)
        facts = {"st_mode": kind | file.mode, "st_size": len(file.content), "st_mtime_ns": file.changed}
        return SimpleNamespace(**facts, st_mtime=file.changed / 1e9, st_uid=0, st_gid=0, st_dev=1, st_ino=hash(place))

    def readlink(self, path: str) -> str:
        there = self.need(path, follow=False)
        if not isinstance(there, Link):
            raise wrong(errno.EINVAL, path)
        return str(there)

    def walk(self, top: str) -> Iterator[tuple[str, list[str], list[str]]]:
        if self.at(top) is not FOLDER:
            return
        names = self.listdir(top)
        folders = [name for name in names if self.at(f"{top}/{name}", follow=False) is FOLDER]
        yield top, folders, [name for name in names if name not in folders]
        for name in folders:
            yield from self.walk(f"{top}/{name}")


class Open(io.BytesIO):
    """An open file; what is written to it is at once in the file."""

    def __init__(self, disk: Disk, number: int, content: bytes = b"") -> None:
        super().__init__(content)
        self.disk, self.own = disk, number

    def fileno(self) -> int:
        return self.own

    def write(self, content: Any) -> int:
        return self.disk.write_number(self.own, bytes(content))

    def close(self) -> None:
        self.disk.handles.pop(self.own, None)
        super().close()


def os_of(disk: Disk, random: Callable[[int], bytes], closed: Callable[[int], None]) -> SimpleNamespace:
    """What `import os` gives to a program that sees this disk."""

    def close(number: int) -> None:
        closed(number)
        disk.handles.pop(number, None)

    same = ("join", "dirname", "basename", "relpath", "splitext", "abspath")
    path = SimpleNamespace(
        **{name: getattr(posixpath, name) for name in same},
        islink=lambda path: isinstance(disk.at(path, follow=False), Link),
        isdir=lambda path: disk.at(path) is FOLDER,
        isfile=lambda path: isinstance(disk.at(path), File),
        exists=lambda path: disk.at(path) is not None,
        lexists=lambda path: disk.at(path, follow=False) is not None,
        realpath=disk.place,
        samefile=lambda one, other: disk.place(one) == disk.place(other),
    )
    kept = ("strerror", "fsencode", "fsdecode", "X_OK", "sep", *(name for name in dir(os) if name.startswith("O_")))
    own = ("rename", "unlink", "symlink", "readlink", "mkdir", "makedirs", "rmdir", "listdir", "walk", "stat")
    return SimpleNamespace(
        **{name: getattr(os, name) for name in kept},
        **{name: getattr(disk, name) for name in own},
        path=path,
        devnull="/dev/null",
        environ={},
        open=disk.open_number,
        close=close,
        fdopen=lambda number, mode: Open(disk, number),
        write=disk.write_number,
        fsync=disk.sync_number,
        ftruncate=disk.truncate,
        pread=lambda number, size, start: disk.need(disk.handles[number]).content[start : start + size],
        fstat=lambda number: disk.stat(disk.handles[number]),
        fchmod=lambda number, mode: disk.change(disk.handles[number], mode=mode),
        lstat=lambda path: disk.stat(path, follow=False),
        chmod=lambda path, mode, **_: disk.change(disk.place(path), mode=mode),
        chown=lambda path, user, group, **_: None,
        access=lambda path, how: disk.at(path) is not None,
        umask=lambda mask: 0,
        urandom=random,
        geteuid=lambda: 0,
    )


def shutil_of(disk: Disk) -> SimpleNamespace:
    """What `import shutil` gives."""
    copied = {"copy2": disk.copy_to, "copytree": disk.copy_to}
    return SimpleNamespace(
        rmtree=disk.rmtree, move=disk.rename, copyfileobj=lambda source, to, *_: to.write(source.read()), **copied
    )
