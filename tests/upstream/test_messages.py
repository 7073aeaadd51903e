"""Every call of the node that logs an error, or ends it, is known by the text that it prints."""

from __future__ import annotations

from fleetc.upstream import RELEASES, Release
from fleetc.upstream.messages import CallSite, lookup
from tests.support import for_each

VALUES = ("7", "https://203.0.113.7:8935", "dial tcp 10.0.0.7:8935: connect: connection refused", '"a value"')


def _printed(site: CallSite, number: int) -> str:
    text = site.shape
    while "{}" in text:
        text = text.replace("{}", VALUES[number % len(VALUES)], 1)
        number += 1
    return text


@for_each("release", RELEASES)
def test_every_call_is_known_by_what_it_prints(release: Release) -> None:
    table = lookup(release)
    missed = []
    for site in table.sites():
        for number in range(len(VALUES) if site.level not in "IT" else 0):
            found = table.match(site.path.rpartition("/")[2], _printed(site, number), site.line)
            if found != site:
                missed.append((site, found))
    assert missed == []
