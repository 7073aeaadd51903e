"""The market that gateways see: what people read, what a report keeps, and what `check` makes of it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fleetc.messages.forms import Format, written
from fleetc.rollout.verify.report import as_data, report_of, seen_lines
from tests.rollout.verify.healthy import World, seller
from tests.support import INVENTORIES, compiled_example, fleetc

TURBO = (27, "stabilityai/sd-turbo")
ESCAPES = "\x1b]0;owned\x07\x1b[2J\u202e{{ 7 * 7 }}\r\n"


@pytest.fixture
def world() -> World:
    """A gateway that sees the fleet's own orchestrator and five of others."""
    world = World(compiled_example("dual-onchain"))
    (name,) = world.ids("gate", "/getNetworkCapabilities")
    own = world.answers[name][1]["orchestrators"][1]
    others = [seller(f"https://o{n}.example.net", 1300 + 100 * n, f"0x{n:040x}", {TURBO: 800 * n}) for n in range(5)]
    world.change("gate", "/getNetworkCapabilities", orchestrators=[own, *others, {"orch_uri": 7}])
    return world


@pytest.fixture
def look(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A compiled copy of the fleet; `verify` gets the answers of `world`."""
    monkeypatch.delenv("CI", raising=False)
    verdict = world.judged()
    monkeypatch.setattr("fleetc.rollout.hosts.verify.ask_hosts", lambda *_: {})
    monkeypatch.setattr("fleetc.rollout.verify.judge.judge", lambda *_: verdict)
    shutil.copy(INVENTORIES / "dual-onchain/fleet.toml", tmp_path)
    assert fleetc("compile", tmp_path).returncode == 0
    yield tmp_path


SEEN = """\
gate saw{} 6 orchestrators, and 1 in a form that nobody can read:
    video: 4 of 6 sell at its cap of {} wei a pixel; the nearest above it asks 1600
    text-to-image stabilityai/sd-turbo: 2 of 5 sell at its cap of {} wei a pixel; the nearest above it asks 1600, before redemption costs
"""  # noqa: E501


def test_text_has_who_sells_at_the_cap_of_each_gateway(look: Path) -> None:
    done = fleetc("verify", look, "--no-public")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(SEEN.format("", 1500, 1500))
    assert done.stdout.endswith("all of it is as reviewed\n")


def test_check_goes_by_a_recorded_market_and_names_its_date(look: Path) -> None:
    market = look / "market.json"
    done = fleetc("verify", look, "--no-public", "--format", "json", "-o", market)
    assert (done.returncode, done.stdout.count("\n")) == (0, 1)
    time = json.loads(market.read_text())["verify"]["time"]
    spec = look / "fleet.toml"
    spec.write_text(spec.read_text().replace('max_price = "1500 wei', 'max_price = "1599 wei'))
    shown = fleetc("check", spec, "--explain-prices", "--market", market).stdout
    assert SEEN.format(f", at {time},", 1599, 1599) in shown
    assert " saw" not in fleetc("check", spec, "--explain-prices").stdout, "without a market nothing is claimed"


def test_gateway_that_nobody_recorded_is_named(look: Path) -> None:
    market = look / "market.json"
    market.write_text(json.dumps({"verify": {"time": "2026-11-28T13:00:00Z", "market": []}}))
    shown = fleetc("check", look, "--explain-prices", "--market", market).stdout
    assert shown.endswith("\nnobody recorded at 2026-11-28T13:00:00Z what gate saw\n")


def refused(*words: object, cwd: Path | None = None) -> str:
    """What a wrong use is told."""
    done = fleetc(*words, cwd=cwd)
    assert (done.returncode, done.stdout) == (2, "")
    return done.stderr


ONE = {"gateway": "gate", "orchestrators": [seller("https://o.example.net", 1)]}
NO_MARKETS: dict[str, Any] = {
    "nothing": "", "no JSON": "{", "a list": [], "no report": {}, "text": {"verify": "x"}, "deep": "[" * 100_000,
    "a report of before": {"verify": {"time": "2026-11-28T13:00:00Z"}},
    "no date": {"verify": {"market": [ONE]}}, "another date": {"verify": {"time": ESCAPES, "market": [ONE]}},
    "one odd price": {"verify": {"time": "2026-11-28T13:00:00Z", "market": [{**ONE, "orchestrators": [{"x": 1}]}]}},
    "10 MB": "7" * 10_000_000,
}  # fmt: skip


@pytest.mark.parametrize("what", NO_MARKETS)
def test_file_without_a_market_is_refused(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    file, content = tmp_path / "market.json", NO_MARKETS[what]
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    text = refused("check", INVENTORIES / "dual-onchain", "--explain-prices", "--market", file)
    assert text == f"error: {file} is no report with a market; fleetc verify --format json -o FILE writes one\n"


def test_market_needs_a_file_and_the_tables_of_prices(tmp_path: Path) -> None:
    fleet, file = INVENTORIES / "dual-onchain", tmp_path / "none.json"
    assert "cannot be read: No such file" in refused("check", fleet, "--explain-prices", "--market", file)
    assert "--explain-prices" in refused("check", fleet, "--market", file)


def test_change_brings_no_market_into_ci(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "market.json").write_text("{}")
    monkeypatch.setenv("CI", "true")
    words = ("check", INVENTORIES / "dual-onchain", "--explain-prices", "--market", "market.json")
    assert "a change could bring its own market" in refused(*words, cwd=tmp_path)


def test_strangers_write_no_escapes_into_a_report(world: World) -> None:
    compiled = compiled_example("dual-onchain")
    odd = {"constraints": {"PerCapability": {"27": {"models": {ESCAPES: {"warm": True}}}}}, "bitstring": [2**28 - 1]}
    odd_seller = {**seller("https://o.example.net", 1), "capabilities": odd}
    world.change("gate", "/getNetworkCapabilities", orchestrators=[odd_seller])
    report = report_of(compiled, tuple(world.hosts), world.judged(), "2026-11-28T13:00:00Z")
    lines, sources = list(seen_lines(report)), compiled.checked.sources
    text = written(Format.json, report.located, sources, compiled.checked.document, False, {"verify": as_data(report)})
    assert "owned" in text and any("owned" in line for line in lines)
    assert not {"\x1b", "\x07", "\u202e", "\r"} & {*text, *"".join(lines)}
