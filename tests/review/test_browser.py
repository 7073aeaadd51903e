"""The page in a real headless Chromium: no errors, no requests, accessible, usable by keyboard and without script.

It needs node, Chromium and the npm packages playwright-core and axe-core, in node_modules/ of the folder that
FLEETC_TEST_TOOLS names.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fleetc.review.reports.html import as_html
from fleetc.rollout.verify import html
from tests.browsing import quiet, visit
from tests.review.samples import EMPTY, NASTY, huge, mixed, nasty, price_on
from tests.rollout.verify import looks
from tests.support import shipped

pytestmark = [pytest.mark.browser, pytest.mark.outer, pytest.mark.usefixtures("processes")]

PAGES = {
    "mixed": mixed(),
    "nasty": nasty(" ".join(NASTY[:15])),
    "empty": EMPTY,
    "price": price_on(500),
    "huge": huge(10_000),
}
LOOKS = {
    "day": looks.every_day(),
    "stage": looks.stage(),
    "odd": looks.nasty(" ".join(NASTY[:15])),
    "well": looks.look(facts=looks.FACTS),
}
"""Pages of verify, which have the same style and script."""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the browser saw, all of it in one run. A look that shows a fault leaves a screenshot beside the pages."""
    pages = {name: as_html(review, shipped()[0]) for name, review in PAGES.items()}
    pages |= {name: html.as_html(look, shipped()[0]) for name, look in LOOKS.items()}
    return visit(pages, Path(__file__).with_name("browser.js"), tmp_path_factory.mktemp("pages"))


def test_pages_are_accessible_quiet_and_fit_the_screen(seen: dict[str, Any]) -> None:
    assert len(seen["looks"]) == 30
    for look in seen["looks"]:
        about = f"{look['name']} {look['scheme']} {look['width']}"
        assert look["violations"] == [], about
        assert look["passes"] >= 15, about
        assert look["sideways"] <= 0, about
        quiet(look)


def test_light_and_dark_differ(seen: dict[str, Any]) -> None:
    colours = {(look["scheme"], look["background"]) for look in seen["looks"]}
    assert colours == {("light", "rgb(246, 246, 243)"), ("dark", "rgb(20, 23, 27)")}


def test_every_part_is_reached_by_keyboard(seen: dict[str, Any]) -> None:
    keys = seen["keys"]
    quiet(keys)
    assert keys["first"]["text"] == "Skip to the changes"
    assert keys["first"]["inSight"]
    assert keys["inOrder"]
    assert len(keys["stops"]) > 30
    for stop in keys["stops"]:
        assert stop["ring"] >= 2, f"the focus on {stop} is not seen"
        assert stop["inSight"], stop
    assert {stop["tag"] for stop in keys["stops"]} >= {"a", "button", "input", "summary", "div"}
    assert keys["skipped"] == "#changes changes"


def test_keys_open_and_close(seen: dict[str, Any]) -> None:
    keys = seen["keys"]
    assert (keys["closed"]["summary"], keys["closed"]["open"]) == (True, False)
    assert keys["entered"]["open"]
    assert "fleet.toml:153:7" in keys["entered"]["text"]
    assert (keys["escaped"]["summary"], keys["escaped"]["open"]) == (True, False), "the focus stays where it was"
    assert keys["spaced"]["open"]


def test_a_line_opens_its_why_and_leads_to_the_change(seen: dict[str, Any]) -> None:
    keys = seen["keys"]
    assert keys["why"]["open"]
    for text in ("fleet.toml:166:9", 'price = "1450 wei / pixel"', "argument -pricePerUnit"):
        assert text in keys["why"]["text"]
    assert keys["followed"] == {"hash": "#c2", "open": True, "within": True}
    assert keys["whyClosed"], "Escape closes the line and leaves the file open"


