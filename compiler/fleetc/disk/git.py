"""Reads files as they were at a revision, from the repository that `checkout.py` finds.

In: the name of a revision, paths. Out: a `Revision`, contents of files, or a `FilesError`. Called by
`cli/shared/baseline.py`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from fleetc.disk.checkout import Checkout, NoRepositoryError, checkout_of, need_plain_directories, run_beside, stages
from fleetc.disk.manifest import LIMIT_BYTES, FilesError, shown

_NO_REVISION = re.compile(r"[-^]|.*(?:[\s:?*\[\\]|\.\.)")
"""Beginnings of options and exclusions; and characters, or dots of a range, that no branch or tag has in its name."""
_LONGEST = 250
_SHOWN = 12  # characters of the id of a commit
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_STEPS = re.compile(r"[~^]|@\{")
"""Where the name of a ref ends and the way from it to another commit begins."""
_SHORT_ID = re.compile(r"(?:.*-g)?([0-9a-f]{4,})", re.IGNORECASE)
"""The beginning of an id, alone or as `git describe` writes it."""
_TREE_LIMIT_BYTES = 1024 * 1024 * 1024  # a tree of 10,000 nodes has 53 MB


@dataclass(frozen=True, slots=True)
class Revision:
    """A commit by the user's `name` for it, and its checkout."""

    name: str
    commit: str
    checkout: Checkout


def looks_like_revision(text: str) -> bool:
    """Whether a text can be the name of one revision: no option, no range, nothing that git refuses in names."""
    return 0 < len(text) <= _LONGEST and text.isprintable() and not _NO_REVISION.match(text)


def find_revision(name: str, spec: Path, beside: Iterable[Path] = ()) -> Revision | None:
    """The revision of this name in the repository of a spec; None if there is none. `beside` are the other files and
    directories that will be asked for.

    Raises `FilesError` git-unavailable, git-checkout-nested, git-directory-in-checkout, and baseline-ambiguous where
    several commits have that name; `NoRepositoryError` where there is no git or no repository.
    """
    if not looks_like_revision(name):
        return None
    checkout = checkout_of(spec, name)
    need_plain_directories(checkout, (spec, *beside))
    commit = checkout.commit(name)
    if not _COMMIT.fullmatch(commit):
        return None
    ref = _STEPS.split(name, maxsplit=1)[0]
    if ref.startswith("refs/"):  # a tag may be called refs/heads/main too
        return Revision(name, commit, checkout) if _is_ref(checkout, ref) else None
    if ref not in ("", "@", "HEAD") and not (len(ref) == len(commit) and _SHORT_ID.fullmatch(ref)):
        _need_one_meaning(checkout, name, ref)
    return Revision(name, commit, checkout)


def _is_ref(checkout: Checkout, ref: str) -> bool:
    return not checkout.run("show-ref", "--verify", "--quiet", "--", ref).returncode


def _need_one_meaning(checkout: Checkout, name: str, ref: str) -> None:
    """Raise `FilesError` baseline-ambiguous if a name matches several commits.

    git takes a tag for it before a branch, and both before an id that begins so. A pushed tag can have the name of any
    branch, of this clone or of its origin.
    """
    tag = f"refs/tags/{ref}"
    named = {f"refs/{ref}", f"refs/heads/{ref}", f"refs/remotes/{ref}", f"refs/remotes/{ref}/HEAD"}
    listed = checkout.answer("for-each-ref", "--format=%(refname)", "--", tag, *sorted(named), f"refs/remotes/*/{ref}")
    refs = os.fsdecode(listed).splitlines()
    meanings = [full for full in refs if full in {tag, *named} or (tag in refs and full.endswith(f"/{ref}"))]
    short = _SHORT_ID.fullmatch(ref)
    if meanings and short:
        meanings += checkout.answer("rev-parse", f"--disambiguate={short[1]}").decode("ascii").split()
    commits = {full: commit for full in meanings if (commit := checkout.commit(full))}
    if len(set(commits.values())) > 1:
        all_of_them = " and ".join(shown(full) for full in commits)
        message = f"{shown(name)} matches several git commits: {all_of_them}"
        advice = "write the full name, such as refs/heads/NAME for a branch, or the full commit id"
        raise FilesError("baseline-ambiguous", message, path=name, advice=advice)


def belongs(revision: Revision, path: Path) -> bool:
    """Whether a file is in the checkout of a revision and in no other. Raises `FilesError` git-checkout-nested."""
    try:
        return checkout_of(path, revision.name).top == revision.checkout.top
    except NoRepositoryError:
        return False


# --- files ----------------------------------------------------------------------------------------


def read_at(revision: Revision, path: Path, limit_bytes: int = LIMIT_BYTES) -> bytes | None:
    """The content of a file at a revision, through the links as they were then; None where it had nothing there.

    Raises `FilesError` git-file-missing for what is no file, or outside of the repository, git-content-missing for what
    the clone was made without, and spec-too-large.
    """
    checkout, names = revision.checkout, _names(revision, path)
    for name in names:
        object_name = f"{revision.commit}:{name}"
        done = checkout.run("cat-file", "--batch-check", "--follow-symlinks", typed=os.fsencode(object_name) + b"\n")
        if done.returncode:
            raise _lacking(revision, path, name)
        answer = done.stdout.partition(b"\n")[0].split(b" ")
        if answer[-1] == b"missing" or answer[0] == b"notdir":
            if _in_submodule(revision, name):
                break
            if checkout.has(Path(name)):
                return None  # it is new: where a link leads to is no former state of it
            continue
        if len(answer) != 3 or answer[1] != b"blob":
            break  # a directory, or a link that leads nowhere, round in circles or out of the repository
        if int(answer[2]) > limit_bytes:
            message = f"{shown(name)} at {shown(revision.name)} is larger than {limit_bytes} bytes"
            raise FilesError("spec-too-large", message, path=str(path), advice="split the fleet, or raise the limit")
        return checkout.answer("cat-file", "blob", answer[0].decode("ascii"))
    else:
        if names:
            return None
    raise missing_at(revision, path)


