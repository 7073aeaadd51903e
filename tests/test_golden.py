"""The example fleets against their committed trees, an overlay against its goldens, and the silence of all of them.

In: the specs of `inventories/`. Out: nothing, or what differs. The snapshot of a fleet is its directory `rendered/`
itself: `pytest --snapshot-update` writes and removes there what `fleetc compile` would. Git has these directories
without the playbooks, which are the same in each: `tests/emit/test_ansible.py` compares those with `playbooks/`.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import ClassVar

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.data import SnapshotCollection, SnapshotCollections
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from syrupy.location import PyTestLocation
from syrupy.types import SerializableData, SerializedData, SnapshotIndex

from fleetc.disk import files
from fleetc.emit.tree import MANIFEST, Artifact, Tree
from tests.support import EXAMPLES, INVENTORIES, ROOT, compiled_example, example_sources, printed, shipped

CASES = {**{name: (name,) for name in EXAMPLES}, "two-regions-staging": ("two-regions", "staging.toml")}
OVERLAY_HOSTS = ("eu-ai", "eu-edge-1", "eu-edge-2", "eu-gpu-1", "eu-gpu-2")
BETWEEN = "\n=====\n"


class JoinedTree(SingleFileSnapshotExtension):
    """One readable text file for each snapshot."""

    file_extension = "txt"
    _write_mode = WriteMode.TEXT


class Committed(SingleFileSnapshotExtension):
    """The snapshot named for an example fleet is what stands beside its spec."""

    _write_mode = WriteMode.TEXT
    entry: ClassVar[str]
    """Its name beside the spec."""

    @classmethod
    def get_location(cls, *, test_location: PyTestLocation, index: SnapshotIndex) -> str:
        return str(INVENTORIES / str(index) / cls.entry)

    @classmethod
    def matches_test_location(cls, *, test_location: PyTestLocation, snapshot_location: str) -> bool:
        return Path(snapshot_location).is_relative_to(INVENTORIES)

    def discover_snapshots(
        self, *, test_location: PyTestLocation, ignore_extensions: list[str] | None = None
    ) -> SnapshotCollections:
        return SnapshotCollections()  # nothing there is a leftover of a test


class CommittedTree(Committed):
    """The directory with its tree, but no playbooks. Files that nothing makes differ in the text of all of it."""

    entry = "rendered"

    def read_snapshot_data_from_location(
        self, *, snapshot_location: str, snapshot_name: str, session_id: str
    ) -> SerializableData | None:
        return exact(without_playbooks(on_disk(Path(snapshot_location))))

    @classmethod
    def write_snapshot_collection(
        cls, *, snapshot_collection: SnapshotCollection, name_order: dict[str, int] | None = None
    ) -> None:
        target = Path(snapshot_collection.location)
        done = files.write_tree(tree_of(target.parent.name), target, overwrite_edited=True)
        assert done.foreign == (), f"{target} holds what fleetc did not write"

    def diff_lines(self, serialized_data: SerializedData, snapshot_data: SerializedData) -> Iterator[str]:
        """The names of the files that differ, then those files: whole trees, line by line, would take minutes."""
        mine, theirs = ({*str(data).split(BETWEEN)} for data in (serialized_data, snapshot_data))
        yield f"run make render; these differ: {', '.join(sorted({part.split(' ')[0] for part in mine ^ theirs}))}"
        yield from super().diff_lines(BETWEEN.join(sorted(mine - theirs)), BETWEEN.join(sorted(theirs - mine)))


def exact(artifacts: Iterable[Artifact]) -> str:
    """A tree as a text that is equal only for equal paths, bytes and rights to execute, as far as git keeps them."""
    return BETWEEN.join(
        f"{a.path} {'executable ' * bool(a.mode & 0o100)}{a.sha256}\n{a.content.decode(errors='backslashreplace')}"
        for a in artifacts
    )


def on_disk(directory: Path) -> Iterator[Artifact]:
    """Everything in a directory but its directories, sorted by path."""
    for path in sorted(directory.rglob("*"), key=lambda path: path.relative_to(directory).as_posix()):
        if path.is_symlink():
            yield Artifact(path.relative_to(directory).as_posix(), b"a link")
        elif not path.is_dir():
            yield Artifact(path.relative_to(directory).as_posix(), path.read_bytes(), path.stat().st_mode)


@cache
def playbooks() -> frozenset[str]:
    """The paths of the playbooks in each tree."""
    return frozenset(f"ansible/{path}" for path in shipped()[1])


def without_playbooks(artifacts: Iterable[Artifact]) -> Iterator[Artifact]:
    return (artifact for artifact in artifacts if artifact.path not in playbooks())


def tree_of(case: str) -> Tree:
    tree = compiled_example(*CASES[case]).tree
    assert tree is not None
    return tree


@pytest.mark.parametrize("name", EXAMPLES)
def test_committed_tree_is_what_the_spec_compiles_to(name: str, snapshot: SnapshotAssertion) -> None:
    committed = snapshot.use_extension(CommittedTree)
    assert exact(without_playbooks(tree_of(name).artifacts)) == committed(name=name)


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")
@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("name", EXAMPLES)
def test_git_ignores_the_playbooks_of_a_tree_and_nothing_else(name: str) -> None:
    paths = [artifact.path for artifact in tree_of(name).artifacts]
    done = subprocess.run(
        ["git", "-c", "core.excludesFile=", "check-ignore", "--stdin"],
        cwd=INVENTORIES / name / CommittedTree.entry,
        input="\n".join(paths),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [path for path in paths if path in playbooks()]


@pytest.mark.parametrize("case", CASES)
def test_example_compiles_without_a_warning(case: str) -> None:
    checked = compiled_example(*CASES[case]).checked
    assert checked.diagnostics == (), printed(checked, example_sources(*CASES[case]))


# --- the overlay, whose tree nobody commits ----------------------------------------------------------


@pytest.fixture
def golden(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(JoinedTree)


def joined(artifacts: Iterable[Artifact], whole: bool = True) -> str:
    parts = []
    for artifact in artifacts:
        parts.append(f"===== {artifact.path} {artifact.mode:04o} =====\n")
        if whole:
            parts.append(artifact.content.decode())
    return "".join(parts)


@pytest.mark.parametrize("host", OVERLAY_HOSTS)
def test_host_artifacts_of_the_overlay(host: str, golden: SnapshotAssertion) -> None:
    prefix = (f"hosts/{host}/", f"ansible/host_vars/{host}.json")
    assert joined(a for a in tree_of("two-regions-staging").artifacts if a.path.startswith(prefix)) == golden


def test_fleet_artifacts_of_the_overlay(golden: SnapshotAssertion) -> None:
    per_host = ("hosts/", "ansible/host_vars/")
    tree = tree_of("two-regions-staging").artifacts
    assert {a.path.split("/")[1] for a in tree if a.path.startswith("hosts/")} == {*OVERLAY_HOSTS}
    # The manifest repeats the digests of what stands in the other goldens.
    mine = [a for a in tree if not a.path.startswith(per_host) and a.path not in playbooks() and a.path != MANIFEST]
    assert joined(mine) + joined((a for a in tree if a.path in playbooks()), whole=False) == golden
