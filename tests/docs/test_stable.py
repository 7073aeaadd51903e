"""The page of what stays as it is names the formats that there are, and codes that exist."""

from __future__ import annotations

import re

from fleetc.emit import manifest
from fleetc.language.fleet import NEWEST
from fleetc.messages.explain import pages
from fleetc.review.reports import json as review
from fleetc.rollout.hosts import observe
from fleetc.rollout.journal import lines
from fleetc.rollout.reports import events
from tests.support import ROOT

PAGE = (ROOT / "compiler/docs/stable.md").read_text("utf-8")


def test_page_has_the_number_of_each_format() -> None:
    numbers = dict(re.findall(r"(?m)^\| (.+) \| (\d+) \|$", PAGE))
    assert {name: int(number) for name, number in numbers.items()} == {
        "`spec` of a spec": NEWEST,
        "`manifest.json`": manifest.FORMAT,
        "journal": lines.FORMAT,
        "requests to hosts, and their answers": observe._FORMAT,
        "JSON of a review": review.FORMAT,
        "events of `deploy --format json`": events.FORMAT,
    }, "a change of a format needs a reader of the older one, and a line in the changelog"


def test_page_names_codes_that_exist() -> None:
    rows = re.findall(r"(?m)^\|.*\| `([a-z-]+-[a-z-]+)`", PAGE)
    assert len(rows) >= 3 and set(rows) <= set(pages())
