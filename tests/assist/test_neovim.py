"""A person edits two-regions in a real editor: Neovim, with its own client for language servers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.assist.editing import HANGS
from tests.outside_tools import program
from tests.support import ROOT

pytestmark = [pytest.mark.outer, pytest.mark.usefixtures("processes")]

SESSION = Path(__file__).with_name("neovim.lua")


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the editor showed, by step, and the text that it saved."""
    work = tmp_path_factory.mktemp("neovim")
    fleet, answers = work / "fleet", work / "answers.json"
    shutil.copytree(ROOT / "inventories/two-regions", fleet)
    server = [sys.executable, "-I", "-m", "fleetc", "lsp"]
    environment = {
        **os.environ, "HOME": str(work), "SESSION_ANSWERS": str(answers), "SESSION_SERVER": json.dumps(server),
    }  # fmt: skip
    command = [program("nvim"), "--headless", "-u", "NONE", "fleet.toml", "-c", f"luafile {SESSION}"]
    done = subprocess.run(
        command,
        cwd=fleet,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=10 * HANGS,
        check=False,
    )
    found: dict[str, Any] = json.loads(answers.read_text())
    assert (done.returncode, found.pop("problem", None)) == (0, None), done.stderr
    return {**found, "saved": (fleet / "fleet.toml").read_text(), "overlay": (fleet / "staging.toml").read_text()}


def test_mistake_is_said_at_its_line_and_its_repair_makes_it_good(shown: dict[str, Any]) -> None:
    (mistake,) = shown["mistake"]
    assert mistake.startswith('55: "24GiB" is not a size')
    assert shown["repairs"] == ['Writes memory = "24 GiB"']
    assert 'memory = "24 GiB"' in shown["repaired"]


def test_price_says_what_it_means_where_it_is_said_and_who_buys(shown: dict[str, Any]) -> None:
    text = "\n".join(shown["hover"])
    assert "Sets: -pixelsPerUnit, -pricePerUnit" in text
    assert 'In force: `"1200 wei / pixel"` (said here, `fleet.toml`:166)' in text
    assert "- `us-live` from `eu-video-1`, `video`: buys while gas is below" in text


def test_host_is_found_where_it_is_written_and_where_it_is_named(shown: dict[str, Any]) -> None:
    assert shown["definition"] == "[hosts.eu-gpu-1]"
    in_the_overlay = "26: [hosts.eu-gpu-1]"
    assert sorted(shown["references"]) == ['165: host = "eu-gpu-1"', in_the_overlay, "50: [hosts.eu-gpu-1]"]


def test_new_name_is_written_in_each_place_and_nothing_else_is_changed(shown: dict[str, Any]) -> None:
    before = (ROOT / "inventories/two-regions/fleet.toml").read_text()
    assert shown["renamed"] == ["[hosts.eu-render]", 'host = "eu-render"']
    expected = before.replace("[hosts.eu-gpu-1]", "[hosts.eu-render]")
    assert shown["saved"] == expected.replace('host = "eu-gpu-1"', 'host = "eu-render"')
    assert "[hosts.eu-render]" in shown["overlay"] and "[hosts.eu-gpu-1]" not in shown["overlay"]


def test_flag_of_the_node_finds_its_field(shown: dict[str, Any]) -> None:
    assert "pricePerUnit: -pricePerUnit is price" in shown["completion"]


def test_each_table_says_what_it_decides_about(shown: dict[str, Any]) -> None:
    lenses = dict(line.split(": ", 1) for line in shown["lenses"])
    assert lenses["[hosts.eu-render]"].endswith("restarts 3 hosts")
    assert lenses["[orchestrators.eu-video-2]"].endswith("restarts 1 host")


def test_outline_has_the_tables_and_one_form_is_restored(shown: dict[str, Any]) -> None:
    assert shown["outline"][:2] == ["6: [Struct] fleet", "14: [Struct] defaults.gateways"]
    assert shown["formatted"] == 'host = "eu-render"'
