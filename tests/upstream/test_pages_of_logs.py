"""The pages of log patterns are tied to the sources: each pattern stands in what a call of some release prints."""

from __future__ import annotations

import re

from fleetc import upstream
from fleetc.observe.lines import line_of
from fleetc.observe.matching import Matcher
from fleetc.upstream.messages import CallSite, lookup, read
from fleetc.upstream.signatures import Signature, signatures
from tests.support import for_each

ERRORS = [shape.split("{}") for _, level, shape in read(upstream.text("call_sites.toml"))[1] if level in "TE"]
FEW_LETTERS = 7
"""Words between those of the node, such as desc and message."""


def _site(line: str) -> CallSite | None:
    parsed = line_of(line.encode())
    file, _, number = parsed.source.rstrip("] ").partition(":")
    return lookup().match(file, parsed.text, int(number or 0))


def _covered(text: str, pieces: list[str], marks: list[bool]) -> None:
    """Mark the pieces of a shape in a text that has them all in order."""
    place, spans = 0, []
    for piece in pieces:
        place = text.find(piece, place)
        if place < 0:
            return
        spans.append((place, place + len(piece)))
        place += len(piece)
    for start, end in spans:
        marks[start:end] = [True] * (end - start)


def _is_tied(pattern: str, line: str) -> bool:
    """Whether a call prints this line, and every word of the pattern in it is of that call or of an error."""
    site, parsed = _site(line), line_of(line.encode())
    if site is None or (site.level == "T" and parsed.source):
        return False
    text = parsed.sourced
    marks = [place < len(parsed.source) for place in range(len(text))]
    for pieces in ([site.shape.split("{}")] if site.level != "T" else []) + ERRORS:
        if sum(map(len, pieces)) >= 8:
            _covered(text, pieces, marks)
    literals = pattern.removeprefix("^").split("{}")
    found = re.search(".*?".join(f"({re.escape(piece)})" for piece in literals), text)
    letters = [at for group in range(1, len(literals) + 1) for at in range(*found.span(group))] if found else []
    values = [at for at in letters if not marks[at] and text[at].isalpha()]
    return found is not None and len(values) <= max(FEW_LETTERS, sum(map(str.isalpha, pattern)) // 3)


@for_each("one", list(signatures().values()))
def test_patterns_of_the_node_are_printed_by_it(one: Signature) -> None:
    """The declared exceptions are words of other programs, and they are needed."""
    untied = []
    for pattern in one.patterns:
        alone = Matcher([one._replace(patterns=(pattern,))])
        lines = [line for line in one.lines if alone.find(line_of(line.encode()).sourced)]
        untied += [] if any(_is_tied(pattern, line) for line in lines) else [pattern]
    assert sorted(untied) == sorted(one.others + one.documents), f"{one.code}: no call prints these"
