"""The checkout that a path belongs to, found without letting git search for it. Runs `git` with a list of arguments,
never through a shell.

In: paths. Out: a `Checkout`, which runs git on exactly its repository, or a `FilesError`. Called by `git.py`.

git accepts any directory that looks like a repository: `HEAD`, `objects` and `refs` committed beside a spec are enough.
A reviewed change may choose the `main` of a submodule. So only a `.git` counts here, because no commit can add one, and
none at a place that an enclosing checkout tracks. Everything that a repository's configuration could make git run is
turned off: pagers, hooks, file system monitors, filters and fetches.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fleetc.disk.manifest import FilesError, shown

_HARMLESS = (
    "--no-pager",
    "--no-replace-objects",
    "-c", "safe.bareRepository=explicit",
    "-c", "core.fsmonitor=false",
    "-c", "core.hooksPath=/dev/null",
    "-c", "core.sshCommand=false",
    "-c", "core.askPass=",
    "-c", "credential.helper=",
    "-c", "protocol.allow=never",
    "-c", "diff.external=",
    "-c", "log.showSignature=false",
)  # fmt: skip
_QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",  # none at all, despite protocol.NAME.allow; older gits fetch lazily all the same
    "GIT_GRAFT_FILE": os.devnull,  # the real parents of a commit
    "LC_ALL": "C",
}
_KEPT = ("GIT_CONFIG_",)
"""Variables of git that are the user's own settings; all others point it elsewhere or make it run or print things."""
_CEILINGS = "GIT_CEILING_DIRECTORIES"
_SECONDS = 60
_LINKS = 40
"""Links that are followed on the way to a file, as many as Linux follows."""
_OTHERWISE = "name a directory or a spec file to compare with"


