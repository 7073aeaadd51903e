"""The TOML side of a spec: what is refused, where and in which words, and overlays."""

from __future__ import annotations

import random
import sys
import tomllib
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
import tomli

from fleetc.places.diagnostic import Span
from fleetc.toml.document import Document, LineMap, Source, read_document
from fleetc.toml.reader import MAX_DEPTH, MAX_KEY_PARTS, MAX_LINE
from tests.support import EXAMPLES, example_text
from tests.toml.toml_texts import EVERY_FORM, VECTORS, read, refuse, under

LEFT_TO_THE_MODEL = {f"toml-text-{number:03}" for number in (3, 6, 21, 22, 23, 24)} | {"toml-big-008"}


# ---------------------------------------------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ("text", "code", "place", "advice"),
    [
        ("a = 1\na = 2", "duplicate-key", "a", "keep one"),
        ("[a]\nx = 1\n[a]", "duplicate-key", "a", "keep one"),
        ("a = {b = 1, b = 2}", "duplicate-key", "b", "keep one"),
        ("a = {b = 1}\na.c = 2", "duplicate-key", "a", "keep one"),
        ("[a.b]\n[a]\nb.c = 1", "duplicate-key", "b", "keep one"),
        ("a = yes", "toml-syntax", "yes", "write true"),
        ("a = False", "toml-syntax", "False", "write false"),
        ("a = 203.0.113.1 # x", "toml-syntax", "203.0.113.1", '"203.0.113.1"'),
        ("a = 1200 wei", "toml-syntax", "1200 wei", '"1200 wei"'),
        ("a = [1200 wei]", "toml-syntax", "1200 wei", '"1200 wei"'),
        ("a = {b = no}", "toml-syntax", "no", "write false"),
        ("a = 0123", "toml-syntax", "0123", "without leading zeros"),
        ("a = 2026-12-32", "toml-syntax", "2026-12-32", "year-month-day"),
        ("a = 2026-1-5", "toml-syntax", "2026-1-5", "year-month-day"),
        ('a = "abc\nb = 1', "toml-syntax", '"abc', 'end it with "'),
        ("a = 'abc\nb = 1", "toml-syntax", "'abc", "end it with '"),
        ('a = """abc', "toml-syntax", '"""abc', 'end it with """'),
        ("a = '''abc", "toml-syntax", "'''abc", "end it with '''"),
        ("a = [1,\nb = 2", "toml-syntax", "b", "add , or ]"),
        ("a = [1 2]", "toml-syntax", "2", "add , or ]"),
        ("a = {b = 1, }", "toml-syntax", "}", "remove the comma"),
        ("a = {b = 1\n}", "toml-syntax", "\n", "on one line"),
        ('a = "\\e"', "toml-syntax", "\\e", "single quotes"),
        ('a = "\\x41"', "toml-syntax", "\\x", "single quotes"),
        ('a = "\\', "toml-syntax", "\\", "backslash"),
        ("a = 07:32", "toml-syntax", "07:32", "quotes"),
        ("name: 'x'", "toml-syntax", ":", "key = value"),
        ("é = 1", "toml-syntax", "é", "quotes"),
        ("[a", "toml-syntax", "", "end it with ]"),
        ("a = 1 b = 2", "toml-syntax", "b", "one key = value on a line"),
        ("a =", "toml-syntax", "", "write one"),
        ("a = nan", "number-out-of-range", "nan", "write a number within the range; for an amount"),
        ("a = [1, -inf]", "number-out-of-range", "-inf", "write text with its unit"),
        ("a = 9223372036854775808", "number-out-of-range", "9223372036854775808", "write text with its unit"),
        ("a = 1e1000000", "number-out-of-range", "1e1000000", "write text with its unit"),
        ("a = 1e99999999999999999999", "number-out-of-range", "1e99999999999999999999", "write text with its unit"),
        ("a = 1979-05-27 07:32:00Z # x", "date-value", "1979-05-27 07:32:00Z", '"1979-05-27 07:32:00Z"'),
        ("[x.'']\ny = 1", "empty-key", "''", "name"),
        ("a = 1 # \u202e", "hidden-character", "\u202e", "remove"),
        ('a = "\\u200b"', "hidden-character", '"\\u200b"', "remove"),
        ('"\\u200b" = 1', "hidden-character", '"\\u200b"', "remove"),
        ("a = 1\r\nb = 1", "hidden-character", "\r", "LF"),
    ],
)
def test_a_mistake_is_shown_where_it_is_with_what_to_write(text: str, code: str, place: str, advice: str) -> None:
    diagnostics = refuse(text)
    assert [d.code for d in diagnostics] == [code]
    assert under(diagnostics[0], text) == place
    assert advice in diagnostics[0].help


