"""The git door: reads files as they were at a revision. Runs `git` with a list of arguments, never through a shell.

In: the name of a revision, paths. Out: a `Revision`, contents of files, or a `FilesError`. Called by `baseline.py`.
What a repository's own configuration could make git run is switched off: pagers, hooks, monitors of the file system,
filters and fetches.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from compiler.recorded import LIMIT_BYTES, FilesError, shown

_NO_REVISION = re.compile(r"[-^]|.*(?:[\s:?*\[\\]|\.\.)")
"""Beginnings of options and exclusions; and characters, or dots of a range, that no branch or tag has in its name."""
_LONGEST = 250
_COMMIT = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_HARMLESS = (
    "--no-pager",
    "--no-replace-objects",
    "-c", "core.fsmonitor=false",
    "-c", "core.hooksPath=/dev/null",
    "-c", "core.sshCommand=false",
    "-c", "core.askPass=",
    "-c", "credential.helper=",
    "-c", "protocol.allow=never",
    "-c", "diff.external=",
    "-c", "log.showSignature=false",
)  # fmt: skip
_KEPT = ("GIT_CONFIG_", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM")
"""Variables of git that are the user's own settings; all others point it elsewhere or make it run or print things."""
_SECONDS = 60
_TREE_LIMIT_BYTES = 1024 * 1024 * 1024  # a tree of 10,000 nodes has 53 MB


@dataclass(frozen=True, slots=True)
class Revision:
    """A commit by the `name` that the user gave it, and the top directory of the repository that has it."""

    name: str
    commit: str
    top: Path


def looks_like_revision(text: str) -> bool:
    """Whether a text can be the name of one revision: no option, no range, nothing that git refuses in names."""
    return 0 < len(text) <= _LONGEST and text.isprintable() and not _NO_REVISION.match(text)


def find_revision(name: str, beside: Path) -> Revision | None:
    """The revision of this name in the repository around a path; None when there is none.

    Raises `FilesError` git-unavailable where there is no git or no repository.
    """
    if not looks_like_revision(name):
        return None
    directory = _directory(beside)
    inside = _git(directory, "rev-parse", "--is-inside-work-tree")
    if inside.returncode or inside.stdout.strip() != b"true":
        message = f"{shown(str(beside))} lies in no git repository that can be read"
        advice = "name a directory or a spec file to compare with, or run it inside the repository"
        raise FilesError("git-unavailable", message, path=str(beside), advice=advice)
    found = _git(directory, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    commit = found.stdout.strip()
    if found.returncode or not _COMMIT.fullmatch(commit):
        return None
    top = os.fsdecode(_git(directory, "rev-parse", "--show-toplevel").stdout.removesuffix(b"\n"))
    return Revision(name, commit.decode(), Path(top))


def read_at(revision: Revision, path: Path, limit_bytes: int = LIMIT_BYTES) -> bytes | None:
    """The content of a file at a revision, through the links as they were then; None where it had nothing there.

    Raises `FilesError` git-file-missing for what is no file, or outside of the repository, and spec-too-large.
    """
    names = _names(revision.top, path)
    for name in names:
        asked = b"%s:%s" % (revision.commit.encode(), os.fsencode(name))
        done = _git(revision.top, "cat-file", "--batch-check", "--follow-symlinks", typed=asked + b"\n")
        answer = done.stdout.partition(b"\n")[0].split(b" ")
        if answer[-1] == b"missing" or answer[0] == b"notdir":
            continue
        if len(answer) != 3 or answer[1] != b"blob":
            break  # a directory, or a link that leads nowhere, round in circles or out of the repository
        if int(answer[2]) > limit_bytes:
            message = f"{shown(name)} at {shown(revision.name)} is larger than {limit_bytes} bytes"
            raise FilesError("spec-too-large", message, path=str(path), advice="split the fleet, or raise the limit")
        return _git(revision.top, "cat-file", "blob", answer[0].decode()).stdout
    else:
        if names:
            return None
    raise missing_at(revision, path)


def missing_at(revision: Revision, path: Path) -> FilesError:
    """Why a file that has to be there at a revision cannot be read."""
    name = next(iter(_names(revision.top, path)), str(path))
    message = f"{shown(name)} is no file at {shown(revision.name)}"
    advice = "name a revision that has it, or a directory or spec file to compare with"
    return FilesError("git-file-missing", message, path=str(path), advice=advice)


def files_below(revision: Revision, directory: Path) -> dict[str, bytes]:
    """The regular files below a directory at a revision, by path in it; none where it had no such directory."""
    for name in _names(revision.top, directory):
        listed = _git(revision.top, "ls-tree", "-r", "-z", "-l", "--full-tree", f"{revision.commit}:{name}")
        found = dict(_listed(listed.stdout)) if not listed.returncode else {}
        if found and sum(size for _, size in found.values()) <= _TREE_LIMIT_BYTES:
            asked = b"".join(b"%s\n" % blob for blob, _ in found.values())
            contents = _git(revision.top, "cat-file", "--batch", typed=asked).stdout
            return dict(_cut(contents, found))
    return {}


def merge_texts(base: Path, ours: Path, theirs: Path) -> bytes | None:
    """The text of both changes of a file; None where their lines conflict, or where it is no text.

    Raises `FilesError` git-unavailable.
    """
    places = [str(path.absolute()) for path in (ours, base, theirs)]
    done = _git(ours.absolute().parent, "merge-file", "--stdout", "--quiet", *places)
    return None if done.returncode else done.stdout


def _listed(output: bytes) -> Iterator[tuple[str, tuple[bytes, int]]]:
    """Path, blob and size in bytes of each regular file in what ls-tree says."""
    for entry in output.split(b"\0")[:-1]:
        facts, _, path = entry.partition(b"\t")
        mode, _, blob, size = facts.split()
        if mode in (b"100644", b"100755"):
            yield os.fsdecode(path), (blob, int(size))


def _cut(contents: bytes, found: dict[str, tuple[bytes, int]]) -> Iterator[tuple[str, bytes]]:
    """What cat-file --batch writes: for each blob a line about it, its content and a line end."""
    end = 0
    for path, (_, size) in found.items():
        start = contents.index(b"\n", end) + 1
        yield path, contents[start : start + size]
        end = start + size + 1


def _names(top: Path, path: Path) -> list[str]:
    """How git may call a path of the working tree: as it is written, then with the links of today followed."""
    written = path.parent.resolve() / path.name if ".." in path.parts else path.absolute()
    found = []
    for parent in reversed(written.parents):
        if parent.resolve() == top:
            found.append(written.relative_to(parent).as_posix())
            break
    real = path.resolve()
    if real.is_relative_to(top):
        found.append(real.relative_to(top).as_posix())
    return [name for name in dict.fromkeys(found) if "\n" not in name]  # git reads them as lines


def _directory(path: Path) -> Path:
    return path if path.is_dir() else path.parent


def _git(directory: Path, *arguments: str, typed: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name.startswith(_KEPT)}
    quiet = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
    command = ["git", *_HARMLESS, *arguments]
    try:
        return subprocess.run(
            command,
            cwd=directory,
            env={**kept, **quiet},
            input=typed,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as failure:
        message = f"git cannot be run in {shown(str(directory))}: {shown(str(failure))}"
        advice = "install git, or name a directory or a spec file to compare with"
        raise FilesError("git-unavailable", message, path=str(directory), advice=advice) from failure
