"""Reads the sources of `fleetc adopt`, and writes its spec.

In: names of files and directories. Out: texts, within bounds of number and size; a spec where nothing stands yet.
Only named files are read: a path in a source opens nothing. A tree that fleetc compiled is passed over in a directory
of sources, whose nodes it has a second time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from fleetc.disk.manifest import DIRECTORY, FilesError, listed_entries, shown
from fleetc.disk.new_files import write_new
from fleetc.disk.reading import answer_name, read_text
from fleetc.toml.document import Source

LIMIT_BYTES = 16 * 1024 * 1024
_MOST_FILES = 5000
_ADVICE = "name files of text: commands, units, Compose files, environment files, config files, lists of models"
_PASSED_OVER = frozenset({".git", "node_modules", ".venv", "__pycache__"})
_TEXTS = frozenset(
    {".sh", ".bash", ".service", ".conf", ".env", ".json", ".yaml", ".yml", ".ini", ".flags", ".txt", ".bat", ".j2", ""}
)


def read_source_files(name: str) -> tuple[list[Source], list[Path]]:
    """The texts of a file, of standard input for "-", or of all likely files of a directory, and those trees in it that
    fleetc compiled. Raises FilesError.
    """
    path = Path(name)
    trees: list[Path] = []
    if name == "-" or not path.is_dir():
        return [_read(path)], trees
    texts = [source for file in _likely(path, name, trees) if (source := _of_directory(file)) is not None]
    if not texts:
        but = f" besides {shown(str(trees[0]))}, which fleetc compiled" if trees else ""
        raise _failure(f"{shown(name)} has no file that could start a node{but}", name)
    return texts, trees


def _likely(path: Path, name: str, trees: list[Path]) -> list[Path]:
    files = []
    for file in _walk(path, trees):
        files.append(file)
        if len(files) > _MOST_FILES:
            raise _failure(f"{shown(name)} has more than {_MOST_FILES} files", name)
    return sorted(files)


def _walk(path: Path, trees: list[Path]) -> Iterator[Path]:
    """The likely files below a directory; `trees` gets those directories that fleetc compiled."""
    for entry in sorted(path.iterdir()):
        if entry.is_symlink():
            if entry.suffix == ".service" and path.suffix in (".wants", ".requires"):
                yield entry  # its name says that a unit is started
            continue
        if entry.is_dir():
            if _is_compiled(entry):
                trees.append(entry)
            elif entry.name not in _PASSED_OVER:
                yield from _walk(entry, trees)
        elif entry.is_file() and _may_be_source(entry):
            yield entry


def _may_be_source(path: Path) -> bool:
    return path.suffix in _TEXTS or path.name.startswith(".env")


def _is_compiled(path: Path) -> bool:
    """Whether a directory is a tree that fleetc compiled, by the manifest in it."""
    try:
        root = os.open(path, DIRECTORY)
    except OSError:
        return False
    try:
        return listed_entries(root, str(path)) is not None
    except FilesError:
        return False  # it has a manifest of something else
    finally:
        os.close(root)


def _of_directory(path: Path) -> Source | None:
    """A file of a directory; one that is no text is passed over, because nobody named it."""
    if path.is_symlink():
        return Source(answer_name(path), "")  # where it leads is not read
    try:
        return _read(path)
    except FilesError:
        return None


def _read(path: Path) -> Source:
    text = read_text(path, LIMIT_BYTES, "adopt-source-unreadable", _ADVICE)
    name = answer_name(path)
    if "\0" in text:
        raise _failure(f"{shown(name)} has a NUL character, so it is no text", name)
    return Source(name, text.removeprefix("\ufeff").replace("\r\n", "\n"))


def _failure(text: str, name: str) -> FilesError:
    return FilesError("adopt-source-unreadable", text, path=name, advice=_ADVICE)


def write_spec(path: Path, text: str) -> None:
    """Write a spec where nothing is yet; one that already says exactly this is left alone. Raises FilesError."""
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
