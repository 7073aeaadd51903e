"""`check --resolved`: one spec out of several, with its defaults, that is a spec and compiles to the same files."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import pytest
import tomli_w

from fleetc.language import effective
from fleetc.language.fleet import NODE_TABLES
from fleetc.language.resolved import as_toml
from fleetc.pipeline import Compiled, compile_spec
from fleetc.places.diagnostic import Severity
from fleetc.toml.document import Source
from tests.mutating import spread
from tests.support import EXAMPLES, ROOT, compile_text, fleetc, shipped, sources_of
from tests.test_mutations import CASES, EVERY_FLEET, Case

COUNT, MANY = 2, 25
"""Sound changes of each fleet that always run, and that run under `slow`."""

OWN_SPEC = ("spec/", "manifest.json")
"""What differs between trees of a spec and of the same spec written otherwise: the copy of it, and its digest."""

LAUNCHES = sorted((ROOT / "tests" / "data" / "launch_specs").glob("*.toml"))


def _compiled(sources: Sequence[Source]) -> Compiled:
    return compile_spec(sources, *shipped())


def _resolved(compiled: Compiled) -> str:
    checked = compiled.checked
    assert checked.document is not None
    assert checked.fleet is not None
    return as_toml(checked.document.raw, checked.fleet)


def _files(compiled: Compiled) -> dict[str, bytes]:
    assert compiled.tree is not None
    return {a.path: a.content for a in compiled.tree.artifacts if not a.path.startswith(OWN_SPEC)}


def _law(sources: Sequence[Source]) -> None:
    """It is a spec without errors, compiles to the same files, and is its own result."""
    first = _compiled(sources)
    text = _resolved(first)
    again = compile_text(text)
    assert again.tree is not None, again.checked.diagnostics
    assert _files(again) == _files(first)
    assert _resolved(again) == text
    warnings = [d.code for d in first.checked.diagnostics if d.severity is Severity.WARNING]
    assert sorted(d.code for d in again.checked.diagnostics) == sorted(warnings)


@EVERY_FLEET
def test_example_fleet_compiles_to_the_same_files(case: Case) -> None:
    _law([Source(name, text) for name, text in case.texts])


@pytest.mark.parametrize("path", LAUNCHES, ids=lambda path: path.stem)
def test_published_launch_compiles_to_the_same_files(path: Path) -> None:
    first = _compiled(sources_of(path))
    if first.tree is None:
        assert first.checked.fleet is None  # what is published has errors, and is not shown
    else:
        _law(sources_of(path))


@EVERY_FLEET
@pytest.mark.parametrize("count", [COUNT, pytest.param(MANY, marks=pytest.mark.slow)])
def test_changed_fleet_compiles_to_the_same_files(case: Case, count: int) -> None:
    """Fleets with one field changed, as many as are sound."""
    raw = case.raw
    tried = 0
    for name, changes in case.changes().items():
        for change in spread(changes, 10 * count, case.name):
            tables = {**raw, name: change.apply(raw[name])}
            sources = [Source(file, tomli_w.dumps(table)) for file, table in tables.items()]
            if tried < count and _compiled(sources).tree is not None:
                _law(sources)
                tried += 1
    assert tried == count


def test_all_cases_are_here() -> None:
    assert {case.name for case in CASES} >= set(EXAMPLES)
    assert len(LAUNCHES) > 10


def test_every_node_says_what_is_in_force_for_it() -> None:
    spec = tomllib.loads(_resolved(_compiled(sources_of(ROOT / "inventories" / "two-regions" / "fleet.toml"))))
    for table in NODE_TABLES:
        for node in spec.get(table, {}).values():
            assert node["cli"]
            assert node["data_dir"]
    assert spec["rollout"]["canary"] == 1


def test_overlay_is_in_it() -> None:
    directory = ROOT / "inventories" / "two-regions"
    done = fleetc("check", "--resolved", directory, "--overlay", directory / "staging.toml")
    assert done.returncode == 0, done.stderr
    shown = tomllib.loads(done.stdout)
    overlay = tomllib.loads((directory / "staging.toml").read_text(encoding="utf-8"))
    assert "remove" not in shown
    assert shown["fleet"]["name"] == overlay["fleet"]["name"]


def test_text_is_in_one_order_and_one_spelling() -> None:
    text = """
        spec = 1
        [hosts.b]
        runtime = "docker"
        address = "b.example.net"
        [hosts.a]
        address = "a.example.net"
        runtime = "docker"
        [fleet]
        node_release = "v0.9.1"
        network = "offchain"
        name = "one"
        [gateways.g]
        host = "b"
        mode = "video"
        orchestrators = ["orch.example.net:8935"]
        max_sessions = 1_0
        [gateways.g.live]
        heartbeat_interval = "5000 ms"
        [gateways.g.environment]
        WORD = "x"   # a comment
    """
    shown = _resolved(compile_text(text))
    written = """\
spec = 1

[fleet]
name = "one"
network = "offchain"
node_release = "v0.9.1"

[hosts.a]
address = "a.example.net"
runtime = "docker"

[hosts.b]
address = "b.example.net"
runtime = "docker"

[gateways.g]
host = "b"
orchestrators = [
    "orch.example.net:8935",
]
mode = "video"
max_sessions = 10

[gateways.g.environment]
WORD = "x"

[gateways.g.live]
heartbeat_interval = "5s"
"""
    lines = [line for line in written.splitlines() if line]
    assert [line for line in shown.splitlines() if line in lines] == lines


def test_secrets_stay_references_and_numbers_exact() -> None:
    done = fleetc("check", ROOT / "inventories" / "dual-onchain", "--resolved", ORCH_SECRET="hunter2")
    shown = tomllib.loads(done.stdout, parse_float=Decimal)
    assert shown["fleet"]["rpc"] == {"env": "ARBITRUM_RPC_URL"}
    assert shown["wallets"]["payer"]["deposit"] == "0.5 ETH"
    assert "hunter2" not in done.stdout


def test_spec_with_errors_is_not_shown(tmp_path: Path) -> None:
    spec = tmp_path / "fleet.toml"
    spec.write_text("spec = 1\n", encoding="utf-8")
    done = fleetc("check", spec, "--resolved")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "error[missing-key]" in done.stderr


def test_in_force_names_fields_of_the_node() -> None:
    for case in CASES:
        checked = _compiled([Source(name, text) for name, text in case.texts]).checked
        assert checked.fleet is not None
        for node in checked.fleet.nodes:
            assert set(effective.in_force(checked.fleet, node)) <= set(type(node.settings).model_fields)