def test_filters(seen: dict[str, Any]) -> None:
    found = seen["filters"]
    quiet(found)
    everything = [f"c{index}" for index in range(7)]
    assert found["all"]["changes"] == everything
    assert found["all"]["status"] == ""
    assert found["price"]["changes"] == ["c2"]
    assert found["price"]["pressed"] == "true"
    assert found["price"]["status"] == "Changes: 1 of 7. Groups of equal files: 2 of 8."
    assert found["priceOrExposure"]["changes"] == ["c0", "c2"]
    assert found["reset"] == found["all"]
    assert found["host"]["changes"] == ["c2", "c5", "c6"], "what concerns the whole fleet concerns each host"
    assert "hosts/eu-gpu-1/eu-video-1/launch.flags" in found["host"]["files"], "its file is one of the equal ones"
    assert found["hosts"]["changes"] == ["c0", "c1", "c2", "c5", "c6"]
    assert found["noHost"]["changes"] == ["c6"]
    assert found["escaped"]["changes"] == everything
    assert found["text"]["changes"] == []
    assert found["text"]["none"]
    assert found["text"]["files"] == ["hosts/us-edge/us-live/firewall.nft"]


def test_a_box_of_the_picture_shows_its_host(seen: dict[str, Any]) -> None:
    found = seen["filters"]
    assert found["box"]["host"] == "eu-ai"
    assert found["box"]["changes"] == ["c3", "c6"]
    assert found["stillFiltered"]["changes"] == ["c3", "c6"]


def test_nodes_of_verify_are_filtered_with_their_findings_and_lead_to_them(seen: dict[str, Any]) -> None:
    found = seen["verified"]
    quiet(found)
    assert found["drift"] == ["Findings: 2 of 5. Nodes: 2 of 11.", "c0", "c1", "us-video-1", "old-gate"]
    assert found["box"] == ["Findings: 1 of 5. Nodes: 2 of 11.", "c1", "us-live", "old-gate"]
    assert found["followed"] == ["#c0", True]


def test_no_impact_card_stands_alone_beside_full_rows(seen: dict[str, Any]) -> None:
    assert len(seen["rows"]) == 36
    for rows in seen["rows"]:
        assert len(set(rows)) == 1, f"rows of {rows} cards"
    assert [4] in seen["rows"] and [3] in seen["rows"] and [2, 2] in seen["rows"]


def test_picture_tells_roles_prices_and_ports_of_what_is_pointed_at(seen: dict[str, Any]) -> None:
    found = seen["pointed"]
    quiet(found)
    assert found["before"].startswith("Point at a host")
    assert "eu-edge-1" in found["hovered"]
    assert (
        "us-live changes: gateway video; pays at most 1400 wei / pixel; HTTP 8935 on all addresses" in found["focused"]
    )
    assert found["printed"], "the list with the same is printed, though it is not open"


def test_short_address_is_copied_whole_and_opens_by_keyboard(seen: dict[str, Any]) -> None:
    found = seen["addresses"]
    quiet(found)
    assert found["closed"] == 0
    assert found["open"] > 10
    assert found["copied"] == "0x" + "1" * 40


def test_page_reads_without_script(seen: dict[str, Any]) -> None:
    found = seen["withoutScript"]
    quiet(found)
    assert not found["filter"], "a filter that does nothing is not shown"
    assert found["tally"] == 8
    assert found["effects"]
    assert (found["before"], found["after"]) == (False, True), "a line opens all the same"


def test_ten_thousand_changes_stay_usable(seen: dict[str, Any]) -> None:
    found = seen["big"]
    quiet(found)
    assert found["status"] == "Changes: 111 of 10000. Groups of equal files: 0 of 600."
    assert found["loaded"] < 15_000
    assert found["filtered"] < 5_000


def test_print_is_dark_on_white_and_has_no_controls(seen: dict[str, Any]) -> None:
    found = seen["printed"]
    assert found["bytes"] > 20_000
    assert not found["nav"]
    assert not found["filter"]
    assert found["ink"] == "rgb(32, 36, 42)"
