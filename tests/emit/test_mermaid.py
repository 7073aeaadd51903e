"""The pictures of FLEET.md in the real Mermaid, in a browser: with the layout that they ask for, and without it.

It needs node, Chromium and the npm packages mermaid, @mermaid-js/layout-elk and playwright-core.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fleetc.blueprint.blueprint import Connection
from fleetc.pipeline import Compiled
from fleetc.text.encoders import visible
from tests import outside_tools
from tests.emit import support
from tests.emit.test_docs import page_of, pictures
from tests.support import EXAMPLES, compiled_example

pytestmark = [pytest.mark.outer, pytest.mark.usefixtures("processes")]

SCRIPT = Path(__file__).parent / "mermaid.js"
WIDEST = 2000
"""A picture that is wider than this cannot be read where pages are a thousand pixels wide."""


def page(compiled: Compiled) -> str:
    assert compiled.tree is not None
    return support.text(compiled.tree, "FLEET.md")


def pages() -> dict[str, str]:
    """The examples, fleets of sixty hosts in one region and in three, and one whose names are anything but names."""
    found = {name: page(compiled_example(name)) for name in EXAMPLES}
    for regions in (1, 3):
        hosts, edges = [], []
        for number in range(60):
            name, region = f"node-{number}", f"r{number % regions}"
            hosts.append(support.host(f"host-{number}", support.service(name), region=region))
            buyers = range(number % regions, 4 * regions, regions)
            edges += [Connection(f"node-{buyer}", name, "pays") for buyer in buyers if number >= 4 * regions]
        found[f"sixty-{regions}"] = page_of(support.plan(*hosts, edges=tuple(edges)))
    odd = tuple(Connection("gw-eu", value, "outside") for value in support.ODD_VALUES if value)
    found["odd"] = page_of(support.plan(support.host("edge-1", support.service("gw-eu")), edges=odd))
    return found


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What Mermaid made of each picture, and the pictures; skips aloud where it is not installed."""
    for name in ("mermaid", "@mermaid-js/layout-elk", "playwright-core"):
        outside_tools.node_package(name)
    browser = outside_tools.program("chromium")
    place = tmp_path_factory.mktemp("pictures")
    texts = {f"{name}-{number}": text for name, page in pages().items() for number, text in enumerate(pictures(page))}
    (place / "pictures.json").write_text(json.dumps(texts), encoding="utf-8")
    packages = outside_tools.TOOLS / "node_modules"
    command = [outside_tools.program("node"), str(SCRIPT), str(packages), browser, str(place / "pictures.json"), ""]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return {"texts": texts, **json.loads(done.stdout)}


@pytest.mark.parametrize("layout", ["elk", "plain"])
def test_mermaid_draws_every_picture_with_all_its_boxes_and_lines(drawn: dict[str, Any], layout: str) -> None:
    assert drawn[layout]["console"] == []
    seen = drawn[layout]["pictures"]
    assert [name for name, one in seen.items() if "error" in one] == []
    for name, text in drawn["texts"].items():
        lines = text.splitlines()
        assert seen[name]["edges"] == sum(" --- " in line or "->" in line for line in lines), name
        boxes = sum("[" in line for line in lines)
        assert len(seen[name]["nodes"]) >= boxes, name


@pytest.mark.parametrize("layout", ["elk", "plain"])
def test_text_of_the_spec_is_shown_letter_by_letter(drawn: dict[str, Any], layout: str) -> None:
    seen = {" ".join(text.split()) for text in drawn[layout]["pictures"]["odd-0"]["nodes"]}
    assert {" ".join(visible(value).split()) for value in support.ODD_VALUES if value} - seen == set()


@pytest.mark.parametrize("layout", ["elk", "plain"])
def test_no_picture_is_too_wide_to_be_read(drawn: dict[str, Any], layout: str) -> None:
    wide = {name: one["width"] for name, one in drawn[layout]["pictures"].items() if one["width"] > WIDEST}
    assert wide == {}


def test_layout_that_a_picture_asks_for_is_used(drawn: dict[str, Any]) -> None:
    sizes = {way: [(o["width"], o["height"]) for o in drawn[way]["pictures"].values()] for way in ("elk", "plain")}
    assert sizes["elk"] != sizes["plain"], "else Mermaid took no notice of the layout"
