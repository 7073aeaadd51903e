"""The page as text: one file that needs nothing, holds no markup of a spec, and stays small enough to use."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from fleetc.review.data import Box, Edge, Effect, FileChange, Line, NodeFact, Review
from fleetc.review.gravity import TONES
from fleetc.review.reports.html import as_html
from fleetc.text.encoders import visible
from tests.review.report_support import TEXTS, Reader, everyday, wild
from tests.review.samples import EMPTY, huge, mixed, nasty, price_on
from tests.support import shipped
from tests.support_values import VECTORS

URLS = {"href", "src", "action", "formaction", "srcset", "data", "poster", "background", "xlink:href"}


def page_of(review: Review) -> str:
    return as_html(review, shipped()[0])


def shape(page: str) -> list[tuple[str, tuple[str, ...]]]:
    """Elements and names of attributes, without the marks of what differs: they depend on the texts."""
    return [element for element in Reader(page).shape if element[0] != "mark"]


def policy(page: str) -> str:
    (found,) = [value for tag, name, value in Reader(page).attributes if (tag, name) == ("meta", "content")][:1]
    return found


def test_page_is_well_formed_and_loads_nothing() -> None:
    for review in (*everyday(), *map(wild, range(8))):
        read = Reader(page_of(review))
        assert not read.open
        assert read.other == ["DOCTYPE html"]
        for tag, name, value in read.attributes:
            assert not name.startswith("on"), "no code in attributes"
            assert name != "style", "the policy admits none"
            if name in URLS:
                assert value.startswith("#") or (tag, value) == ("link", "data:,")
        assert [tag for tag, _ in read.shape].count("script") == 1
        assert [tag for tag, _ in read.shape].count("style") == 1


def test_policy_admits_our_style_and_script_and_nothing_else() -> None:
    page = page_of(mixed())
    rules = dict(rule.split(" ", 1) for rule in policy(page).split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["base-uri"] == rules["form-action"] == "'none'"
    for kind in ("style", "script"):
        (content,) = re.findall(f"<{kind}>(.*?)</{kind}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert rules[f"{kind}-src"] == f"'sha256-{digest}'"
        suffix = {"style": "css", "script": "js"}[kind]
        assert content == shipped()[0][f"html/page.{suffix}"]
        assert f"</{kind}" not in content.lower()
        assert "url(" not in content and "@import" not in content and "fetch(" not in content


def test_identifiers_are_unique_and_links_lead_somewhere() -> None:
    for review in (mixed(), huge(2_000)):
        read = Reader(page_of(review))
        found = [value for _, name, value in read.attributes if name == "id"]
        assert len(found) == len(set(found))
        links = {value[1:] for _, name, value in read.attributes if name == "href" and value.startswith("#")}
        assert links <= set(found)


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_text_of_a_spec_changes_nothing_but_text(text: str) -> None:
    page = page_of(nasty(text))
    assert shape(page) == shape(page_of(nasty("plain")))
    if len(text) < 200:
        assert "".join(t for _, t in Reader(page).texts).count(visible(text)) >= 20
        assert any(visible(text) in value for _, name, value in Reader(page).attributes if name == "value")


@pytest.mark.parametrize(
    "vector", [v for v in VECTORS if v["area"] in ("encode.html", "encode.terminal")], ids=lambda v: str(v["id"])
)
def test_vector_is_harmless_in_every_place(vector: dict[str, Any]) -> None:
    page = page_of(nasty(vector["input"]["value"]))
    if vector["area"] == "encode.html":
        assert page.count(vector["expect"]["encoded"]) >= 20
    assert shape(page) == shape(page_of(nasty("plain")))


def test_equal_changes_stand_once() -> None:
    page = page_of(price_on(500))
    assert len(page) < 300_000
    assert page.count('class="change ') == 1
    assert page.count('class="file"') == 2
    assert "same in 500 files" in page
    assert "same on 500 hosts" in page


def test_ten_thousand_changes_stay_usable() -> None:
    page = page_of(huge(10_000))
    assert len(page) < 5_000_000
    assert page.count('class="change ') == 800
    assert page.count("data-i=") == 10_000 + 600 + 1_000
    assert "9,400 more files with other lines: the JSON report has them all." in page
    assert "9,000 more processes" in page
    assert "Not drawn: 9,952 more hosts, of which 9,952 change and 9,952 more connections." in page


def test_more_changes_than_a_page_holds_are_counted() -> None:
    review = huge(1_000)
    page = page_of(replace(review, changes=review.changes * 11, files=(), picture=(), edges=(), restarts=()))
    assert "200 more changes: the JSON report has them all." in page


def test_every_changed_line_says_why() -> None:
    review = mixed()
    page = page_of(review)
    lines = sum(len(file.lines) for file in review.files) - 3  # three files are equal to a fourth
    assert page.count('<details class="line">') == lines
    assert page.count('<div class="why">') == lines
    assert page.count("It belongs to no single change") == 2
    why = page.split("-maxSessions=200</code>")[-1].split("</details>")[0]
    assert 'href="#c4"' in why
    assert "fleet.toml:128:16" in why
    assert "max_sessions = 200" in why
    assert "Before the change: the line is gone" in why


def test_long_file_ends_with_a_count() -> None:
    lines = tuple(Line("a", number, number, "x", "y") for number in range(1, 501))
    page = page_of(replace(EMPTY, files=(FileChange("a", "changed", lines),)))
    assert page.count('<details class="line">') == 150
    assert "and 350 more lines" in page


def test_files_whose_lines_are_not_told_stand_together() -> None:
    files = tuple(FileChange(f"ansible/host_vars/h{number}.json", "changed", ()) for number in range(3))
    page = page_of(replace(EMPTY, files=(*files, FileChange("manifest.json", "changed", ()))))
    assert page.count('class="file"') == 2
    assert "The lines of these files are derived from other files." in page
    assert "The lines of this file are derived from other files." in page
    assert 'class="lines"' not in page


def test_line_that_may_hold_a_secret_is_not_shown() -> None:
    assert page_of(mixed()).count("line not shown: it may contain a secret") == 2


def test_hosts_are_ranges_in_the_list_of_hosts() -> None:
    page = page_of(price_on(500))
    hosts = re.findall(r'<option value="([^"]+)">', page)
    assert hosts == [f"gpu-{number:04}" for number in range(500)]
    assert re.findall(r'class="change [^>]*data-h="([^"]*)"', page) == ["0-499"]
    fleet_wide = re.findall(r'data-h="([^"]*)"', page_of(mixed()))
    assert "" in fleet_wide


def test_there_are_four_colours_with_a_meaning() -> None:
    style = shipped()[0]["html/page.css"]
    assert set(re.findall(r"--hue: var\(--([a-z]+)\)", style)) == {"red", "gold", "blue", "green", "ink"}
    page = page_of(mixed())
    assert set(re.findall(r'class="(?:change|tag|tag solid) (t-[a-z]+)', page)) <= {f"t-{name}" for name in TONES}
    assert re.findall(r'<li class="t-([a-z]+)"><h3>', page) == list(TONES)


def test_page_begins_with_the_gravest_effect() -> None:
    page = page_of(mixed())
    head = page.split("<header>")[1].split("</header>")[0]
    assert '<p class="verdict t-danger critical">' in head
    assert "Opens the administration port (5935) of us-live to everyone who can reach us-edge." in head
    assert page.count('<article class="change t-danger critical"') == 1


def test_addresses_are_short_with_all_of_them_at_hand() -> None:
    address = "0x" + "ab12" * 10
    effect = Effect("identity", f"it acts with account {address}, not {address[:-2]}", Decimal(1))
    page = page_of(replace(EMPTY, changes=(replace(mixed().changes[0], effects=(effect,)),)))
    shown = (
        f'<span class="long" tabindex="0" title="{address}">0xab12<span class="rest">{address[6:-4]}</span>ab12</span>'
    )
    assert page.count(shown) == 1 + 1, "in the verdict and in the card"
    assert f"not {address[:-2]}" in page, "what is no whole address stays as it is"


def test_picture_tells_new_changed_and_removed_by_mark_and_word() -> None:
    facts = (NodeFact("a", "gateway video"),)
    box = Box("h", "h docker", ("a", "b", "c", "d"), ("a", "b", "c"), ("a",), ("c",), facts, "added")
    page = page_of(replace(mixed(), picture=(box,), edges=()))
    for state, word in (("added", "new"), ("changed", "changed"), ("removed", "removed")):
        (node,) = re.findall(f'<g class="node {state}">.*', page)
        assert '<text class="word" x="244" y=' in node and f">{word}</text>" in node
    marks = re.findall(r'<g class="node [a-z]+">.*?<path d="M[0-9]+ [0-9]+(m[^"]*)"', page)
    assert len(set(marks)) == 3, "each state has a shape of its own"
    assert "<title>a is new: gateway video</title>" in page
    assert "<b>h docker, is new</b><ul><li>a is new: gateway video</li>" in page


def test_picture_tells_new_and_removed_connections_by_mark_and_word() -> None:
    boxes = tuple(Box(name, f"{name} docker", (name,), ()) for name in ("a", "b", "c"))
    edges = (Edge("a", "b", "pays", "added"), Edge("a", "c", "pays", "removed"), Edge("b", "c", "serves"))
    page = page_of(replace(mixed(), picture=boxes, edges=edges))
    for state, says in (("added", "a pays b (new)"), ("removed", "a pays c (removed)")):
        assert re.search(f'<path class="edge solid {state}" d="[^"]*"><title>{re.escape(says)}</title>', page)
        assert f"<li>{says}</li>" in page, "the picture as a list says it too"
        assert f'<span class="key {state}">' in page, "the legend explains the mark"
    assert '<path class="edge dotted" d=' in page
    marks = re.findall(r'<path class="on-edge [a-z]+" d="M[0-9]+ [0-9]+(m[^"]*)"', page)
    assert len(marks) == len(set(marks)) == 2, "each state has a shape of its own"


def test_connections_that_change_are_drawn_first() -> None:
    many = tuple(Edge("a", "b", f"kind {number}") for number in range(200))
    boxes = (Box("h", "h docker", ("a", "b"), ()),)
    page = page_of(replace(mixed(), picture=boxes, edges=(*many, Edge("a", "b", "pays", "removed"))))
    assert "a pays b (removed)" in page and "Not drawn: 51 more connections." in page


def test_picture_marks_what_changes_not_by_colour_alone() -> None:
    page = page_of(mixed())
    assert page.count('<g class="node changed">') == 7
    assert page.count('<g class="node">') == 2
    assert page.count("m0 -5l5 5l-5 5l-5 -5z") == 7 + 1, "a diamond, once in the legend"
    assert page.count("<circle") == 2 + 1
    assert "<title>us-edge docker: us-live changes</title>" in page
    assert "eu-edge-2 docker: eu-images stays as it is" in page
    assert "eu-images finds orchestrators by registry" in page


def card_tones(page: str) -> list[str]:
    return re.findall(r'<article class="change t-([a-z]+)', page)


def test_card_has_the_gravest_colour_of_its_tags() -> None:
    review = mixed()
    lost = Effect("capacity", "sessions: 0 instead of 8", Decimal(8), weight="worse")
    paid = Effect("funds", "what it earned stays", Decimal(1))
    change = replace(review.changes[0], effects=(paid, lost))
    assert card_tones(page_of(replace(review, changes=(change,), files=()))) == ["danger"]
    assert card_tones(page_of(replace(review, changes=(replace(change, effects=(paid,)),), files=()))) == ["money"]


def test_restarts_of_the_verdict_are_not_told_again_below_it() -> None:
    review = mixed()
    restart = replace(review.changes[0], effects=(Effect("restart", "eu-live restarts", Decimal(1)),))
    below = re.search('<p class="costs">.*', page_of(replace(review, changes=(restart,), files=())))
    assert below is not None and "restart" not in below[0]
    below = re.search('<p class="costs">.*', page_of(review))
    assert below is not None and "restart" in below[0]


def test_lines_of_one_side_take_the_whole_width() -> None:
    blocks = re.split('<div class="lines', page_of(mixed()))[1:]
    found = {(block.startswith(" one-sided"), "side old" in block and "side new" in block) for block in blocks}
    assert found == {(True, False), (False, True)}
