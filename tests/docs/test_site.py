"""The documentation site: built without a warning, whole, searchable in a browser, and in need of no network."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from docs.pages import sections, site
from fleetc.messages.explain import pages
from fleetc.messages.tables import tables
from tests.browsing import visit
from tests.support import ROOT, fleetc

pytestmark = [pytest.mark.outer, pytest.mark.usefixtures("processes")]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The HTML of the site, made as `make docs` makes it: a warning of the generator is a failure."""
    place = tmp_path_factory.mktemp("site")
    made = [sys.executable, "-m", "docs.pages", str(place / "pages")]
    subprocess.run(made, check=True, timeout=120)
    command = ["-m", "sphinx", "-q", "-W", "-c", str(ROOT / "compiler/docs"), str(place / "pages"), str(place / "html")]
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    return place / "html"


def test_every_page_story_table_code_and_command_has_its_place() -> None:
    made = site()
    text = "\n".join(made.values())
    assert {f"guide/{page.stem}" for page in ROOT.glob("compiler/docs/*.md")} <= set(made)
    assert {f"examples/{path.parent.name}" for path in ROOT.glob("inventories/*/README.md")} <= set(made)
    assert all(f"`{table.header}`\n" in text for table in tables() if table.header)
    assert set(re.findall(r"^## (\S+)$", "\n".join(made[path] for path in made if "codes/" in path), re.MULTILINE)) == {
        *pages()
    }
    assert all(f"Usage: fleetc {name} " in made[f"commands/{name}"] for name in _commands())


def _commands() -> list[str]:
    return re.findall(r"^  ([a-z][a-z-]*)  ", fleetc("--help").stdout, re.MULTILINE)


def test_a_text_is_cut_at_headings_and_not_inside_of_its_blocks() -> None:
    start, found = sections("Before\n\n## One\n\n```sh\n## no heading\n```\n\n### Below\n\n## Two\n", 2)
    assert start == "Before"
    assert [title for title, _ in found] == ["One", "Two"]
    assert "## no heading" in found[0].text and "### Below" in found[0].text


def test_pages_load_nothing_from_elsewhere(built: Path) -> None:
    files = [*built.rglob("*.html")]
    assert len(files) > 80
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert not re.findall(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=\"(?:https?:)?//[^\"]*\"", text), file
        for source in re.findall(r"<img[^>]*src=\"([^\"]+)\"", text):
            assert (file.parent / source).is_file(), (file, source)


@pytest.mark.browser
def test_whoever_searches_without_a_network_finds_the_page(built: Path) -> None:
    seen: dict[str, Any] = visit({}, Path(__file__).with_name("site.js"), built)
    assert seen["hits"][0] == "Codes: money > deposit-below-face-value"
    assert seen["reached"].startswith("/codes/money.html")
    assert seen["reached"].endswith("#deposit-below-face-value")
    assert (seen["errors"], seen["beyond"]) == ([], [])
    assert {name: over for name, over in seen["narrow"].items() if over > 0} == {}
