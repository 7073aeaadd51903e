"""Trees of a spec that are known here, so that the release of a host can be told by what it means.

In: a spec, the settings, hosts, and the tree that a user names, if any. Out: `Known` trees: that one, then committed
ones, newest first, on demand the one on disk, and those of specs that rollouts kept; and why none has a release.
Called by `plan` and `rollback`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path

from fleetc.cli.shared.baseline import tree_at
from fleetc.disk import files, git
from fleetc.disk.manifest import FilesError
from fleetc.emit.tree import FILE_MODE, HOST_VARIABLES, Artifact
from fleetc.pipeline import compile_spec
from fleetc.planner.data import HostState
from fleetc.planner.states import RecordError, recorded_state, recorded_states
from fleetc.review.sides import Side, of_compiled, of_recorded, sources_in
from fleetc.rollout.plan.meaning import Known
from fleetc.settings import Settings

MOST = 100
"""How many commits are looked at."""


class KnownTrees:
    """The trees, read on demand."""

    def __init__(
        self,
        spec: Path,
        settings: Settings,
        hosts: Collection[str],
        named: Side | None = None,
        here: bool = False,
        specs: Callable[[], Iterable[Mapping[str, bytes]]] = tuple,
    ) -> None:
        self._base, self._settings, self._named, self._here = files.find_spec(spec), settings, named, here
        self._wanted = {f"{host}.json" for host in hosts}
        self._folder = settings.tree_of(self._base)
        self._specs = specs
        self._read: dict[str, Known | None] = {}

    def __iter__(self) -> Iterator[Known]:
        if self._named is not None:
            yield _of(self._named)
        for commit in self._commits:
            if commit.revision.commit not in self._read:
                self._read[commit.revision.commit] = self._known(commit)
            known = self._read[commit.revision.commit]
            if known is not None:
                yield known
        if self._here and self._lying is not None:
            yield _of(self._lying)
        yield from map(_of, self._compiled)

    def why(self) -> str:
        """Why a release is in none of the trees, and what to do about it."""
        try:
            commits = git.commits_of(self._base, self._folder, MOST)
            cut = bool(commits) and git.is_shallow(commits[0].revision)
        except FilesError as failure:
            return f"git has no earlier trees: {failure.message}"
        if not commits:
            return f"{self._folder.name}/ is in no commit, so no earlier tree is known: commit it before each rollout"
        many = "the only commit" if len(commits) == 1 else f"the last {len(commits)} commits"
        looked = f"{many} of {self._folder.name}/ {'was' if len(commits) == 1 else 'were'} looked at"
        if cut:
            return f"{looked}; this clone has no more, so fetch all of its history"
        return f"{looked}: a tree is found there if it is committed before it is rolled out"

    @cached_property
    def _commits(self) -> list[git.Commit]:
        try:
            return git.commits_of(self._base, self._folder, MOST)
        except FilesError:
            return []  # `why` says it, if a release is found nowhere else

    @cached_property
    def _compiled(self) -> list[Side]:
        """What the specs that rollouts kept compile to now; another fleetc may make other files of them."""
        compiled = [compile_spec(sources_in("the spec", texts), *files.read_shipped()) for texts in self._specs()]
        return [of_compiled("the spec that was rolled out", one) for one in compiled if one.tree is not None]

    @cached_property
    def _lying(self) -> Side | None:
        """The tree as it is in its directory; None if none can be read."""
        try:
            return of_recorded(f"{self._folder.name}/ as it is here, in no commit", files.read_tree(self._folder))
        except FilesError:
            return None

    def _known(self, commit: git.Commit) -> Known | None:
        """The tree of a commit; None if none can be read."""
        try:
            contents = git.files_below(commit.revision, self._folder / HOST_VARIABLES, self._wanted.__contains__)
        except FilesError:
            return None
        states = {state.host: state for name, content in contents.items() if (state := _state(name, content))}
        name = f"{self._folder.name}/ of commit {commit.revision.name} of {commit.day}"
        return Known(name, states, cache(lambda: tree_at(commit.revision, self._folder, name)))


def _of(side: Side) -> Known:
    return Known(side.name, recorded_states(side.tree()), lambda: side)


def _state(name: str, content: bytes) -> HostState | None:
    try:
        return recorded_state(Artifact(HOST_VARIABLES + name, content, FILE_MODE))
    except RecordError:  # another fleetc wrote it, or it was edited
        return None
