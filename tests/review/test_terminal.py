"""The terminal report: what people read in it, that it stays short, and that no text of a spec reaches the terminal."""

from __future__ import annotations

import re
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.review.reports.terminal import as_text
from fleetc.text.encoders import visible
from tests.review.report_support import everyday, wild
from tests.review.samples import EMPTY, huge, mixed, nasty, price_on
from tests.support_values import VECTORS

PAINT = re.compile(r"\x1b\[[0-9;]*m")


def test_report_of_a_day(snapshot: SnapshotAssertion) -> None:
    assert as_text(mixed()) == snapshot


def test_nothing_changed_takes_two_lines() -> None:
    assert as_text(EMPTY) == "Review of two-regions against the recorded tree rendered/\nNothing changes\n"


def test_price_of_500_hosts_is_told_once() -> None:
    told = as_text(price_on(500))
    assert told.count("\n") <= 13
    assert "same on 500 hosts: gpu-0000, gpu-0001, gpu-0002 and 497 more" in told
    assert "--> fleet.toml:12:9" in told
    assert '12 | price = "1300 wei / pixel"' in told
    assert "500 processes restart, at most 4,000 live sessions drop" in told


def test_ten_thousand_changes_are_bounded_and_counted() -> None:
    told = as_text(huge(10_000))
    assert told.count("\n") < 500
    assert len(told) < 40_000
    assert "... and 9,960 more changes, by most serious impact: 1,072 exposure, 1,111 funds" in told
    assert "... and 9,990 more notes" in told


def test_line_that_may_hold_a_secret_is_not_shown() -> None:
    assert "   8 | [line not shown: it may contain a secret]" in as_text(mixed())


def test_colour_adds_nothing_but_colour() -> None:
    for review in everyday():
        painted = as_text(review, colour=True)
        assert PAINT.sub("", painted) == as_text(review)
        starts = PAINT.findall(painted)
        assert starts[::2].count("\x1b[0m") == 0
        assert set(starts[1::2]) <= {"\x1b[0m"}


@pytest.mark.parametrize("seed", range(16))
def test_lines_are_bounded_and_hold_no_control_and_no_command(seed: int) -> None:
    check(as_text(wild(seed)))


def test_no_sample_reaches_the_terminal() -> None:
    for review in everyday():
        check(as_text(review))


def check(told: str) -> None:
    assert told.endswith("\n")
    assert told.count("\n") < 700
    for line in told[:-1].split("\n"):
        assert visible(line) == line
        assert len(line) < 5_000
        assert not line.lstrip().startswith("::")
        assert "##[" not in line


@pytest.mark.parametrize(
    "vector", [v for v in VECTORS if v["area"] in ("encode.terminal", "ci.plain_output")], ids=lambda v: str(v["id"])
)
def test_vector_is_harmless_in_every_place(vector: dict[str, Any]) -> None:
    text = vector["input"].get("value", vector["input"].get("message"))
    told = as_text(nasty(text))
    check(told)
    if "encoded" in vector["expect"]:
        assert told.count(vector["expect"]["encoded"]) >= 15
