"""The page of a look in a real headless Chromium: accessible, quiet, usable by keyboard and without script."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fleetc.rollout.verify.html import as_html
from tests.browsing import fits, quiet, reached_by_keyboard, visit
from tests.review.samples import NASTY
from tests.rollout.verify import looks
from tests.support import shipped

pytestmark = [pytest.mark.browser, pytest.mark.outer, pytest.mark.usefixtures("processes")]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the browser saw, all of it in one run. A look that shows a fault leaves a screenshot beside the pages."""
    reports = {
        "day": looks.every_day(),
        "stage": looks.stage(),
        "nasty": looks.nasty(" ".join(NASTY[:15])),
        "well": looks.look(facts=looks.FACTS),
        "huge": looks.huge(10_000),
    }
    pages = {name: as_html(report, shipped()[0]) for name, report in reports.items()}
    return visit(pages, Path(__file__).with_name("browser.js"), tmp_path_factory.mktemp("pages"))


def test_pages_are_accessible_quiet_and_fit_the_screen(seen: dict[str, Any]) -> None:
    fits(seen["looks"], 16)


def test_every_part_is_reached_by_keyboard(seen: dict[str, Any]) -> None:
    reached_by_keyboard(seen["keys"], "Skip to the findings", 20)


def test_a_finding_opens_its_line_and_a_node_leads_to_its_finding(seen: dict[str, Any]) -> None:
    keys = seen["keys"]
    assert "fleet.toml:" in keys["entered"]
    assert "orchestrators.us-video-1.price" in keys["entered"]
    assert keys["escaped"] == "SUMMARY"
    assert keys["followed"] == {"hash": "#c0", "open": True, "within": True}


def test_filters(seen: dict[str, Any]) -> None:
    found = seen["filters"]
    quiet(found)
    assert found["all"]["findings"] == [f"c{number}" for number in range(5)]
    assert len(found["all"]["nodes"]) == 11
    assert found["drift"]["findings"] == ["c0", "c1"]
    assert found["drift"]["status"] == "Findings: 2 of 5. Nodes: 2 of 11."
    assert found["fine"]["findings"] == []
    assert found["fine"]["none"]
    assert len(found["fine"]["nodes"]) == 5
    assert found["box"]["host"] == "us-edge"
    assert found["box"]["findings"] == ["c1"]
    assert [name.split()[0] for name in found["box"]["nodes"]] == ["us-live", "old-gate"]
    assert found["text"]["findings"] == ["c0"]


def test_page_reads_without_script(seen: dict[str, Any]) -> None:
    found = seen["withoutScript"]
    quiet(found)
    assert not found["filter"], "a filter that does nothing is not shown"
    assert found["tally"] == 4
    assert (found["before"], found["after"]) == (False, True)


def test_ten_thousand_nodes_stay_usable(seen: dict[str, Any]) -> None:
    found = seen["big"]
    quiet(found)
    assert found["status"] == "Findings: 11 of 800. Nodes: 11 of 2000."
    assert found["loaded"] < 15_000
