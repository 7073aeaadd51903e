"""Reads the sources of `fleetc adopt`, and writes its spec.

In: names of files and directories. Out: texts, within bounds of number and size; a new spec. It reads only named files,
and the parts they name below their own folder. Other paths in a source open nothing. It skips a compiled tree in a
directory of sources, which has the same nodes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from fleetc.disk.manifest import DIRECTORY, FilesError, listed_entries, shown
from fleetc.disk.new_files import write_new
from fleetc.disk.reading import answer_name, read_text
from fleetc.toml.document import Source

LIMIT_BYTES = 16 * 1024 * 1024
_MOST_FILES = 5000
_MOST_CHARACTERS = 64 * 1024 * 1024
_DEEPEST = 50
_ADVICE = "name files of text: commands, units, Compose files, environment files, config files, lists of models"
_PASSED_OVER = frozenset({".git", "node_modules", ".venv", "__pycache__"})
_TEXTS = frozenset(
    {".sh", ".bash", ".service", ".conf", ".env", ".json", ".yaml", ".yml", ".ini", ".flags", ".txt", ".bat", ".j2", ""}
)
_OF_TREE = ("hosts/", "ansible/host_vars/", "ansible/inventory.json")
_PART = re.compile(r"\bfile[ \t]*:[ \t]+[\"']?([^\s\"',{}\[\]#:]+\.ya?ml)(?=[\s\"',}\]]|$)")
"""A file that a Compose file extends."""


@dataclass
class Files:
    """What was read. `listed` are sources found through their folder or another source; `passed` are files and
    directories that were not read, with why.
    """

    sources: list[Source] = field(default_factory=list)
    listed: set[str] = field(default_factory=set)
    passed: list[tuple[str, str]] = field(default_factory=list)


def read_source_files(name: str) -> Files:
    """The texts of a file, of standard input for "-", or of all likely files of a directory. Raises FilesError."""
    path, files = Path(name), Files()
    if name == "-" or not path.is_dir():
        files.sources.append(_read(path))
        _read_parts(path, files)
        return files
    total, tree = 0, _is_compiled(path)
    for file in _likely(path, name, files):
        if tree and not file.relative_to(path).as_posix().startswith(_OF_TREE):
            continue
        try:
            source = _read(file)
        except FilesError as problem:
            files.passed.append((str(file), problem.message))  # not named by the user
            continue
        total += len(source.text)
        if total > _MOST_CHARACTERS:
            raise _failure(f"{shown(name)} has more than {_MOST_CHARACTERS // 2**20} MiB of text", name)
        files.sources.append(source)
    files.listed = {source.name for source in files.sources}
    if not files.sources:
        but = "".join(f"; {shown(left)}: {why}" for left, why in files.passed[:1])
        raise _failure(f"{shown(name)} has no file that could start a node{but}", name)
    return files


def _read_parts(path: Path, files: Files) -> None:
    """Read the files that a named Compose file extends, below its folder."""
    above = path.parent.resolve()
    for source in files.sources if path.suffix in (".yml", ".yaml") else ():
        for found in _PART.finditer(source.text):
            part = Path(os.path.normpath(Path(source.name).parent / found[1]))
            known = {source.name for source in files.sources}
            if answer_name(part) in known or len(known) > _DEEPEST or not part.resolve().is_relative_to(above):
                continue
            if part.is_file():
                files.sources.append(_read(part))
                files.listed.add(answer_name(part))


def _likely(path: Path, name: str, files: Files) -> list[Path]:
    likely = []
    try:
        for file in _walk(path, files, 0):
            likely.append(file)
            if len(likely) > _MOST_FILES:
                raise _failure(f"{shown(name)} has more than {_MOST_FILES} files", name)
    except OSError as problem:
        raise _failure(f"{shown(str(problem.filename))} cannot be read: {problem.strerror}", name) from problem
    return sorted(likely)


def _walk(path: Path, files: Files, depth: int) -> Iterator[Path]:
    """The likely files below a directory."""
    for entry in sorted(path.iterdir()):
        if entry.is_symlink():
            continue
        if entry.is_dir():
            if _is_compiled(entry):
                why = "fleetc compiled it from a spec; name it as a source to adopt it"
                files.passed.append((str(entry), why))
            elif entry.name not in _PASSED_OVER and depth < _DEEPEST:
                yield from _walk(entry, files, depth + 1)
        elif entry.is_file() and (entry.suffix in _TEXTS or entry.name.startswith(".env")):
            yield entry


def _is_compiled(path: Path) -> bool:
    """Whether a directory is a tree that fleetc compiled, by the manifest in it."""
    try:
        root = os.open(path, DIRECTORY)
    except OSError:
        return False
    try:
        return listed_entries(root, str(path)) is not None
    except FilesError:
        return False  # it has another kind of manifest
    finally:
        os.close(root)


def _read(path: Path) -> Source:
    text = read_text(path, LIMIT_BYTES, "adopt-source-unreadable", _ADVICE)
    name = answer_name(path)
    if "\0" in text:
        raise _failure(f"{shown(name)} has a NUL character, so it is no text", name)
    return Source(name, text.removeprefix("\ufeff").replace("\r\n", "\n"))


def _failure(text: str, name: str) -> FilesError:
    return FilesError("adopt-source-unreadable", text, path=name, advice=_ADVICE)


def write_spec(path: Path, text: str) -> None:
    """Write a new spec; an equal one is left alone. Raises FilesError."""
    if path.is_file() and not path.is_symlink():
        try:
            same = read_text(path, LIMIT_BYTES, "adopt-output-exists", "name another file") == text
        except FilesError:
            same = False
        if same:
            return
    try:
        write_new({path: text})
    except FilesError as problem:
        if problem.code != "file-exists":
            raise
        name = shown(str(path))
        raise FilesError(
            "adopt-output-exists", f"{name} already exists and was not changed", path=str(path),
            advice="name another file with -o; git diff --no-index shows how the two differ",
        ) from problem  # fmt: skip
