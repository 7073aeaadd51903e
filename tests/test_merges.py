"""Two people edit one fleet: what git merges without a conflict compiles to both of their changes."""

from __future__ import annotations

import itertools
import re
import subprocess
import tomllib
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from compiler import files
from compiler.pipeline import compile_spec
from compiler.source import Source, parse
from compiler.tree import MANIFEST, Tree
from tests.support import ROOT, fleetc, shipped
from tests.test_init import git

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


EARNS = ('wallet = "earner"', 'price = "1250 wei / pixel"')

TWO_REGIONS: dict[str, Edit] = {
    "a cap": put(
        'orchestrators = ["eu-video-1", "eu-video-2", "us-video-1"]\nmax_price = "1500 wei / pixel"',
        'orchestrators = ["eu-video-1", "eu-video-2", "us-video-1"]\nmax_price = "1600 wei / pixel"',
    ),
    "another cap": put('max_price = "1400 wei / pixel"', 'max_price = "1450 wei / pixel"'),
    "a price for one gateway": put('{ eu-live = "1100 wei / pixel" }', '{ eu-live = "1050 wei / pixel" }'),
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
    "a node taken away": lambda text: re.sub(r"\[gateways\.eu-images\](?s:.*?)\n\n", "", text),
    "the rollout": put("canary = 1", "canary = 2"),
    "the release": put('node_release = "v0.9.1"', 'node_release = "v0.9.0"'),
    "words": put("# Two regions, three gateways", "# Two regions, with three gateways"),
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
    "another model": put('"facebook/sam2-hiera-large"', '"facebook/sam2-hiera-base-plus"'),
}
FLEETS = {"two-regions": TWO_REGIONS, "dual-onchain": DUAL, "ai-split": AI_SPLIT}
PAIRS = [(name, *pair) for name, edits in FLEETS.items() for pair in itertools.combinations(edits, 2)]


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
        base = (ROOT / "inventories" / name / "fleet.toml").read_text()
        (place / "fleet.toml").write_text(base)
        git(place, "add", "fleet.toml")
        git(place, "commit", "--quiet", "-m", "base")
        for edit, change in edits.items():
            git(place, "checkout", "--quiet", "-b", edit.replace(" ", "-"), "main")
            (place / "fleet.toml").write_text(change(base))
            git(place, "commit", "--quiet", "-a", "-m", edit)
        git(place, "checkout", "--quiet", "main")
    return places


@pytest.mark.parametrize(("name", "mine", "theirs"), PAIRS, ids=[" + ".join(pair) for pair in PAIRS])
def test_merged_spec_compiles_to_the_union(name: str, mine: str, theirs: str, repositories: dict[str, Path]) -> None:
    place = repositories[name]
    git(place, "checkout", "--quiet", "--detach", mine.replace(" ", "-"))
    git(place, "merge", "--quiet", "-m", "both", theirs.replace(" ", "-"))
    merged = (place / "fleet.toml").read_text()
    base = (ROOT / "inventories" / name / "fleet.toml").read_text()
    one, other = FLEETS[name][mine](base), FLEETS[name][theirs](base)
    wanted = union(table(base), table(one), table(other))
    document, found = parse([Source("fleet.toml", merged)])
    assert not found and document is not None
    assert document.raw == wanted
    assert facts(compiled(merged)) == facts(compiled(tomli_w.dumps(wanted)))
    if "words" not in (mine, theirs):
        assert facts(compiled(merged)) not in (facts(compiled(one)), facts(compiled(other)), facts(compiled(base)))


def test_merge_of_two_compiled_branches_is_finished_by_a_compile(tmp_path: Path) -> None:
    """The tree of a merge is in conflict, as its digests are; it stays a tree of one side, and a compile ends it."""
    git(tmp_path, "init", "--quiet")
    base = (ROOT / "inventories/two-regions/fleet.toml").read_text()
    (tmp_path / ".gitattributes").write_text(files.read_starter()["gitattributes"])
    states = {"main": base}
    for edit in ("a cap", "a node in the west"):
        states[edit.replace(" ", "-")] = TWO_REGIONS[edit](base)
    for branch, text in states.items():
        if branch != "main":
            git(tmp_path, "checkout", "--quiet", "-b", branch, "main")
        (tmp_path / "fleet.toml").write_text(text)
        assert fleetc("compile", cwd=tmp_path).returncode == 0
        git(tmp_path, "add", "--all")
        git(tmp_path, "commit", "--quiet", "-m", branch)
    with pytest.raises(subprocess.CalledProcessError):
        git(tmp_path, "merge", "a-cap")
    conflicts = git(tmp_path, "diff", "--name-only", "--diff-filter=U").split()
    assert conflicts and all(path.startswith("rendered/") for path in conflicts)
    assert not any(b"<<<<<<<" in path.read_bytes() for path in tmp_path.glob("rendered/**/*") if path.is_file())
    assert fleetc("compile", cwd=tmp_path).returncode == 0
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "-m", "both")
    assert fleetc("compile", "--check", cwd=tmp_path).returncode == 0
    wanted = TWO_REGIONS["a node in the west"](TWO_REGIONS["a cap"](base))
    assert (tmp_path / "fleet.toml").read_text() == wanted