class NoRepositoryError(FilesError):
    """There is no git, or no checkout around a path: nothing could be a revision."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """A checkout: its `top` without links, its git directory and the shared one of linked worktrees, and the program
    git."""

    top: Path
    git_dir: Path
    common_dir: Path
    program: str

    def run(self, *arguments: str, typed: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """Run git on exactly this repository. Raises `FilesError` git-unavailable."""
        explicit = (f"--git-dir={self.git_dir}", f"--work-tree={self.top}")
        return _git(self.program, self.top, (*explicit, *arguments), typed=typed)

    def answer(self, *arguments: str, typed: bytes = b"") -> bytes:
        """The output of a git command that always succeeds. Raises `FilesError` git-unavailable."""
        done = self.run(*arguments, typed=typed)
        if done.returncode:
            raise _unread(self.top, done)
        return done.stdout

    def commit(self, name: str) -> str:
        """The id of the commit that has this name; empty when none has."""
        answer = self.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        return "" if answer.returncode else answer.stdout.decode("ascii", "replace").strip()

    def has(self, place: Path, revision: str = "HEAD") -> bool:
        """Whether its index, HEAD or a revision has an entry at a path from the top, below it, or a non-directory on
        the way. Upper and lower case are one, as they are on some disks."""
        wanted = _folded(place.parts)
        index = self.answer("ls-files", "-z").split(b"\0")[:-1]
        if any(_meet(_folded(os.fsdecode(entry).split("/")), wanted) for entry in index):
            return True
        return any(self._tree_has(commit, wanted) for commit in {self.commit("HEAD"), self.commit(revision)} - {""})

    def _tree_has(self, commit: str, wanted: Sequence[str]) -> bool:
        trees = [commit]
        for name in wanted:
            listed = b"".join(self.answer("ls-tree", "-z", "--full-tree", tree) for tree in trees)
            trees = []
            for entry in listed.split(b"\0")[:-1]:
                facts, _, path = entry.partition(b"\t")
                _, kind, oid = facts.decode("ascii").split()
                if _folded([os.fsdecode(path)]) == [name]:
                    if kind != "tree":
                        return True
                    trees.append(oid)
        return bool(trees)


def checkout_of(path: Path, revision: str = "HEAD") -> Checkout:
    """The checkout that a file belongs to, which need not exist; `revision` is what it should be compared with.

    It is the one around the place as it is written. Otherwise the link was made by hand, and its target's checkout
    counts. Raises `FilesError` git-unavailable, git-checkout-nested; `NoRepositoryError` if there is none.
    """
    places = list(stages(path))
    program = _program(places)
    checkouts: list[tuple[Path, Checkout]] = []
    for place in places:
        checkouts = _checkouts(place, program) or checkouts
        if checkouts and place != places[-1] and checkouts[-1][1].has(place.relative_to(checkouts[-1][0]), revision):
            break
    if not checkouts:
        message = f"{shown(str(path))} is not in a readable git repository"
        advice = f"run it inside the repository, or {_OTHERWISE}"
        raise NoRepositoryError("git-unavailable", message, path=str(path), advice=advice)
    *around, (top, checkout) = checkouts
    for outer_top, outer in around:
        submodule = checkout.git_dir.is_relative_to(outer.common_dir / "modules")
        if submodule or outer.has(top.relative_to(outer_top), revision):
            message = f"{shown(str(top))} is a separate repository inside the checkout {shown(str(outer_top))}, "
            message += "which tracks that place too: the change under review could choose its branches"
            advice = f"clone that repository to its own directory and run it there, or {_OTHERWISE}"
            raise FilesError("git-checkout-nested", message, path=str(path), advice=advice)
    return checkout


def stages(path: Path) -> Iterator[Path]:
    """A path as it is written, absolute, then with one link more followed each time; the last one has none."""
    place = _without_dots(path.absolute())
    for _ in range(_LINKS):
        yield place
        link = _first_link(place)
        if link is None:
            return
        place = _without_dots(link.parent / link.readlink() / place.relative_to(link))


def need_plain_directories(checkout: Checkout, paths: Iterable[Path]) -> None:
    """Raise `FilesError` git-directory-in-checkout if a directory from the top to one of these paths looks like a
    repository."""
    for path in paths:
        for directory in dict.fromkeys(_real(each) for place in stages(path) for each in (place, *place.parents)):
            if directory.is_relative_to(checkout.top) and _looks_like_repository(directory):
                name = shown(str(directory.relative_to(checkout.top)))
                message = f"{name} looks like a git repository inside a checkout: git run there reads its "
                message += "history instead of the checkout's, and a change could add both"
                advice = f"find out who added these files and remove them, or {_OTHERWISE}"
                raise FilesError("git-directory-in-checkout", message, path=str(directory), advice=advice)


def _looks_like_repository(directory: Path) -> bool:
    """As git decides it, without reading HEAD; `commondir` names another place for objects and refs."""
    held = {name for name in ("HEAD", "objects", "refs", "commondir") if os.path.lexists(directory / name)}
    return "HEAD" in held and ("commondir" in held or held >= {"objects", "refs"})


def _first_link(path: Path) -> Path | None:
    # pathlib raises where it may not look
    return next((part for part in (*reversed(path.parents), path) if os.path.islink(part)), None)  # noqa: PTH114


def _without_dots(path: Path) -> Path:
    """Without `..`, which behind a link leads elsewhere than one name back."""
    if ".." not in path.parts:
        return path
    end = len(path.parts) - path.parts[::-1].index("..")
    return _real(Path(*path.parts[:end])).joinpath(*path.parts[end:])


def _real(path: Path) -> Path:
    """Without links; unlike `Path.resolve`, links in a circle are no error."""
    return Path(os.path.realpath(path))


def _folded(names: Sequence[str]) -> list[str]:
    return [unicodedata.normalize("NFC", name).casefold() for name in names]


def _meet(path: Sequence[str], other: Sequence[str]) -> bool:
    """Whether one path is the other, or leads to it."""
    return all(mine == theirs for mine, theirs in zip(path, other, strict=False))


# --- finding --------------------------------------------------------------------------------------


def _tops(place: Path) -> list[Path]:
    """The directories with a `.git` around a file or the first link to it, outermost first, up to the user's
    ceilings."""
    tops = []
    nearest = _first_link(place) or place
    for directory in nearest.parents:
        if directory != nearest.parent and _real(directory) in _ceilings():
            break
        entry = directory / ".git"
        if os.path.isfile(entry) or _looks_like_repository(entry):  # noqa: PTH113  # pathlib raises, as above
            tops.append(directory)
    return tops[::-1]


def _ceilings() -> set[Path]:
    """The user's ceilings for git's upward search."""
    named = (Path(name) for name in os.environ.get(_CEILINGS, "").split(os.pathsep) if name)
    return {_real(path) for path in named if path.is_absolute()}


def _program(places: Sequence[Path]) -> str:
    """The git on PATH that no checkout brings: relative entries do not count, nor those inside of what is reviewed."""
    inner = [_real(top) for place in places for top in _tops(place)[-1:]]
    kept = [
        entry
        for entry in os.get_exec_path()
        if Path(entry).is_absolute() and not any(_real(Path(entry)).is_relative_to(top) for top in inner)
    ]
    program = shutil.which("git", path=os.pathsep.join(kept))
    if program is None:
        message = "cannot run git: PATH has none, or only one inside the checkout"
        advice = f"install git, or {_OTHERWISE}"
        raise NoRepositoryError("git-unavailable", message, path=str(places[0]), advice=advice)
    return program


def _checkouts(place: Path, program: str) -> list[tuple[Path, Checkout]]:
    """The checkouts around a file, outermost first, each with its top as the path writes it."""
    candidates = ((top, _checkout_at(top, program)) for top in _tops(place))
    return [(top, checkout) for top, checkout in candidates if checkout is not None]


def _checkout_at(top: Path, program: str) -> Checkout | None:
    """The checkout of a directory that has a `.git`; None for a bare repository, or one with its files elsewhere.

    git only gets the ceiling, so it checks the owner of the repository. Raises `FilesError` git-unavailable when it
    refuses, or cannot read the repository.
    """
    real = _real(top)
    wanted = (
        "--is-bare-repository",
        "--is-inside-work-tree",
        "--show-prefix",
        "--absolute-git-dir",
        "--git-common-dir",
    )
    done = _git(program, real, ("rev-parse", *wanted), {_CEILINGS: str(real.parent)})
    answers = os.fsdecode(done.stdout).split("\n")[:-1]
    if done.returncode or len(answers) != len(wanted):
        raise _unread(top, done)
    bare, inside, prefix, git_dir, common = answers
    if bare == "true" or inside != "true" or prefix:
        return None
    return Checkout(real, _real(Path(git_dir)), _real(real / common), program)


def run_beside(path: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run git for what needs no repository, in the directory of a file. Raises `FilesError` git-unavailable."""
    place = path.absolute()
    return _git(_program([place]), place.parent, arguments)


def _unread(top: Path, done: subprocess.CompletedProcess[bytes]) -> FilesError:
    reason = os.fsdecode(done.stderr).strip().partition("\n")[0].removeprefix("fatal: ") or f"exit {done.returncode}"
    message = f"git cannot read the repository of {shown(str(top))}: {shown(reason)}"
    return FilesError("git-unavailable", message, path=str(top), advice=f"fix that, or {_OTHERWISE}")


def _git(
    program: str,
    directory: Path,
    arguments: Sequence[str],
    more: Mapping[str, str] | None = None,
    typed: bytes = b"",
) -> subprocess.CompletedProcess[bytes]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name.startswith(_KEPT)}
    try:
        return subprocess.run(
            [program, *_HARMLESS, *arguments],
            cwd=directory,
            env={**kept, **_QUIET, **(more or {})},
            input=typed,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as failure:
        message = f"cannot run git in {shown(str(directory))}: {shown(str(failure))}"
        raise FilesError(
            "git-unavailable", message, path=str(directory), advice=f"install git, or {_OTHERWISE}"
        ) from None
