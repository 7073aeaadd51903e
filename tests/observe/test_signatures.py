"""Every signature finds the lines that it must find, in the real form and in the wording of the documents, and no
others: a labelled set of log lines without an error.
"""

from __future__ import annotations

import re

import pytest

from fleetc.messages.explain import pages
from fleetc.messages.pages import PAGES
from fleetc.messages.tables import find
from fleetc.observe.lines import line_of
from fleetc.observe.matching import Matcher
from fleetc.observe.proofs import PROOFS
from fleetc.rules import rules
from fleetc.upstream.signatures import Signature, signatures
from tests.observe.support import counts, matcher, tally_of
from tests.support import for_each

SIGNATURES = list(signatures().values())
MATCHER = matcher()
LABELLED = [(line, {one.code}) for one in SIGNATURES for line in one.lines] + [
    (line, set[str]()) for one in SIGNATURES for line in one.misses
]

ERROR_TABLE = {
    "OrchestratorCapped": ("orchestrator-capped", "raise max_sessions"),
    "Transcode loop timed out": ("session-timed-out", "do nothing"),
    "Segment loop timed out": ("session-timed-out", "do nothing"),
    "TicketParams expired": ("ticket-params-expired", "do nothing while it happens now and then"),
    "MB rate > Level limit": ("h264-level-exceeded", "do nothing"),
    "Unsupported input pixel format": ("pixel-format-unsupported", "encoded again"),
    "Unable to transcode": ("transcode-refused", "do nothing"),
    "Could not connect to Ethereum node": ("rpc-unreachable", "correct rpc"),
    "Cannot allocate memory": ("encoder-out-of-sessions", "lower max_sessions"),
    "listen tcp 0.0.0.0:8935: bind: address already in use": ("port-in-use", "another one"),
    "insufficient funds for gas * price + value": ("gas-funds-missing", "top up the wallet"),
    "Error creating Ethereum account manager": ("keystore-unusable", "correct the path"),
    "Service address mismatch": ("service-address-differs", "write it as service"),
    "CUDA out of memory": ("cuda-out-of-memory", "reduce the capacity"),
    "livepeer: error while loading shared libraries: libcuda.so.1: cannot open": ("library-missing", "ld_library_path"),
}
"""The error table of the reference for operators: each pattern, its code, and its required handling."""

LIMITS = {
    "3 to 8": "encoder-out-of-sessions",
    "the 100 with the most stake": "orchestrator-inactive",
    "about 22 hours": "reward-call-failed",
    "0.02 to 0.05 ETH": "gas-funds-missing",
    "300 wei / pixel": "price-above-cap",
    "30 to 120 seconds": "runner-unwell",
    "85 percent": "cuda-out-of-memory",
    "15 minutes": "deposit-missing",
}
"""The table of limits of the reference for operators, and the page where whoever meets one in a log reads it."""


def test_every_signature_has_lines_and_misses() -> None:
    files = ", ".join(f"{one.code}.toml" for one in SIGNATURES if not (one.lines and one.misses))
    assert files == "", "give these in compiler/fleetc/upstream/signatures/ lines that match, and misses that do not"


@for_each(("line", "codes"), LABELLED)
def test_labelled_line(line: str, codes: set[str]) -> None:
    assert {hit.code for hit in MATCHER.find(line_of(line.encode()).sourced)} == codes


def test_labelled_lines_in_one_log_do_not_disturb_one_another() -> None:
    """Lines are told apart by a part of their letters alone, and near misses have most of them in common."""
    for lines in (LABELLED, LABELLED[::-1], LABELLED * 3):
        expected: dict[str, int] = {}
        for _, codes in lines:
            for code in codes:
                expected[code] = expected.get(code, 0) + 1
        tally = tally_of(*(line for line, _ in lines))
        assert counts(tally) == expected
        assert tally.lines == len(lines)
        unknown = sum(1 for _, codes in lines if not codes)
        assert sum(shape.count for shape in tally.shapes.values()) == unknown


