"""Two people edit one fleet: what git merges without a conflict compiles to both of their changes."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from fleetc.disk import files
from fleetc.disk.merging import PLACEHOLDER, settle_manifest
from fleetc.emit.tree import MANIFEST, Tree
from fleetc.pipeline import compile_spec
from fleetc.toml.document import Source, read_document
from tests import forked
from tests.cli.test_init import git
from tests.emit.programs import program
from tests.support import example_text, fleetc, shipped

pytestmark = pytest.mark.usefixtures("processes")

Edit = Callable[[str], str]


def put(old: str, new: str) -> Edit:
    """Another text in one place."""

    def edit(text: str) -> str:
        assert text.count(old) == 1, f"{old} is there {text.count(old)} times"
        return text.replace(old, new)

    return edit


def before(header: str, *tables: str) -> Edit:
    """New tables in front of a table."""
    return put(f"[{header}]\n", "\n".join([*tables, f"[{header}]\n"]))


def both(*edits: Edit) -> Edit:
    """Several edits by one person."""

    def edit(text: str) -> str:
        for part in edits:
            text = part(text)
        return text

    return edit


def host(name: str, number: int, runtime: str = "docker") -> str:
    return f'[hosts.{name}]\naddress = "203.0.113.{number}"\npublic = "{name}.example.net"\nruntime = "{runtime}"\n'


def orchestrator(name: str, where: str, *more: str) -> str:
    lines = [f'host = "{where}"', 'mode = "video"', "max_sessions = 4", *more]
    return "\n".join([f"[orchestrators.{name}]", *lines, ""])


def model(name: str, pipeline: str, identifier: str) -> str:
    return f'[models.{name}]\npipeline = "{pipeline}"\nid = "{identifier}"\nmemory = "6 GiB"\n'


SEGMENT = model("segment", "segment-anything-2", "facebook/sam2-hiera-large")
EARNS = ('wallet = "earner"', 'price = "1250 wei / pixel"')

TWO_REGIONS: dict[str, Edit] = {
    "a cap": put(
        'orchestrators = ["eu-video-1", "eu-video-2", "us-video-1"]\nmax_price = "1500 wei / pixel"',
        'orchestrators = ["eu-video-1", "eu-video-2", "us-video-1"]\nmax_price = "1600 wei / pixel"',
    ),
    "another cap": put('max_price = "1400 wei / pixel"', 'max_price = "1450 wei / pixel"'),
    "a price for one gateway": put('{ eu-live = "1100 wei / pixel" }', '{ eu-live = "1050 wei / pixel" }'),
    "a price": put(
        'host = "eu-gpu-2"\nmode = "video"\nwallet = "earner"\nprice = "1200 wei / pixel"',
        'host = "eu-gpu-2"\nmode = "video"\nwallet = "earner"\nprice = "1250 wei / pixel"',
    ),
    "a limit": put(
        'host = "us-gpu-2"\nmode = "video"\nwallet = "earner"\nprice = "1300 wei / pixel"\nmax_sessions = 8',
        'host = "us-gpu-2"\nmode = "video"\nwallet = "earner"\nprice = "1300 wei / pixel"\nmax_sessions = 6',
    ),
    "a model": both(
        before("gateways.eu-live", SEGMENT + 'price = "4000000 wei / pixel"\n'),
        put(
            'models = [{ use = "pix2pix", warm = true, capacity = 1 }]',
            'models = [{ use = "pix2pix", warm = true, capacity = 1 }, { use = "segment" }]',
        ),
    ),
    "a price of a model": put(
        'memory = "7 GiB"\nprice = "4768371 wei / pixel"', 'memory = "7 GiB"\nprice = "4800000 wei / pixel"'
    ),
    "a node in the east": both(
        before("hosts.eu-ai", host("eu-gpu-3", 15)),
        before("orchestrators.eu-images-1", orchestrator("eu-video-3", "eu-gpu-3", *EARNS)),
    ),
    "a node in the west": both(
        before("hosts.us-ai", host("us-gpu-3", 16, "systemd")),
        before("orchestrators.us-images-1", orchestrator("us-video-3", "us-gpu-3", *EARNS)),
    ),
    "a node removed": lambda text: re.sub(r"\[gateways\.eu-images\](?s:.*?)\n\n", "", text),
    "the release": put('node_release = "v0.9.1"', 'node_release = "v0.9.0"'),
}


def watched(text: str) -> str:
    return f'{text}\n[monitoring]\nhost = "studio"\n'


DEMO: dict[str, Edit] = {
    "a limit": put("max_sessions = 4", "max_sessions = 6"),
    "a ladder": put('"P240p30fps16x9", "P360p30fps16x9"', '"P240p30fps16x9", "P720p30fps16x9"'),
    "a port": put("0.0.0.0:1935", "0.0.0.0:1936"),
    "a host": both(
        before("gateways.gate", host("annex", 41)),
        before("orchestrators.orch", orchestrator("annex-orch", "annex", "monitor = true")),
        watched,
    ),
    "a model": both(
        before("hosts.studio", SEGMENT, host("lab", 42) + 'gpus = [{ model = "RTX 4090", memory = "24 GiB" }]\n'),
        lambda text: (
            f'{text}\n[orchestrators.images]\nhost = "lab"\nmode = "ai"\ngpus = [0]\n'
            'models = [{ use = "segment", warm = true }]\n'
        ),
        watched,
    ),
}
DUAL: dict[str, Edit] = {
    "a cap": put('max_price = "1500 wei / pixel"', 'max_price = "1700 wei / pixel"'),
    "a price": put('price = "1200 wei / pixel"', 'price = "1150 wei / pixel"'),
    "a price of a model": put('price = "0.02 USD / 1000000 pixels"', 'price = "0.025 USD / 1000000 pixels"'),
    "a deposit": put('deposit = "0.5 ETH"', 'deposit = "0.7 ETH"'),
    "a node": both(
        before("wallets.payer", host("gpu-2", 40)),
        before("orchestrators.orch", orchestrator("orch-2", "gpu-2", *EARNS)),
    ),
}
AI_SPLIT: dict[str, Edit] = {
    "fewer sessions": put(
        '[transcoders.t-1]\nhost = "encoder-1"\norchestrator = "orch"\ngpus = [0]\nmax_sessions = 8',
        '[transcoders.t-1]\nhost = "encoder-1"\norchestrator = "orch"\ngpus = [0]\nmax_sessions = 6',
    ),
    "a worker": both(
        before("hosts.inference-1", host("encoder-3", 41)),
        before("ai_workers.w-1", '[transcoders.t-3]\nhost = "encoder-3"\norchestrator = "orch"\nmax_sessions = 2\n'),
    ),
    "renditions": put('["P360p30fps16x9", "P720p30fps16x9"]', '["P240p30fps16x9", "P720p30fps16x9"]'),
    "a limit": put('max_sessions = "auto"', "max_sessions = 12"),
    "a model": both(
        before("gateways.gate", model("pix2pix", "image-to-image", "timbrooks/instruct-pix2pix")),
        put('models = [{ use = "segment", warm = true }]', 'models = [{ use = "segment" }, { use = "pix2pix" }]'),
    ),
    "another model": put('"facebook/sam2-hiera-large"', '"facebook/sam2-hiera-base-plus"'),
}
FLEETS = {"demo": DEMO, "two-regions": TWO_REGIONS, "dual-onchain": DUAL, "ai-split": AI_SPLIT}
APART = {
    "demo": [
        ("a limit", "a ladder"),
        ("a limit", "a port"),
        ("a limit", "a host"),
        ("a limit", "a model"),
        ("a ladder", "a host"),
        ("a ladder", "a model"),
        ("a port", "a model"),
        ("a port", "a host"),
    ],
    "two-regions": [
        ("a cap", "another cap"),
        ("a cap", "a price"),
        ("a cap", "a node in the west"),
        ("a price", "a price for one gateway"),
        ("a price", "a price of a model"),
        ("a limit", "a node in the east"),
        ("a model", "another cap"),
        ("a node in the east", "a node in the west"),
    ],
    "ai-split": [
        ("fewer sessions", "renditions"),
        ("fewer sessions", "a worker"),
        ("fewer sessions", "a model"),
        ("renditions", "a limit"),
        ("renditions", "another model"),
        ("a worker", "renditions"),
        ("a worker", "a model"),
        ("a model", "a limit"),
    ],
}
"""Changes that two people make apart from each other: of prices, caps and limits, with new hosts and models."""
TOGETHER = [(name, *pair) for name, pairs in APART.items() for pair in pairs]
MEET = {
    ("demo", "a limit", "a host"): {"monitoring/alerts.yml"},
    ("two-regions", "a node in the east", "a node in the west"): {
        "FLEET.md",
        "ROLLOUT.md",
        "ansible/rollout.json",
    },
}
"""Of these, those whose trees do not merge, and where: nodes that share an alert, hosts that share batches."""


def table(text: str) -> dict[str, Any]:
    return tomllib.loads(text, parse_float=Decimal)


def union(base: Any, mine: Any, theirs: Any) -> Any:
    """Both changes of plain values: whoever changed a key decides it; both may change tables inside."""
    if isinstance(base, dict) and isinstance(mine, dict) and isinstance(theirs, dict):
        absent = object()
        merged = {key: _one(base, mine, theirs, key, absent) for key in {**base, **mine, **theirs}}
        return {key: value for key, value in merged.items() if value is not absent}
    assert mine in (base, theirs) or theirs == base, "both changed one value"
    return theirs if mine == base else mine


def _one(base: dict[str, Any], mine: dict[str, Any], theirs: dict[str, Any], key: str, absent: object) -> Any:
    return union(base.get(key, absent), mine.get(key, absent), theirs.get(key, absent))


@cache
def compiled(text: str) -> Tree:
    result = compile_spec([Source("fleet.toml", text)], *shipped())
    assert result.tree is not None, result.checked.diagnostics
    return result.tree


def facts(tree: Tree) -> dict[str, bytes]:
    """All of a tree but what repeats the text of the spec or its digests."""
    return {a.path: a.content for a in tree.artifacts if a.path != MANIFEST and not a.path.startswith("spec/")}


@pytest.fixture(scope="module")
def repositories(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """For each example fleet a repository with one branch for each edit."""
    places = {}
    for name, edits in FLEETS.items():
        place = places[name] = tmp_path_factory.mktemp(name)
        git(place, "init", "--quiet")
        base = example_text(name)
        (place / "fleet.toml").write_text(base)
        git(place, "add", "fleet.toml")
        git(place, "commit", "--quiet", "-m", "base")
        for edit, change in edits.items():
            git(place, "checkout", "--quiet", "-b", edit.replace(" ", "-"), "main")
            (place / "fleet.toml").write_text(change(base))
            git(place, "commit", "--quiet", "-a", "-m", edit)
        git(place, "checkout", "--quiet", "main")
    return places


@pytest.mark.parametrize(("name", "mine", "theirs"), TOGETHER, ids=map(" + ".join, TOGETHER))
def test_merged_spec_compiles_to_the_union(name: str, mine: str, theirs: str, repositories: dict[str, Path]) -> None:
    place = repositories[name]
    git(place, "checkout", "--quiet", "--detach", mine.replace(" ", "-"))
    git(place, "merge", "--quiet", "-m", "both", theirs.replace(" ", "-"))
    merged = (place / "fleet.toml").read_text()
    base = example_text(name)
    one, other = FLEETS[name][mine](base), FLEETS[name][theirs](base)
    wanted = union(table(base), table(one), table(other))
    document, found = read_document([Source("fleet.toml", merged)])
    assert not found and document is not None
    assert document.raw == wanted
    assert facts(compiled(merged)) == facts(compiled(tomli_w.dumps(wanted)))
    assert facts(compiled(merged)) not in (facts(compiled(one)), facts(compiled(other)), facts(compiled(base)))


# --- trees ----------------------------------------------------------------------------------------

MEETING = {
    ("dual-onchain", "a price", "a price of a model"): {"ansible/host_vars/gpu.json", "manifest.json"},
    ("two-regions", "a node in the east", "a node in the west"): MEET[
        "two-regions", "a node in the east", "a node in the west"
    ],
    ("two-regions", "a node removed", "the release"): {
        *("FLEET.md", "hosts/eu-edge-2/README.md", "manifest.json", "ansible/host_vars/eu-edge-2.json"),
        "hosts/eu-edge-2/eu-images/compose.yaml",
    },
}
"""Pairs whose trees do not merge, and where: both change one node, or what all hosts share."""


def branches(place: Path, name: str, *edits: str, driver: bool = False) -> None:
    """A repository of a compiled fleet, with a compiled branch for each edit; the last one is checked out."""
    git(place, "init", "--quiet")
    if driver:
        # As the guide names it, with the fleetc of this checkout.
        git(place, "config", "merge.fleetc.driver", f"{forked.program()} merge-file %O %A %B %P")
    base = example_text(name)
    (place / ".gitattributes").write_text(files.read_starter()["gitattributes"])
    for edit in ("main", *edits):
        if edit != "main":
            git(place, "checkout", "--quiet", "-b", edit.replace(" ", "-"), "main")
        text = base if edit == "main" else FLEETS[name][edit](base)
        (place / "fleet.toml").write_text(text)
        files.write_tree(compiled(text), place / "rendered")
        git(place, "add", "--all")
        git(place, "commit", "--quiet", "-m", edit)


def joined(name: str, *edits: str) -> str:
    """The spec with several edits."""
    text = example_text(name)
    for edit in edits:
        text = FLEETS[name][edit](text)
    return text


def fails(place: Path, *arguments: str) -> str:
    """What git says while it refuses."""
    with pytest.raises(subprocess.CalledProcessError) as caught:
        git(place, *arguments)
    return str(caught.value.stdout) + str(caught.value.stderr)


def recompiled(place: Path, name: str, *edits: str) -> None:
    """The tree is refused as it is, and one compile makes it right."""
    checked = fleetc("compile", "--check", cwd=place)
    assert checked.returncode == 1 and "recompile: run fleetc compile" in checked.stderr
    assert fleetc("compile", cwd=place).returncode == 0
    assert files.stale(compiled(joined(name, *edits)), place / "rendered") == ()
    assert files.strangers(compiled(joined(name, *edits)), place / "rendered").foreign == ()


def marked(place: Path) -> list[str]:
    """Files of the tree with marks of a conflict in them."""
    found = (path for path in place.glob("rendered/**/*") if path.is_file() and b"<<<<<<<" in path.read_bytes())
    return sorted(path.relative_to(place / "rendered").as_posix() for path in found)


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """For each fleet a repository of its tree, with one branch for each edit."""
    places = {name: tmp_path_factory.mktemp(name) for name in APART}
    for name, place in places.items():
        branches(place, name, *dict.fromkeys(edit for pair in APART[name] for edit in pair))
    return places


@pytest.mark.parametrize("pair", TOGETHER, ids=map(" + ".join, TOGETHER))
def test_trees_of_apart_changes_merge_without_any_driver(pair: tuple[str, str, str], trees: dict[str, Path]) -> None:
    name, mine, theirs = pair
    place = trees[name]
    git(place, "checkout", "--quiet", "--force", "--detach", mine.replace(" ", "-"))
    if pair in MEET:
        fails(place, "merge", "-m", "both", theirs.replace(" ", "-"))
        assert conflicts(place) == MEET[pair]
    else:
        git(place, "merge", "--quiet", "-m", "both", theirs.replace(" ", "-"))
        assert files.stale(compiled((place / "fleet.toml").read_text()), place / "rendered") == ()


def test_nearly_all_of_those_pairs_merge() -> None:
    assert len(TOGETHER) == 24 and len(MEET) <= 2


def conflicts(place: Path) -> set[str]:
    """The files of the tree that git could not merge."""
    names = git(place, "diff", "--name-only", "--diff-filter=U").split()
    return {path.removeprefix("rendered/") for path in names}


@pytest.mark.parametrize("pair", MEETING, ids=map(" + ".join, MEETING))
def test_without_the_driver_a_compile_ends_the_conflict(pair: tuple[str, str, str], tmp_path: Path) -> None:
    name, mine, theirs = pair
    branches(tmp_path, name, mine, theirs)
    fails(tmp_path, "merge", mine.replace(" ", "-"))
    assert conflicts(tmp_path) == MEETING[pair]
    recompiled(tmp_path, name, mine, theirs)


@pytest.mark.parametrize("pair", MEETING, ids=map(" + ".join, MEETING))
def test_with_the_driver_a_merge_needs_a_compile_and_no_hand(pair: tuple[str, str, str], tmp_path: Path) -> None:
    name, mine, theirs = pair
    branches(tmp_path, name, mine, theirs, driver=True)
    if mine == "a node removed":  # git itself asks what becomes of a file that one side changed and one removed
        assert "CONFLICT (modify/delete)" in fails(tmp_path, "merge", mine.replace(" ", "-"))
    else:
        git(tmp_path, "merge", "--quiet", "-m", "both", mine.replace(" ", "-"))
        assert git(tmp_path, "status", "--porcelain") == ""
    assert marked(tmp_path) == []
    recompiled(tmp_path, name, mine, theirs)


def test_host_that_both_changed_is_rolled_out_by_nobody_before_a_compile(tmp_path: Path) -> None:
    """Its variables would name a release that is neither side's: Ansible refuses them, and a review says so."""
    branches(tmp_path, "dual-onchain", "a price", "a price of a model", driver=True)
    git(tmp_path, "merge", "--quiet", "-m", "both", "a-price")
    variables = tmp_path / "rendered/ansible/host_vars/gpu.json"
    assert variables.read_bytes() == PLACEHOLDER
    done = subprocess.run(
        [program("ansible-inventory"), "-i", "inventory.json", "--list"],
        cwd=tmp_path / "rendered/ansible",
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0 and "YAML parsing failed" in done.stderr
    assert fleetc("deploy", cwd=tmp_path).returncode == 1


@pytest.mark.parametrize("work", ["rebase", "cherry-pick"])
def test_rebase_and_cherry_pick_go_through(work: str, tmp_path: Path) -> None:
    branches(tmp_path, "dual-onchain", "a cap", "a price", driver=True)
    (tmp_path / "fleet.toml").write_text(joined("dual-onchain", "a price", "a deposit"))
    assert fleetc("compile", cwd=tmp_path).returncode == 0
    git(tmp_path, "commit", "--quiet", "--all", "-m", "a deposit")
    if work == "rebase":
        git(tmp_path, "rebase", "--quiet", "a-cap")
    else:
        git(tmp_path, "checkout", "--quiet", "a-cap")
        git(tmp_path, "cherry-pick", "a-price~1", "a-price")
    assert git(tmp_path, "log", "--format=%s").split("\n")[:3] == ["a deposit", "a price", "a cap"]
    assert git(tmp_path, "status", "--porcelain") == "" and marked(tmp_path) == []
    recompiled(tmp_path, "dual-onchain", "a cap", "a price", "a deposit")


def test_rebase_without_the_driver_is_ended_by_a_compile_too(tmp_path: Path) -> None:
    branches(tmp_path, "dual-onchain", "a price of a model", "a price")
    fails(tmp_path, "rebase", "a-price-of-a-model")
    recompiled(tmp_path, "dual-onchain", "a price of a model", "a price")
    git(tmp_path, "add", "--all")
    git(tmp_path, "-c", "core.editor=true", "rebase", "--continue")
    assert fleetc("compile", "--check", cwd=tmp_path).returncode == 0


def test_conflict_in_the_spec_stays_one(tmp_path: Path) -> None:
    branches(tmp_path, "dual-onchain", "a cap", driver=True)
    git(tmp_path, "checkout", "--quiet", "-b", "other", "main")
    text = joined("dual-onchain").replace('max_price = "1500 wei / pixel"', 'max_price = "1900 wei / pixel"')
    (tmp_path / "fleet.toml").write_text(text)
    files.write_tree(compiled(text), tmp_path / "rendered")
    git(tmp_path, "commit", "--quiet", "--all", "-m", "other")
    assert "Merge conflict in fleet.toml" in fails(tmp_path, "merge", "a-cap")
    assert git(tmp_path, "diff", "--name-only", "--diff-filter=U").split() == ["fleet.toml"]
    assert fleetc("compile", cwd=tmp_path).returncode == 1
    (tmp_path / "fleet.toml").write_text(text)
    assert fleetc("compile", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"files": [1]}', b'{"files": [{"path": 1}]}', b"\xff" * 99])
def test_odd_manifest_is_settled_by_the_placeholder_or_read(content: bytes) -> None:
    good = compiled(joined("dual-onchain")).as_mapping()[MANIFEST].content
    assert settle_manifest(good, good, good) == (good, False)
    found = settle_manifest(good, good[:-1] + b"\n\n", content)
    assert found.open and (found.content == PLACEHOLDER or found.content.startswith(b"{"))
