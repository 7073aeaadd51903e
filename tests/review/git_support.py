"""Real git for the tests of reviews: run with nobody's settings, and a small history to review.

In: directories. Out: what git says, and the state of a spec at a revision as `compiler/fleetc/disk/git.py` reads it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from fleetc.disk import git
from fleetc.disk.manifest import FilesError

OLD, NEW = "old = 1\n", "new = 1\n"
"""The text of the spec on main, and on the branch that is reviewed."""


def git_in(folder: Path, *arguments: str, typed: str = "", **more: str) -> str:
    """Run git with nobody's settings; `more` are variables."""
    who = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.net"}
    who |= {"GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.net"}
    none = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    environment = {**os.environ, **who, **none, **more}
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=environment, input=typed, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def new_repository(top: Path, text: str) -> Path:
    """A repository whose branch main has a spec of this text at fleets/demo; its path."""
    spec = top / "fleets" / "demo" / "fleet.toml"
    spec.parent.mkdir(parents=True)
    git_in(top, "init", "--quiet", "--initial-branch=main")
    spec.write_text(text, encoding="utf-8")
    commit(top, "the state before")
    return spec


def change(top: Path, spec: Path, text: str) -> None:
    """A branch that changes the spec, as the one that is reviewed."""
    git_in(top, "checkout", "--quiet", "-B", "change")
    spec.write_text(text, encoding="utf-8")
    commit(top, "the change")


def commit(top: Path, message: str) -> None:
    """Commit all there is, also what looks like a repository."""
    git_in(top, "--git-dir=.git", "--work-tree=.", "add", "--all", "--force")
    git_in(top, "--git-dir=.git", "--work-tree=.", "commit", "--quiet", "--allow-empty", "--message", message)


def before(spec: Path, name: str = "main", beside: Iterable[Path] = ()) -> str | None:
    """The text of a spec at a revision; None where there was none, or no such revision."""
    revision = git.find_revision(name, spec, beside)
    content = git.read_at(revision, spec) if revision else None
    return content.decode() if content is not None else None


def refusal(spec: Path, name: str = "main", beside: Iterable[Path] = ()) -> str:
    """The code of the message with which a revision is refused."""
    with pytest.raises(FilesError) as refused:
        before(spec, name, beside)
    return refused.value.code
