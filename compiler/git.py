"""The git door: reads a file as it was at a revision. Runs `git` with a list of arguments, never through a shell.

In: a path, a revision. Out: the file's bytes, or a `FilesError`. Called by `baseline.py`. What a repository's own
configuration could make git run is switched off: pagers, hooks, monitors of the file system, filters and fetches.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from compiler.recorded import LIMIT_BYTES, FilesError, shown

_REVISION = re.compile(r"[A-Za-z0-9_@^~{}./+-]{1,250}")
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


def looks_like_revision(text: str) -> bool:
    """Whether a text can be the name of a revision: none begins with a dash or holds a space or a colon."""
    return bool(_REVISION.fullmatch(text)) and not text.startswith("-")


def commit_of(revision: str, beside: Path) -> str | None:
    """The commit that a revision means in the repository around a path; None when it means none.

    Raises `FilesError` git-unavailable where there is no git or no repository.
    """
    if not looks_like_revision(revision):
        return None
    directory = _directory(beside)
    inside = _git(directory, "rev-parse", "--is-inside-work-tree")
    if inside.returncode or inside.stdout.strip() != b"true":
        message = f"{shown(str(beside))} lies in no git repository that can be read"
        advice = "name a directory or a spec file to compare with, or run it inside the repository"
        raise FilesError("git-unavailable", message, path=str(beside), advice=advice)
    found = _git(directory, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    return found.stdout.decode("ascii", "replace").strip() if not found.returncode else None


def read_at(commit: str, path: Path, revision: str, limit_bytes: int = LIMIT_BYTES) -> bytes:
    """The content of a file at a commit. Raises `FilesError` git-file-missing, or spec-too-large."""
    real = path.resolve()
    directory = _directory(real)
    prefix = _git(directory, "rev-parse", "--show-prefix").stdout.decode("utf-8", "surrogateescape").rstrip("\n")
    name = f"{commit}:{prefix}{real.name}"
    size = _git(directory, "cat-file", "-s", name)
    if size.returncode or _git(directory, "cat-file", "-t", name).stdout.strip() != b"blob":
        message = f"{shown(prefix + real.name)} is no file at {shown(revision)}"
        advice = "name a revision that has it, or a directory or spec file to compare with"
        raise FilesError("git-file-missing", message, path=str(path), advice=advice)
    if int(size.stdout) > limit_bytes:
        message = f"{shown(prefix + real.name)} at {shown(revision)} is larger than {limit_bytes} bytes"
        advice = "split the fleet, or raise the limit"
        raise FilesError("spec-too-large", message, path=str(path), advice=advice)
    return _git(directory, "show", "--no-ext-diff", "--no-textconv", name).stdout


def _directory(path: Path) -> Path:
    return path if path.is_dir() else path.parent


def _git(directory: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name.startswith(_KEPT)}
    quiet = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
    command = ["git", *_HARMLESS, *arguments]
    try:
        return subprocess.run(
            command,
            cwd=directory,
            env={**kept, **quiet},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as failure:
        message = f"git cannot be run in {shown(str(directory))}: {shown(str(failure))}"
        advice = "install git, or name a directory or a spec file to compare with"
        raise FilesError("git-unavailable", message, path=str(directory), advice=advice) from failure
