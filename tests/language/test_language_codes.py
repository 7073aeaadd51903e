"""Codes of the language itself: a flawed spec that gets each, and the repaired one that is silent."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleetc.language.references import too_many_nodes
from tests.support import ROOT, check_text, compile_text, fleetc

SPEC = (ROOT / "inventories/dual-onchain/fleet.toml").read_text(encoding="utf-8")
DEMO = (ROOT / "inventories/demo/fleet.toml").read_text(encoding="utf-8")

CASES: dict[str, tuple[str, str]] = {
    "account-used-twice": (
        SPEC.replace("0x2222222222222222222222222222222222222222", "0x1111111111111111111111111111111111111111"),
        SPEC,
    ),
    "name-used-twice": (DEMO.replace("[gateways.gate]", "[gateways.studio]"), DEMO),
    "unknown-network": (SPEC.replace('"arbitrum-one-mainnet"', '"arbitrum-two"'), SPEC),
    "two-ways-of-discovery": (
        SPEC.replace('discovery = "ai-registry"', 'discovery = "ai-registry"\norchestrators = ["orch"]'),
        SPEC,
    ),
    "gateway-without-account": (
        DEMO.replace("[orchestrators.orch]", '[orchestrators.orch]\ngateway_prices = { gate = "1 wei / pixel" }'),
        DEMO,
    ),
    "unknown-silence": (DEMO + '\n[silences.accepted]\ncode = "no-such-code"\nreason = "none"\n', DEMO),
    "silenced-error": (
        DEMO + '\n[silences.accepted]\ncode = "port-used-twice"\nreason = "none"\n'
        "[transcoders.twin]\n"
        'host = "studio"\norchestrator = "orch"\nsecret = { env = "S" }\ncli = "127.0.0.1:7935"\n',
        DEMO,
    ),
}


def test_what_an_empty_spec_lacks_is_told_as_it_is_written() -> None:
    told = check_text("")
    for key, added in (("fleet", "[fleet]"), ("hosts", "[hosts.<name>]"), ("spec", "spec")):
        assert f'the spec lacks the key "{key}"' in told and f"= help: add {added}: " in told


@pytest.mark.parametrize(
    ("written", "help"),
    [
        ('"realvis"', 'write a table in braces: { use = "realvis" }'),
        ('"a \\" b"', "write a table in braces: { use = ... }"),
        ("1", "write a table in braces: { use = ... }"),
    ],
)
def test_text_where_a_table_belongs_is_put_into_its_only_key(written: str, help: str) -> None:
    text = DEMO.replace("[orchestrators.orch]", f"[orchestrators.orch]\nmodels = [{written}]")
    told = check_text(text)
    assert "error[wrong-type]: item 1 of models must be a table" in told and f"= help: {help}\n" in told


@pytest.mark.parametrize("code", CASES)
def test_flawed_spec_gets_the_code_and_the_repaired_one_is_silent(code: str) -> None:
    flawed, repaired = CASES[code]
    assert f"error[{code}]" in check_text(flawed)
    assert check_text(repaired) == "no problems\n"


def test_too_many_nodes_are_counted_before_any_work() -> None:
    raw = {"gateways": dict.fromkeys(map(str, range(60))), "transcoders": dict.fromkeys(map(str, range(41)))}
    assert [d.code for d in too_many_nodes(raw, ("gateways", "transcoders"), 100)] == ["too-many-nodes"]
    assert too_many_nodes(raw, ("gateways", "transcoders"), 101) == []


def test_argument_that_no_process_takes_is_a_diagnostic() -> None:
    many = ",\n".join(f'"https://orchestrator-{i}.example.net:8935"' for i in range(4000))
    compiled = compile_text(DEMO.replace('orchestrators = ["orch"]', f"orchestrators = [\n{many}\n]"))
    assert compiled.tree is None
    assert [d.code for d in compiled.checked.diagnostics] == ["orchestrator-not-listed", "value-unfit"]
    assert compile_text(DEMO).checked.diagnostics == ()


def test_spec_over_the_size_limit(tmp_path: Path) -> None:
    spec = tmp_path / "fleet.toml"
    spec.write_text(DEMO + "# " + "x" * 60_000 + "\n" + ("# " + "y" * 60_000 + "\n") * 20, encoding="utf-8")
    done = fleetc("check", spec, FLEETC_MAX_SPEC_MIB="1")
    assert done.returncode == 1
    assert "error[spec-too-large]" in done.stderr
    assert fleetc("check", spec).stdout == "no problems\n"
