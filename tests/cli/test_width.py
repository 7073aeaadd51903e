"""Answers on a terminal: no line of prose is wider than it, and pipes get lines as they are."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.terminals import on_terminal
from tests.support import INVENTORIES, fleetc_process

pytestmark = pytest.mark.usefixtures("processes")


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A compiled fleet, and a spec that lowers a cap below a price."""
    directory = tmp_path_factory.mktemp("fleet")
    shutil.copytree(INVENTORIES / "two-regions" / "rendered", directory / "rendered")
    text = (INVENTORIES / "two-regions" / "fleet.toml").read_text(encoding="utf-8")
    (directory / "fleet.toml").write_text(text.replace('"1500 wei / pixel"', '"1000 wei / pixel"'), encoding="utf-8")
    return directory


@pytest.mark.parametrize("words", [("diff",), ("todo",), ("check", "--explain-prices")], ids=" ".join)
def test_lines_fit_the_terminal(spec: Path, words: tuple[str, ...]) -> None:
    environment = {"FLEETC_PAGER": "", "NO_COLOR": "1"}
    seen = on_terminal(*words, keys=(), cwd=spec, waits=lambda *_: False, environment=environment)
    wide = [line for line in seen.text.splitlines() if len(line) > 80 and "|" not in line]
    assert not wide
    piped = fleetc_process(*words, cwd=spec)
    assert max(map(len, (piped.stdout + piped.stderr).splitlines())) > 80
    assert sorted(seen.text.split()) == sorted((piped.stdout + piped.stderr).split())
