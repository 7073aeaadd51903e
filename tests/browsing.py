"""Pages in a real headless Chromium, for the tests of pages.

In: pages and a script that uses them, with `browsing.js` beside this. Out: what it saw. It needs node, Chromium and the
npm packages playwright-core and axe-core, in node_modules/ of the folder that FLEETC_TEST_TOOLS names.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests import outside_tools

_PACKAGES = outside_tools.TOOLS / "node_modules"
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def visit(pages: Mapping[str, str], script: Path, place: Path) -> dict[str, Any]:
    """What a script saw of pages, which are put into a folder by their names; skips aloud without a browser."""
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    needed = {"node": bool(shutil.which("node")), "Chromium": bool(browser)}
    needed |= {name: (_PACKAGES / name / "package.json").is_file() for name in ("playwright-core", "axe-core")}
    missing = [name for name, found in needed.items() if not found]
    if missing:
        pytest.skip(f"THE PAGE IS NOT CHECKED IN A BROWSER: no {', '.join(missing)} (packages sought in {_PACKAGES})")
    for name, page in pages.items():
        (place / f"{name}.html").write_text(page, encoding="utf-8")
    command = ["node", str(script), str(_PACKAGES), browser or "", str(place), str(place)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def quiet(part: dict[str, Any]) -> None:
    """No message on the console, no error, no dialog, and nothing but the page itself was asked for."""
    assert part["console"] == []
    assert part["errors"] == []
    assert part["dialogs"] == 0
    assert part["requests"] == []


def fits(looks: list[dict[str, Any]], count: int) -> None:
    """So many looks are accessible, quiet, not wider than the screen, and light or dark as people wish."""
    assert len(looks) == count
    for look in looks:
        about = f"{look['name']} {look['scheme']} {look['width']}"
        assert look["violations"] == [], about
        assert look["passes"] >= 15, about
        assert look["sideways"] <= 0, about
        quiet(look)
    colours = {(look["scheme"], look["background"]) for look in looks}
    assert colours == {("light", "rgb(246, 246, 243)"), ("dark", "rgb(20, 23, 27)")}


def reached_by_keyboard(keys: dict[str, Any], first: str, least: int) -> None:
    """The first stop has this text, and more than so many follow in order, each of them seen."""
    quiet(keys)
    assert keys["first"]["text"] == first
    assert keys["first"]["inSight"]
    assert keys["inOrder"]
    assert len(keys["stops"]) > least
    for stop in keys["stops"]:
        assert stop["ring"] >= 2, f"the focus on {stop} is not seen"
        assert stop["inSight"], stop
    assert {stop["tag"] for stop in keys["stops"]} >= {"a", "button", "input", "summary", "div"}
