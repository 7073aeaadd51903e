"""Each example fleet: its whole tree as one text for each host, its committed tree, and its silence."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from fleetc.disk import files
from fleetc.emit.tree import MANIFEST, Artifact, Tree
from fleetc.pipeline import Compiled, compile_spec
from tests.support import EXAMPLES, ROOT, printed, shipped, sources_of


class JoinedTree(SingleFileSnapshotExtension):
    """One readable text file for each snapshot."""

    file_extension = "txt"
    _write_mode = WriteMode.TEXT


@pytest.fixture
def golden(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(JoinedTree)


CASES = {name: (f"{name}/fleet.toml",) for name in EXAMPLES} | {
    "two-regions-staging": ("two-regions/fleet.toml", "two-regions/staging.toml")
}


def compiled(case: str) -> Compiled:
    return compile_spec(sources_of(*[ROOT / "inventories" / name for name in CASES[case]]), *shipped())


def joined(artifacts: list[Artifact], whole: bool = True) -> str:
    parts = []
    for artifact in artifacts:
        parts.append(f"===== {artifact.path} {artifact.mode:04o} =====\n")
        if whole:
            parts.append(artifact.content.decode())
    return "".join(parts)


def tree_of(case: str) -> Tree:
    tree = compiled(case).tree
    assert tree is not None
    return tree


HOSTS = [(case, host.name) for case in CASES for host in (compiled(case).blueprint or pytest.fail(case)).hosts]


@pytest.mark.parametrize(("case", "host"), HOSTS, ids=[f"{case}-{host}" for case, host in HOSTS])
def test_host_artifacts(case: str, host: str, golden: SnapshotAssertion) -> None:
    prefix = (f"hosts/{host}/", f"ansible/host_vars/{host}.json")
    found = [a for a in tree_of(case).artifacts if a.path.startswith(prefix)]
    assert joined(found) == golden


@pytest.mark.parametrize("case", CASES)
def test_fleet_artifacts(case: str, golden: SnapshotAssertion) -> None:
    static = {f"ansible/{path}" for path in shipped()[1]}
    per_host = ("hosts/", "ansible/host_vars/")
    mine = [a for a in tree_of(case).artifacts if not a.path.startswith(per_host) and a.path not in static]
    assert [a.path for a in mine if a.path == MANIFEST] == [MANIFEST]
    # The manifest repeats the digests of what stands in the other goldens.
    text = joined([a for a in mine if a.path != MANIFEST])
    listing = joined([a for a in tree_of(case).artifacts if a.path in static], whole=False)
    assert text + listing == golden


@pytest.mark.parametrize("case", CASES)
def test_example_compiles_without_a_warning(case: str) -> None:
    sources = sources_of(*[ROOT / "inventories" / name for name in CASES[case]])
    checked = compile_spec(sources, *shipped()).checked
    assert checked.diagnostics == (), printed(checked, sources)


@pytest.mark.parametrize("name", EXAMPLES)
def test_committed_tree_is_what_the_spec_compiles_to(name: str) -> None:
    assert files.stale(tree_of(name), ROOT / "inventories" / name / "rendered") == ()