def test_a_duplicate_key_also_shows_the_first_one() -> None:
    text = "[a]\nb = 1\n\nb = 2\n"
    (diagnostic,) = refuse(text)
    (first,) = diagnostic.related
    assert isinstance(first.place, Span)
    assert LineMap(text).position(first.place.start) == (2, 1)
    assert "a.b" in diagnostic.message


def test_all_refused_values_are_shown_at_once() -> None:
    codes = [d.code for d in refuse("a = nan\nb = 2026-11-20\n'' = 1\nc = 99999999999999999999\n")]
    assert sorted(codes) == ["date-value", "empty-key", "number-out-of-range", "number-out-of-range"]


def test_each_table_behind_a_mistake_is_read_on_its_own() -> None:
    text = '[a]\nb = "c" d\n[e]\nf = 1\n[g]\nh = true false # wrong\n[i]\nj =\n[k]\nl = 2\n'
    found = refuse(text)
    places = [one.primary.place for one in found]
    lines = [LineMap(text).position(place.start)[0] for place in places if isinstance(place, Span)]
    assert (lines, [one.code for one in found]) == ([2, 6, 8], ["toml-syntax"] * 3)
    assert len(refuse(text + 'm = """\n[n]\no = p\n"""\n')) == 1  # what looks like a header may be in a string
    assert len(refuse("[a]\nb = [\n[c]\nd = 1\n")) == 1  # an array that is open takes the header as its item
    assert len(refuse(f"[a]\nb = c d\n[e]\nf = {'9' * 5000}\n")) == 1  # a number that Python refuses to read
    assert len(refuse('[a]\nb = [\n1 2\n]\nc = [\n["d"]\n]\n')) == 1  # so does one that is not


def test_all_sources_are_read_before_giving_up() -> None:
    places = [d.primary.place for d in refuse("a = nan", "b = ")]
    assert [place.source for place in places if isinstance(place, Span)] == ["f0.toml", "f1.toml"]


def vector_text(given: dict[str, Any]) -> str:
    """The text that a vector describes."""
    if "toml" in given:
        return str(given["toml"])
    text = given.get("prefix", "") + given["repeat"]["text"] * given["repeat"]["times"] + given.get("middle", "")
    closing = given.get("suffix_repeat", {"text": "", "times": 0})
    return str(text + closing["text"] * closing["times"] + given.get("suffix", ""))


HOSTILE = [v for v in VECTORS if v["area"] in ("toml.text", "toml.big")]


@pytest.mark.parametrize(
    "vector",
    HOSTILE,
    ids=lambda vector: str(vector["id"]),
)
def test_known_hostile_texts(vector: dict[str, Any]) -> None:
    text = vector_text(vector["input"])
    if vector["id"] in LEFT_TO_THE_MODEL:
        read(text)
    else:
        refuse(text)


def read_by(loads: Callable[..., Any], text: str) -> tuple[str, str]:
    """The values of a text as Python writes them, which tells -0 from 0; or the words and the place of its refusal."""
    try:
        return repr(loads(text, parse_float=Decimal)), ""
    except ValueError as problem:
        return "", str(problem)


@pytest.mark.skipif(sys.version_info >= (3, 15), reason="Python reads TOML 1.1 from 3.15 on")
def test_reader_is_that_of_the_standard_library() -> None:
    """The same values, the same refusals, in the same words and at the same places, of whole and of damaged texts."""
    whole = [
        EVERY_FORM,
        *(example_text(name) for name in EXAMPLES),
        *(vector_text(one["input"]) for one in HOSTILE if one["area"] == "toml.text"),
    ]
    chance, refused = random.Random(5), 0
    for _ in range(3000):
        text = chance.choice(whole)[:5000]
        for _ in range(chance.randrange(4)):
            at = chance.randrange(len(text) + 1)
            odd = chance.choice("\"'[]{}=.,#\n\\ 0e-+:_x\u00e9")
            text = text[:at] + chance.choice(("", odd, odd * 3)) + text[at + chance.randrange(3) :]
        found = read_by(tomli.loads, text)
        assert found == read_by(tomllib.loads, text)
        refused += bool(found[1])
    assert 500 < refused < 2500


def test_limits_are_exact() -> None:
    for opening, closing in (("[", "]"), ("{a=", "}")):
        depth = MAX_DEPTH
        read("a=" + opening * depth + "1" + closing * depth)
        assert refuse("a=" + opening * (depth + 1) + "1" + closing * (depth + 1))[0].code == "spec-too-complex"
    read(".".join("a" * MAX_KEY_PARTS) + " = 1")
    assert refuse(".".join("a" * (MAX_KEY_PARTS + 1)) + " = 1")[0].code == "spec-too-complex"
    read("#" * MAX_LINE + "\na = 1")
    assert refuse("a = 1\n" + "#" * (MAX_LINE + 1))[0].code == "spec-too-complex"
    read("a = 9223372036854775807\nb = -9223372036854775808")