def missing_at(revision: Revision, path: Path) -> FilesError:
    """Why a required file of a revision cannot be read."""
    name = next(iter(_names(revision, path)), str(path))
    message = f"{shown(name)} is not a file at {shown(revision.name)}"
    advice = "name a revision that has it, or a directory or spec file to compare with"
    return FilesError("git-file-missing", message, path=str(path), advice=advice)


class Commit(NamedTuple):
    """A commit and the day of it, such as 2026-01-31."""

    revision: Revision
    day: str


def commits_of(spec: Path, directory: Path, most: int) -> list[Commit]:
    """The last commits of any branch that changed a directory, newest first; empty without a repository.

    Raises `FilesError` git-unavailable, git-checkout-nested and git-directory-in-checkout.
    """
    try:
        checkout = checkout_of(spec)
    except NoRepositoryError:
        return []
    need_plain_directories(checkout, (spec, directory))
    head = Revision("HEAD", checkout.commit("HEAD"), checkout)
    names = [f":(top,literal){name}" for name in _names(head, directory) if name]
    if not head.commit or not names:
        return []
    words = ("log", f"--max-count={most}", "--format=%H %cs", "--branches", "--remotes", "HEAD", "--", *names)
    lines = checkout.answer(*words).decode("ascii", "replace").splitlines()
    pairs = (line.partition(" ")[::2] for line in lines)
    return [Commit(Revision(commit[:_SHOWN], commit, checkout), day) for commit, day in pairs]


def is_shallow(revision: Revision) -> bool:
    """Whether the clone was made without the older part of the history."""
    return revision.checkout.answer("rev-parse", "--is-shallow-repository").strip() == b"true"


def files_below(
    revision: Revision, directory: Path, only: Callable[[str], bool] = lambda path: True
) -> dict[str, bytes]:
    """The regular files below a directory at a revision, by path in it; none where it had no such directory. `only`
    chooses among them.

    Raises `FilesError` git-content-missing.
    """
    checkout = revision.checkout
    for name in _names(revision, directory):
        if _in_submodule(revision, name):
            return {}
        object_name = f"{revision.commit}:{name}"
        listed = checkout.run("ls-tree", "-r", "-z", "-l", "--full-tree", object_name)
        if listed.returncode and not checkout.run("rev-parse", "--verify", "--quiet", object_name).returncode:
            raise _lacking(revision, directory, name)
        blobs = {path: blob for path, blob in _listed(listed.stdout) if only(path)} if not listed.returncode else {}
        if blobs and sum(size for _, size in blobs.values()) <= _TREE_LIMIT_BYTES:
            typed = b"".join(b"%s\n" % blob for blob, _ in blobs.values())
            return dict(_cut(checkout.answer("cat-file", "--batch", typed=typed), blobs))
    return {}


def _lacking(revision: Revision, path: Path, name: str) -> FilesError:
    message = f"this clone lacks the content of {shown(name)} at {shown(revision.name)}"
    advice = "fetch it, with `git fetch --refetch --no-filter`, or clone without --filter"
    return FilesError("git-content-missing", message, path=str(path), advice=advice)


def _in_submodule(revision: Revision, name: str) -> bool:
    """Whether a place was a submodule at a revision, or lay in one."""
    places = (PurePosixPath(name), *PurePosixPath(name).parents[:-1]) if name else ()
    questions = (("ls-tree", "--full-tree", revision.commit, "--", str(place)) for place in places)
    return any(revision.checkout.answer(*question).startswith(b"160000 ") for question in questions)


def merge_texts(base: Path, ours: Path, theirs: Path) -> bytes | None:
    """The text of both changes of a file; None where their lines conflict, or where it is no text.

    Raises `FilesError` git-unavailable.
    """
    done = run_beside(
        ours, "merge-file", "--stdout", "--quiet", *[str(path.absolute()) for path in (ours, base, theirs)]
    )
    return None if done.returncode else done.stdout


def _listed(output: bytes) -> Iterator[tuple[str, tuple[bytes, int]]]:
    """Path, blob and size in bytes of each regular file in the output of ls-tree."""
    for entry in output.split(b"\0")[:-1]:
        facts, _, path = entry.partition(b"\t")
        mode, _, blob, size = facts.split()
        if mode in (b"100644", b"100755"):
            yield os.fsdecode(path), (blob, int(size))


def _cut(contents: bytes, blobs: dict[str, tuple[bytes, int]]) -> Iterator[tuple[str, bytes]]:
    """What cat-file --batch writes: for each blob a line about it, its content and a line end."""
    end = 0
    for path, (_, size) in blobs.items():
        start = contents.index(b"\n", end) + 1
        yield path, contents[start : start + size]
        end = start + size + 1


def _names(revision: Revision, path: Path) -> list[str]:
    """How git may call a path of the working tree: as it is written, then with the links of today followed.

    The top of the working tree is "".
    """
    names = []
    for place in stages(path):
        if place.resolve() == revision.checkout.top:
            names.append("")
        top = next((parent for parent in reversed(place.parents) if parent.resolve() == revision.checkout.top), None)
        if top is not None:
            names.append(place.relative_to(top).as_posix())
    return [name for name in dict.fromkeys(names) if "\n" not in name]  # git reads them as lines