def test_lines_that_differ_in_what_the_key_leaves_out() -> None:
    """A line with one letter less is no match, although both have one key, in whichever order they come."""
    tried: set[str] = set()
    for code, line in ((one.code, line) for one in SIGNATURES for line in one.lines):
        literal = next(hit.literal for hit in MATCHER.find(line_of(line.encode()).sourced) if hit.code == code)
        letter = next((place for place in range(1, len(literal) - 1) if literal[place] in "abcdef"), None)
        odd = line.replace(literal, literal[:letter] + literal[letter + 1 :]) if letter is not None else line
        if odd == line or MATCHER.find(line_of(odd.encode()).sourced):
            continue  # it matches another pattern, or an escape stands between
        tried.add(code)
        for lines in ((line, odd, line), (odd, line, line), (odd, odd, line, line)):
            tally = tally_of(*lines)
            assert counts(tally) == {code: 2}
            assert sum(shape.count for shape in tally.shapes.values()) == len(lines) - 2
    assert len(tried) > 0.9 * len(SIGNATURES), {one.code for one in SIGNATURES} - tried


@pytest.mark.parametrize("text", ERROR_TABLE)
def test_error_table(text: str) -> None:
    code, handling = ERROR_TABLE[text]
    assert [hit.code for hit in MATCHER.find(text)] == [code]
    assert handling in signatures()[code].handling.lower()


def test_benign_patterns_are_named_as_benign() -> None:
    benign = {code for code, one in signatures().items() if one.benign}
    assert {"session-timed-out", "h264-level-exceeded", "transcode-refused", "ticket-params-expired"} <= benign
    assert benign < set(signatures())


@pytest.mark.parametrize("number", LIMITS)
def test_limits_table(number: str) -> None:
    assert number in " ".join(pages()[LIMITS[number]].split())


@for_each("one", SIGNATURES)
def test_signature_is_well_formed(one: Signature) -> None:
    assert one.severity in ("error", "warning", "note")
    assert all(text.endswith(".") for text in (one.what, one.why, one.handling))
    assert not one.why[0].isupper() or one.why.startswith(("GPU", "CUDA"))
    assert all(pattern.strip("{} ") and len(max(pattern.split("{}"), key=len)) >= 10 for pattern in one.patterns)
    rule_codes = {rule.code for rule in rules()}
    assert set(one.checks) <= rule_codes
    assert one.code not in rule_codes | set(PAGES), "a code has one page"
    for field in one.change:
        assert find(field) is not None, field


@for_each("one", SIGNATURES)
def test_every_pattern_is_needed_by_a_line(one: Signature) -> None:
    """A pattern without a line that only it finds is a guess that nobody tries."""
    for pattern in one.patterns:
        alone = Matcher([one._replace(patterns=(pattern,))])
        needed = any(alone.find(line_of(line.encode()).sourced) for line in one.lines)
        assert needed, f"{one.code}.toml: give `lines` one that only {pattern!r} finds, or remove the pattern"


def test_proofs_belong_to_codes() -> None:
    assert set(PROOFS) <= set(signatures()) | set(PAGES)


def test_page_of_a_signature_is_its_handling() -> None:
    page = pages()["orchestrator-capped"]
    assert re.match(r"An orchestrator has reached its session limit\.\n\nWhy: ", page)
    assert "Raise max_sessions" in page


def test_variable_parts_of_a_line_are_kept() -> None:
    tally = tally_of(
        "ticket faceValue 600 > max faceValue 500",
        "ticket faceValue 700 > max faceValue 500",
        "Service address https://203.0.113.7:8935 did not match discovered address https://203.0.113.8:8935; set it",
    )
    assert list(tally.seen["face-value-above-deposit"].parts) == [("600", "500"), ("700", "500")]
    assert list(tally.seen["service-address-differs"].parts) == [
        ("https://203.0.113.7:8935", "https://203.0.113.8:8935")
    ]