def test_dotted_keys_that_nest_too_deep_together_are_refused() -> None:
    key = ".".join("a" * MAX_KEY_PARTS)
    (diagnostic,) = refuse(f"{key} = {{ {key} = {{ {key} = {{ {key} = {{ a = {{}} }} }} }} }}")
    assert diagnostic.code == "spec-too-complex"


def test_dots_in_strings_and_comments_are_no_key_parts() -> None:
    dots = ".".join("a" * 40)
    read(f'# {dots}\na = "{dots}"\nb = [{", ".join(["1.5"] * 40)}]\nc = """\n{dots} = 1\n"""\n')
    quoted = ".".join(['"a,b"'] * 17)
    assert refuse(f"x = {{ {quoted} = 1 }}")[0].code == "spec-too-complex"


# --------------------------------------------------------------------------------------------------- overlays

BASE = """\
spec = 1
[gateways.gw-eu]
host = "edge-1"
orchestrators = ["a", "b"]
[gateways.gw-us]
host = "edge-2"
"""


def overlaid(*texts: str) -> Document:
    """A document of a base and overlays that must be fine."""
    document, diagnostics = read_document([Source(f"f{index}.toml", text) for index, text in enumerate(texts)])
    assert diagnostics == []
    assert document is not None
    return document


def test_overlay_merges_tables_and_replaces_the_rest() -> None:
    document = overlaid(BASE, '[gateways.gw-eu]\norchestrators = ["c"]\nmode = "ai"\n')
    assert document.raw == {
        "spec": 1,
        "gateways": {
            "gw-eu": {"host": "edge-1", "orchestrators": ["c"], "mode": "ai"},
            "gw-us": {"host": "edge-2"},
        },
    }


def test_a_place_is_in_the_last_source_that_sets_it() -> None:
    document = overlaid(BASE, '[gateways.gw-eu]\norchestrators = ["c"]\n', 'gateways.gw-us.host = "edge-3"\n')
    sources = {
        path: document.nearest(path).source
        for path in (
            ("gateways", "gw-eu", "host"),
            ("gateways", "gw-eu", "orchestrators", 0),
            ("gateways", "gw-us", "host"),
        )
    }
    assert list(sources.values()) == ["f0.toml", "f1.toml", "f2.toml"]
    assert document.span(("gateways", "gw-eu", "orchestrators", 1)) is None


def test_overlay_removes_first_and_then_adds() -> None:
    remove = """remove = ["gateways.gw-eu", 'gateways . "gw-us".host']"""
    document = overlaid(BASE, f'{remove}\n[gateways.gw-eu]\nmode = "ai"\n')
    assert document.raw == {"spec": 1, "gateways": {"gw-eu": {"mode": "ai"}, "gw-us": {}}}
    assert document.nearest(("gateways", "gw-eu")).source == "f1.toml"


def test_overlays_leave_the_values_of_the_base_alone() -> None:
    base, first = read(BASE), read(BASE)
    overlaid(BASE, 'remove = ["gateways.gw-eu.host"]\n[gateways.gw-us]\nhost = "x"\n')
    assert base.raw == first.raw


@pytest.mark.parametrize(
    ("overlay", "place"),
    [
        ('remove = ["gateways.gw-asia"]', '"gateways.gw-asia"'),
        ('remove = ["spec", "spec"]', '"spec"'),
        ('remove = ["gateways.gw-eu.orchestrators.0"]', '"gateways.gw-eu.orchestrators.0"'),
        ('remove = ["a b"]', '"a b"'),
        ('remove = [""]', '""'),
        ("remove = [1]", "1"),
        ('remove = "spec"', '"spec"'),
    ],
)
def test_a_removal_of_nothing_is_an_error(overlay: str, place: str) -> None:
    (diagnostic,) = refuse(BASE, overlay)
    assert diagnostic.code == "overlay-remove"
    assert under(diagnostic, overlay) == place


@pytest.mark.parametrize("overlay", ["[gateways]\ngw-eu = 1\n", "[spec]\nx = 1\n", "[[gateways.gw-us]]\nx = 1\n"])
def test_table_against_value_is_an_error_with_both_places(overlay: str) -> None:
    (diagnostic,) = refuse(BASE, overlay)
    assert diagnostic.code == "overlay-conflict"
    (related,) = diagnostic.related
    assert isinstance(related.place, Span) and isinstance(diagnostic.primary.place, Span)
    assert (diagnostic.primary.place.source, related.place.source) == ("f1.toml", "f0.toml")
    assert BASE[related.place.start : related.place.end] == under(diagnostic, overlay)


def test_parse_needs_a_source() -> None:
    with pytest.raises(ValueError, match="no source"):
        read_document([])
