"""Reads the sources of `fleetc adopt`, and writes its spec.

In: names of files and directories. Out: texts, within bounds of number and size; a spec where nothing stands yet, or in
place of an earlier one that people named for that.
Only named files are read: a path in a source opens nothing. A tree that fleetc compiled is passed over in a directory
of sources, whose nodes it has a second time.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from fleetc.disk.included import included_by
from fleetc.disk.manifest import DIRECTORY, FilesError, listed_entries, shown
from fleetc.disk.new_files import write_new
from fleetc.disk.reading import answer_name, read_source, read_text
from fleetc.disk.spec_writer import write_sources
from fleetc.toml.document import Source

LIMIT_BYTES = 16 * 1024 * 1024
_MOST_FILES = 5000
_ADVICE = "name files of text: commands, units, Compose files, environment files, config files, lists of models"
_MOST_OTHERS = 100
_SHORT_BYTES = 64 * 1024
_SPEC = re.compile(r"(?m)^(?:spec[ \t]*=|\[fleet\])")
_PASSED_OVER = frozenset({".git", "node_modules", ".venv", "__pycache__"})
_TEXTS = frozenset(
    {".sh", ".bash", ".service", ".conf", ".env", ".json", ".yaml", ".yml", ".ini", ".flags", ".txt", ".bat", ".j2", ""}
)


class SourceFiles(NamedTuple):
    """Texts, and what beside them was passed over: trees, because fleetc compiled them, pages of notes, and `others`,
    which have the names of no sources. `more` counts what is no short text.
    """

    texts: list[Source]
    trees: list[Path]
    pages: list[Source]
    others: list[Source]
    more: int


def read_source_files(name: str, pages: tuple[str, ...] = ()) -> SourceFiles:
    """The texts of a file, of standard input for "-", or of all likely files of a directory. Raises FilesError.

    `pages` is how names of pages of notes end: what they show may never have run, so only named ones are sources.
    """
    path = Path(name)
    trees: list[Path] = []
    if name == "-" or not path.is_dir():
        return SourceFiles([_read(path)], trees, [], [], 0)
    unlikely: list[Path] = []
    read = [
        source for file in _likely(path, name, trees, pages, unlikely) if (source := _of_directory(file)) is not None
    ]
    notes = [source for source in read if source.name.lower().endswith(pages)]
    found = [source for source in read if source not in notes]
    if not found:
        but = f" besides {shown(str(trees[0]))}, which fleetc compiled" if trees else ""
        but = but or (f" besides {shown(notes[0].name)}, which is read only where it is named itself" if notes else "")
        raise _failure(f"{shown(name)} has no file that could start a node{but}", name)
    others = [source for file in unlikely[:_MOST_OTHERS] if _is_short(file) and (source := _of_directory(file))]
    specs = [source for source in others if source.name.endswith(".toml") and _SPEC.search(source.text)]
    others = [source for source in others if source not in specs]
    return SourceFiles(found, trees, notes, others, len(unlikely) - len(others) - len(specs))


def _is_short(path: Path) -> bool:
    try:
        return path.stat().st_size <= _SHORT_BYTES
    except OSError:
        return False


def _likely(path: Path, name: str, trees: list[Path], pages: tuple[str, ...], unlikely: list[Path]) -> list[Path]:
    files = []
    for file in _walk(path, trees, pages, unlikely):
        files.append(file)
        if len(files) > _MOST_FILES:
            raise _failure(f"{shown(name)} has more than {_MOST_FILES} files", name)
    return sorted(files)


def _walk(path: Path, trees: list[Path], pages: tuple[str, ...], unlikely: list[Path]) -> Iterator[Path]:
    """The likely files below a directory; `trees` gets those directories that fleetc compiled, and `unlikely` the other
    files that do not hide.
    """
    for entry in sorted(path.iterdir()):
        if entry.is_symlink():
            if entry.suffix == ".service" and path.suffix in (".wants", ".requires"):
                yield entry  # its name says that a unit is started
            continue
        if entry.is_dir():
            if _is_compiled(entry):
                trees.append(entry)
            elif entry.name not in _PASSED_OVER:
                yield from _walk(entry, trees, pages, unlikely)
        elif entry.is_file() and _may_be_source(entry, pages):
            yield entry
        elif entry.is_file() and not entry.name.startswith("."):
            unlikely.append(entry)


def _may_be_source(path: Path, pages: tuple[str, ...]) -> bool:
    return path.suffix in _TEXTS or path.name.startswith(".env") or path.name.lower().endswith(pages)


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


def read_answers(path: Path) -> Source:
    """An earlier spec, whose answers are to be kept. Raises FilesError."""
    source = read_source(path, str(path), LIMIT_BYTES)
    if included_by(source):
        raise FilesError(
            "adopt-source-unreadable", f"{shown(str(path))} includes other files, and adopting writes one file",
            path=str(path), advice="adopt into a new file with -o, and move what you need by hand",
        )  # fmt: skip
    return source


def _is_one_file(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other)
    except OSError:
        return False


def write_spec(path: Path, text: str, before: Source | None = None) -> None:
    """Write a spec where nothing is yet, or in place of the one that was read `before`. Raises FilesError.

    One that already says exactly this is left alone.
    """
    if before is not None and _is_one_file(path, Path(before.name)):
        write_sources([before], [Source(before.name, text)], LIMIT_BYTES)
        return
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
            advice=f"add --answers {name}, which keeps your answers in the new file, or name another file with -o",
        ) from problem  # fmt: skip
