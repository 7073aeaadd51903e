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
