"""Every call of the node that logs an error, or ends it, is known by the text that it prints."""

from __future__ import annotations

import re

from fleetc import upstream
from fleetc.language.rows import UNREACHED, fields_that_set
from fleetc.upstream import RELEASES, Release
from fleetc.upstream.messages import CallSite, flags_named, lookup, read
from tests.support import for_each

LISTED, ROWS = read(upstream.text("call_sites.toml"))
VALUES = ("7", "dial tcp 10.0.0.7:8935: connect: connection refused", 'https://203.0.113.7:8935 "a value"')


def _sites(release: Release) -> list[CallSite]:
    rows = [(row, line) for row, lines in ROWS.items() for line in lines.get(release, ())]
    return [CallSite(path, line, level, shape, release) for (path, level, shape), line in rows if level not in "IT"]


def _printed(site: CallSite, number: int) -> str:
    first, *others = site.shape.split("{}")
    return first + "".join(VALUES[(number + at) % len(VALUES)] + piece for at, piece in enumerate(others))


def test_every_release_with_flags_has_its_calls() -> None:
    assert LISTED == RELEASES
    assert len(_sites(RELEASES[-1])) > 1000


def test_every_file_has_its_part_of_the_node() -> None:
    parts, used = set(upstream.load("messages.toml")["parts"]), {"go", "flags"}
    for path, level, shape in ROWS:
        part = max((part for part in parts if path.startswith(part)), key=len, default="")
        assert part, f"messages.toml has no part for {path}"
        used.add(part)
        assert CallSite(path, 1, level, shape, RELEASES[-1]).says.count(". ") == 1
    assert used == parts


@for_each("release", RELEASES)
def test_every_call_is_known_by_what_it_prints(release: Release) -> None:
    table = lookup(release)
    for number, site in enumerate(_sites(release)):
        file = site.path.rpartition("/")[2]
        assert table.match(file, "manifestID=5c1a9e clientIP=10.0.0.7 " + _printed(site, number), site.line) == site


def test_a_call_is_known_at_another_line_and_in_a_release_without_table() -> None:
    """A build of their own moves lines; the call is one with the same text, then."""
    for release in (RELEASES[-1], (0, 9, 7), (1, 0, 0)):
        sites = [site for site in _sites(RELEASES[-1]) if sum(map(str.isalpha, site.shape)) > 8]
        table = lookup(release)
        found = [(site, table.match(site.path.rpartition("/")[2], _printed(site, 0), 99_999)) for site in sites]
        assert [pair for pair in found if pair[1] is None or pair[1][0::3] != pair[0][0::3]] == []


PUBLISHED = {
    "orchestrator.go:179] manifestID=3 seqNo=1 Error receiving ticket sessionID=07 recipientRandHash=8a senderNonce=4: "
    "invalid ticket senderNonce sender=0xc3 nonce=4 highest=7": ("core/orchestrator.go", "E"),
    "starter.go:1099] No orchestrator specified; transcoding will not happen": ("cmd/livepeer/starter/starter.go", "E"),
    'queue.go:150] Error redeeming err="execution reverted: ticket is expired"': ("pm/queue.go", "E"),
    "mediaserver.go:856] manifestID=m clientIP=127.0.0.1 Couldn't detect input video stream codec": (
        "server/mediaserver.go",
        "W",
    ),
    "starter.go:853] expecting chainID of 1, but got 5. Did you": ("cmd/livepeer/starter/starter.go", "S"),
    "orchestrator.go:178] Error receiving ticket manifestID=7f recipientRandHash=1d: TicketParams expired": (
        "pm/recipient.go",
        "T",
    ),
    "panic: Unrecoverable state, restart process": ("lpms/ffmpeg/ffmpeg_errors.go", "P"),
    "panic: runtime error: invalid memory address or nil pointer dereference": ("go", "P"),
    "flag provided but not defined: -aiServiceRegistry": ("flags", "X"),
    "ERROR: decoder.c:284] Non 4:2:0 pixel format detected in input : Invalid argument": ("lpms/ffmpeg/decoder.c", "R"),
    "timestamp=2025-06-01 10:11:12 level=ERROR location=process.py:9:stop request_id=a message=Process join error: x": (
        "ai-runner/runner/src/runner/live/process/process.py",
        "R",
    ),
    "starter.go:853] I am of another program": ("cmd/livepeer/starter/starter.go", "S"),
}
NOBODYS = (
    "starter.go:1] I am of another program",
    "[h264 @ 0x7f] error while decoding MB 1 1",
    "database.go:80] Error opening DB: x",
)


def test_lines_as_people_published_them() -> None:
    """Those of older releases, too, whose lines are others."""
    for text, expected in PUBLISHED.items():
        site = _match(text)
        assert site is not None and (site.path, site.level) == expected, text
    assert [_match(text) for text in NOBODYS] == [None] * len(NOBODYS)


def _match(text: str) -> CallSite | None:
    source = re.match(r"(\w+\.go):([0-9]+)\] ", text)
    return lookup().match(source[1], text[source.end() :], int(source[2])) if source else lookup().match("", text)


def test_a_text_that_names_a_flag_leads_to_the_fields_that_set_it() -> None:
    """At the start all of them; elsewhere a dash may stand before another word."""
    shapes = [site.shape for site in _sites(RELEASES[-1]) if site.path.startswith("cmd/livepeer/")]
    naming = [shape for shape in shapes if re.search(r"(?<![\w'])-[A-Za-z]", shape)]
    assert len(naming) > 50
    assert [shape for shape in naming if not flags_named(shape)] == []
    named = {name for shape in shapes for name in flags_named(shape)}
    assert [name for name in sorted(named) if not fields_that_set(name) and name not in UNREACHED] == []
    assert flags_named("Error while parsing '-nvidia 0' flag: x, or LP_v") == ("nvidia",)
