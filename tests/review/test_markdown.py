"""The pull-request comment: its size, its order, and that real Markdown parsers find no markup in texts of a spec."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from markdown_it import MarkdownIt
from syrupy.assertion import SnapshotAssertion

from fleetc.review.data import Effect, FileChange, Review
from fleetc.review.reports import wording
from fleetc.review.reports.markdown import as_markdown
from fleetc.text.encoders import visible
from tests.review.report_support import TEXTS, Reader, everyday, wild
from tests.review.samples import EMPTY, NASTY, huge, mixed, nasty, price_on
from tests.support_values import VECTORS

pytestmark = pytest.mark.usefixtures("processes")

BLOCKS = {"h3", "p", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "pre", "details", "summary"}
TAGS = BLOCKS | {"strong", "code", "wbr"}
# What a forge makes of text that is not code: mentions, issues, links, commits, emoji.
LIVE = re.compile(r"@\w|#\d|\bGH-\d|://|www\.|\w@\w|:\w+:|\b[0-9a-fA-F]{7,40}\b")


def rendered(text: str) -> Reader:
    return Reader(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text))


def check(text: str) -> Reader:
    """The size, and that the comment holds our own elements and nothing that a forge would bring to life."""
    assert len(text) < 60_000
    assert len(text.encode()) < 60_000
    page = rendered(text)
    check_page(page)
    return page


def check_page(page: Reader) -> None:
    assert not page.open
    assert not page.other
    assert {tag for tag, _ in page.shape} <= TAGS
    assert {name for _, names in page.shape for name in names} <= {"style", "class", "align", "lang"}
    for around, text in page.texts:
        if not {"code", "pre"} & set(around):
            assert not LIVE.search(text), text


def test_comment_of_a_day(snapshot: SnapshotAssertion) -> None:
    assert as_markdown(mixed()) == snapshot


def test_nothing_changed_is_said_in_a_line() -> None:
    assert as_markdown(EMPTY).startswith("### Nothing changes\n")
    check(as_markdown(EMPTY))


def test_verdict_first_then_impacts_then_the_gravest_change() -> None:
    lines = as_markdown(mixed()).splitlines()
    assert lines[0].startswith("### 7 changes on 7 hosts: exposure (1), funds (1), price (1)")
    table = [line for line in lines if line.startswith("| **")]
    assert [line.split("**")[1] for line in table] == [tally.impact for tally in wording.tallies(mixed())]
    first = next(line for line in lines if line.startswith("- **"))
    assert first.startswith(
        "- **critical**, **exposure**, **restart**: argument `-cliAddr`: `127.0.0.1:5935` &rarr; `0.0.0.0:5935`"
    )


def test_price_of_500_hosts_takes_at_most_40_lines() -> None:
    text = as_markdown(price_on(500))
    assert text.count("\n") <= 40
    assert "same on 500 hosts" in text
    assert "same in 500 files" in text
    check(text)


def test_price_that_many_can_no_longer_pay_takes_at_most_40_lines() -> None:
    """All that a change of one price can bring: many effects and causes, a note, files that are all different."""
    review = price_on(500)
    (change,) = review.changes
    chain = Effect("chain", "needs a transaction", Decimal(1))
    lost = tuple(Effect("price", f"gateway g{n} can no longer buy", Decimal(9), (f"g{n}",)) for n in range(50))
    changes = (replace(change, effects=(*change.effects, chain, *lost), causes=change.causes * 40),)
    files = tuple(
        FileChange(file.path, "changed", (replace(file.lines[0], new_line=number),))
        for number, file in enumerate(review.files)
    )
    text = as_markdown(replace(review, changes=changes, files=files, notes=("hosts were not asked",)))
    assert text.count("\n") <= 40
    assert "and 49 more effects" in text
    assert "and 38 more causes" in text
    check(text)


def test_what_is_folded_and_left_out_is_counted() -> None:
    review = huge(10_000)
    text = as_markdown(review)
    page = check(text)
    assert len(text) > 45_000
    shown = len(re.findall(r"^- \*\*", text, re.MULTILINE))
    (folded,) = re.findall(r"<summary>([\d,]+) more changes", text)
    (left,) = re.findall(r"Not shown here to save space: ([\d,]+) more changes", text)
    assert shown - int(folded.replace(",", "")) == 20
    assert shown + int(left.replace(",", "")) == 10_000
    assert [tag for tag, _ in page.shape].count("details") == text.count("</details>") >= 2


@pytest.mark.parametrize("seed", range(24))
def test_any_review_fits_and_stays_text(seed: int) -> None:
    review = wild(seed)
    text = as_markdown(review)
    check(text)
    assert text == as_markdown(review)
    assert text.startswith("### ")


def test_worst_texts_everywhere_still_fit() -> None:
    """The characters with the longest spelling, in every place, and so many of each thing that all bounds are met."""
    tag = "\U000e0041" * 100_000
    spot = nasty(tag).changes[0].causes[0]
    effect = nasty(tag).changes[0].effects[0]
    change = nasty(tag).changes[0]
    many = Review(
        fleet=tag,
        baseline=tag,
        tool=tag,
        changes=tuple(
            type(change)(tag, tag, tag, tag + "y", change.targets, (spot,) * 9, (effect,) * 40, change.lines)
            for _ in range(50)
        ),
        files=nasty(tag).files * 50,
        restarts=nasty(tag).restarts * 200,
        picture=(),
        edges=(),
        notes=(tag,) * 50,
    )
    text = as_markdown(many)
    check(text)
    assert "- **exposure**" in text, "even then one change is shown"


def test_samples_stay_text() -> None:
    for review in everyday():
        check(as_markdown(review))


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_text_of_a_spec_comes_out_as_text(text: str) -> None:
    page, plain = check(as_markdown(nasty(text))), rendered(as_markdown(nasty("plain")))
    assert [t for t, _ in page.shape if t in BLOCKS] == [t for t, _ in plain.shape if t in BLOCKS]
    if len(text) < 80:
        assert page.text("code").count(visible(text)) >= 5


@pytest.mark.parametrize("vector", [v for v in VECTORS if v["area"] == "encode.gfm_cell"], ids=lambda v: str(v["id"]))
def test_vector_is_code_in_the_comment(vector: dict[str, Any]) -> None:
    text = vector["input"]["value"]
    made = as_markdown(nasty(text))
    assert vector["expect"]["encoded"] in made
    assert check(made).text("code").count(visible(text)) >= 5


@pytest.mark.skipif(shutil.which("cmark-gfm") is None, reason="cmark-gfm is not installed")
def test_the_parser_of_the_forge_agrees() -> None:
    options = ["--unsafe", "--github-pre-lang"]
    for extension in ("table", "autolink", "strikethrough", "tagfilter"):
        options += ["-e", extension]
    for review in (*everyday(), *map(wild, range(20))):
        text = as_markdown(review)
        done = subprocess.run(["cmark-gfm", *options], input=text.encode(), capture_output=True, check=True, timeout=60)
        check_page(Reader(done.stdout.decode()))
    assert len(NASTY) > 15


def test_restart_is_told_behind_any_number_of_effects() -> None:
    effects = (
        *(Effect("price", f"number {n}", Decimal(1)) for n in range(9)),
        Effect("restart", "it ends", Decimal(1)),
    )
    page = as_markdown(replace(mixed(), changes=(replace(mixed().changes[0], effects=effects),)))
    assert "  - restart: it ends" in page
    assert "more effects" not in page, "none of them is less grave than the restart"
