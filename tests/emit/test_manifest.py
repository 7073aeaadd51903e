"""The manifest lists the tree exactly, and the disk door reads it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from fleetc.disk.files import read_tree, write_tree
from fleetc.emit.tree import MANIFEST
from fleetc.toml.document import Source
from tests.emit import support

SOURCES = (Source("/some/where/fleet.toml", "spec = 1\n"), Source("C:\\there\\staging.toml", ""))


def test_manifest_lists_every_other_file_with_its_digest() -> None:
    """But for those with facts about several nodes: two changes would meet in the digest."""
    tree = support.emitted(support.plan(), SOURCES)
    files = {f["path"]: f for f in json.loads(support.text(tree, MANIFEST))["files"]}
    assert set(files) == {a.path for a in tree.artifacts} - {MANIFEST}
    for path, file in files.items():
        artifact = tree.as_mapping()[path]
        pages = ("/README.md", "/inventory.json", "/rollout.json", "/host_vars/gpu-1.json")  # it has two nodes
        shared = not path.startswith(("hosts/", "ansible/")) or path.endswith(pages)
        assert file.get("sha256") == (None if shared else hashlib.sha256(artifact.content).hexdigest())
        assert (file["mode"], file["origins"]) == ("0644", list(artifact.origins))
    assert list(files) == sorted(files)


def test_manifest_names_inputs_without_their_directories() -> None:
    tree = support.emitted(support.plan(), SOURCES)
    manifest = json.loads(support.text(tree, MANIFEST))
    assert [s["name"] for s in manifest["spec"]] == ["fleet.toml", "staging.toml"]
    assert manifest["node_releases"] == ["v0.9.1"]
    assert "/some/where" not in support.text(tree, MANIFEST)


def test_origins_are_the_tables_behind_a_file() -> None:
    tree = support.emitted(support.plan()).as_mapping()
    assert tree["hosts/edge-1/gw-eu/node.env"].origins == ("fleet", "gateways.gw-eu", "hosts.edge-1", "wallets.main")
    assert tree["hosts/edge-1/gw-eu/launch.flags"].origins == ("gateways.gw-eu", "hosts.edge-1")


def test_equal_plans_give_equal_trees() -> None:
    assert support.emitted(support.plan(), SOURCES) == support.emitted(support.plan(), SOURCES)


def test_tree_can_be_written_and_read_back(tmp_path: Path) -> None:
    tree = support.emitted(support.plan(), SOURCES)
    write_tree(tree, tmp_path / "rendered")
    assert [(a.path, a.content, a.origins) for a in read_tree(tmp_path / "rendered").artifacts] == [
        (a.path, a.content, a.origins) for a in tree.artifacts
    ]
    assert write_tree(tree, tmp_path / "rendered").written == ()
