"""The TOML side of a spec: values with their places, overlays, and what is refused."""

from __future__ import annotations

import json
import random
import tomllib
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.diagnostics import Diagnostic, Offset, Severity
from compiler.source import Document, LineMap, Source, parse
from compiler.toml_reader import MAX_DEPTH, MAX_KEY_PARTS, MAX_LINE

VECTORS = json.loads((Path(__file__).parent / "data" / "toml_vectors.json").read_text())
LEFT_TO_THE_MODEL = {f"toml-text-{number:03}" for number in (3, 6, 21, 22, 23, 24)} | {"toml-big-008"}

EVERY_FORM = '''\
# a comment with a date, 2026-11-20, and a "quote
spec = 1
hex = 0xFF_ff
octal = 0o17
binary = -0b1 # no sign in TOML, see below
'''.replace("binary = -0b1 # no sign in TOML, see below\n", "binary = 0b1_0\n") + r'''
big = -1_000_000   # trailing comment
float = 6.5_0e-2
yes = true
basic = "tab \t quote \" backslash \\ é \u00e9 # no comment"
literal = 'C:\new # "no" comment'
empty = ""
empty_literal = ''
multi = """
first
  second \
     joined "" quotes """""
multi_literal = '''
it''s = 1
[not.a.header]''' + "''''" + r'''
dotted.key . "quoted part" = 1
dotted.other = 2
"quoted key" = "x"
'literal key' = "y"
"esc\u0061ped" = 3
1234 = "bare digits"
list = [ 1, 2, # one, two ]
  "three", [ 4.5, [true] ],
  { a = 1, b.c = [ {d = "}"} ] },
]
nothing = []
none = {}
inline = { x = 1, "y z" = 'q', deep.er = { z = [] } } # }

[gateways.gw-eu]
host = "edge-1"

  [ hosts . "edge 1" ]  # spaced header
  address = "203.0.113.10"

[a.b.c]
x = 1
[a]
y = 2
[a.b]
z = 3

[[nodes]]
name = "n0"
[nodes.extra]
k = 0
[[nodes.items]]
i = 0
[[nodes.items]]
i = 1
[[nodes]]
name = "n1"
[[nodes.items]]
i = 2
'''


def scalars(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Every path of a parsed text with its value; tables and arrays too."""
    if path:
        yield path, value
    if isinstance(value, dict):
        for key, item in value.items():
            yield from scalars(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from scalars(item, (*path, index))


def check_places(text: str, document: Document) -> int:
    """The law: what stands under a value's span parses to the value, and under a key's span to the key."""
    checked = 0
    for path, value in scalars(document.raw):
        span = document.span(path)
        key = document.span(path, on_key=True)
        assert span is not None and key is not None, path
        under = text[span.start : span.end]
        under_key = text[key.start : key.end]
        if isinstance(path[-1], str):
            assert list(tomllib.loads(f"{under_key} = 1")) == [path[-1]]
        if isinstance(value, dict) and under.startswith("["):
            assert under.endswith("]")
            assert isinstance(path[-1], int) or under_key in under
        elif isinstance(value, dict) and not under.startswith("{"):
            assert under == under_key, "a table that dotted keys imply stands where its key does"
        elif isinstance(value, list) and under.startswith("[["):
            try:
                assert tomllib.loads(f"x = {under}", parse_float=Decimal)["x"] == value
            except tomllib.TOMLDecodeError:
                assert value and isinstance(value[0], dict)
        else:
            assert tomllib.loads(f"x = {under}", parse_float=Decimal)["x"] == value, path
            checked += 1
    return checked


def read(text: str) -> Document:
    """A document of one source that must be fine."""
    document, diagnostics = parse([Source("fleet.toml", text)])
    assert diagnostics == []
    assert document is not None
    return document


def refuse(*texts: str) -> list[Diagnostic]:
    """The diagnostics of sources that must be refused. Their places all lie inside the texts."""
    names = {f"f{index}.toml": text for index, text in enumerate(texts)}
    document, diagnostics = parse([Source(name, text) for name, text in names.items()])
    assert document is None
    assert diagnostics
    for diagnostic in diagnostics:
        assert diagnostic.severity is Severity.ERROR
        for label in (diagnostic.primary, *diagnostic.related):
            assert isinstance(label.place, Offset)
            assert 0 <= label.place.start <= label.place.end <= len(names[label.place.source])
    return diagnostics


def under(diagnostic: Diagnostic, text: str) -> str:
    """What a diagnostic's caret stands under."""
    assert isinstance(diagnostic.primary.place, Offset)
    return text[diagnostic.primary.place.start : diagnostic.primary.place.end]


# --------------------------------------------------------------------------------------------------------------- places


def test_every_form_of_value_is_found_under_its_span() -> None:
    document = read(EVERY_FORM)
    assert check_places(EVERY_FORM, document) > 40


@pytest.mark.parametrize(
    ("path", "on_key", "expected"),
    [
        (("gateways", "gw-eu"), False, "[gateways.gw-eu]"),
        (("gateways",), False, "[gateways.gw-eu]"),
        (("gateways",), True, "gateways"),
        (("gateways", "gw-eu"), True, "gw-eu"),
        (("hosts", "edge 1"), False, '[ hosts . "edge 1" ]'),
        (("hosts", "edge 1"), True, '"edge 1"'),
        (("a",), False, "[a]"),
        (("a", "b"), False, "[a.b]"),
        (("a", "b", "c"), False, "[a.b.c]"),
        (("nodes",), False, "[[nodes]]"),
        (("nodes", 1), False, "[[nodes]]"),
        (("nodes", 0, "items", 1, "i"), False, "1"),
        (("nodes", 0, "extra"), False, "[nodes.extra]"),
        (("dotted",), False, "dotted"),
        (("dotted", "key", "quoted part"), True, '"quoted part"'),
        (("inline", "deep"), False, "deep"),
        (("inline", "deep", "er"), False, "{ z = [] }"),
        (("list", 0), True, "1"),
        (("yes",), True, "yes"),
    ],
)
def test_a_span_covers_what_the_path_means(path: tuple[str | int, ...], on_key: bool, expected: str) -> None:
    span = read(EVERY_FORM).span(path, on_key)
    assert span is not None
    assert EVERY_FORM[span.start : span.end] == expected


def test_second_item_of_an_array_of_tables_stands_at_its_own_header() -> None:
    document = read("[[n]]\nx = 1\n[[n]]\nx = 2\n")
    first, second = document.span(("n", 0)), document.span(("n", 1))
    assert first is not None and second is not None
    assert document.position("fleet.toml", first.start) == (1, 1)
    assert document.position("fleet.toml", second.start) == (3, 1)


@pytest.mark.parametrize("path", [("no",), ("spec", "no"), ("list", 99), ("list", -1), ("gateways", 0), ()])
def test_a_path_that_is_not_in_the_text_has_no_span(path: tuple[str | int, ...]) -> None:
    assert read(EVERY_FORM).span(path) is None


def test_nearest_falls_back_to_the_longest_path_that_exists() -> None:
    document = read("[gateways.gw]\nhost = 'x'\n")
    span = document.nearest(("gateways", "gw", "max_price"), on_key=True)
    assert (span.start, span.end) == (0, 13)
    assert document.nearest(("host",)) == ("fleet.toml", 0, 0)


def test_positions_count_characters_from_one() -> None:
    document = read('é = "😀"\nx = 1\n')
    span = document.span(("x",))
    assert span is not None
    assert document.position("fleet.toml", span.start) == (2, 5)
    assert document.position("fleet.toml", 6) == (1, 7)
    assert [document.line_text("fleet.toml", line) for line in (1, 2, 3)] == ['é = "😀"', "x = 1", ""]
    with pytest.raises(IndexError):
        document.line_text("fleet.toml", 4)
    with pytest.raises(KeyError):
        document.position("other.toml", 0)


KEYS = st.one_of(
    st.from_regex("[A-Za-z0-9_-]{1,6}", fullmatch=True), st.text("ab .#=[]{}\"'\\,é😀", min_size=1, max_size=6)
)
SCALARS = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.booleans(),
    st.decimals(-1000, 1000, allow_nan=False, places=3),
    st.text("ab\n\t #=[]{}\"'\\,é😀", max_size=20),
)
TREES = st.dictionaries(
    KEYS,
    st.recursive(
        SCALARS,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(KEYS, inner, max_size=3),
            st.lists(st.dictionaries(KEYS, inner, max_size=3), min_size=1, max_size=3),
        ),
        max_leaves=12,
    ),
    max_size=5,
)


class Writer:
    """Writes a tree as TOML, choosing among the spellings at random."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def space(self) -> str:
        return self.chance.choice(["", " ", "\t "])

    def gap(self) -> str:
        return self.chance.choice(["", " ", "\n", " # a ] comment, 2026-11-20 \"\n\t"])

    def string(self, text: str, multi: bool = True) -> str:
        plain = "\n" not in text and "\t" not in text
        forms = ['"' + "".join(self.escaped(char) for char in text) + '"']
        if plain and "'" not in text:
            forms.append(f"'{text}'")
        if multi and "'" not in text:
            forms.append(f"'''\n{text}'''")
        if multi and "\\" not in text and '"""' not in text and not text.endswith('"'):
            forms.append(f'"""\\\n  \n"""' if not text.strip() and not text else f'"""\n{text}"""')
        return self.chance.choice(forms)

    def escaped(self, char: str) -> str:
        known = {"\n": "\\n", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
        return known.get(char) or self.chance.choice([char, f"\\U{ord(char):08x}"])

    def key(self, text: str) -> str:
        bare = text.isascii() and text.replace("-", "").replace("_", "").isalnum()
        return text if bare and self.chance.random() < 0.8 else self.string(text, multi=False)

    def value(self, value: Any, lines: bool = True) -> str:
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, int):
            return self.chance.choice([str(value), f"{value:_}", hex(value) if value >= 0 else str(value)])
        if isinstance(value, Decimal):
            return str(value)
        if isinstance(value, str):
            return self.string(value, multi=lines)
        space = self.gap if lines else self.space
        if isinstance(value, list):
            items = [space() + self.value(item, lines) + space() for item in value]
            comma = "," + space() if items and self.chance.random() < 0.3 else space()
            return "[" + ",".join(items) + comma + "]"
        pairs = [
            f"{self.space()}{self.key(key)}{self.space()}={self.space()}{self.value(item, False)}{self.space()}"
            for key, item in value.items()
        ]
        return "{" + ",".join(pairs) + "}"

    def table(self, table: dict[str, Any], header: str = "") -> str:
        head, tail = "", ""
        for key, value in table.items():
            name = f"{header}{self.space()}.{self.space()}{self.key(key)}" if header else self.key(key)
            tables = isinstance(value, list) and value and all(isinstance(item, dict) for item in value)
            if isinstance(value, dict) and self.chance.random() < 0.6:
                tail += f"{self.space()}[{self.space()}{name}{self.space()}]\n" + self.table(value, name)
            elif tables and self.chance.random() < 0.6:
                tail += "".join(f"[[{name}]] # item\n" + self.table(item, name) for item in value)
            elif isinstance(value, dict) and len(value) > 1 and self.chance.random() < 0.5:
                for inner, item in value.items():
                    head += f"{self.key(key)}{self.space()}.{self.space()}{self.key(inner)} = {self.value(item)}\n"
            else:
                head += f"{self.space()}{self.key(key)}{self.space()}={self.space()}{self.value(value)} # c\n"
        return head + tail


@settings(max_examples=150, deadline=None)
@given(TREES, st.randoms(use_true_random=False))
def test_law_text_under_a_span_parses_to_the_value(tree: dict[str, Any], chance: random.Random) -> None:
    text = Writer(chance).table(tree)
    document = read(text)
    assert document.raw == tree
    check_places(text, document)


@settings(max_examples=200, deadline=None)
@given(st.text("ab1.-_=[]{}\"'\\\n #,:u\r\x00\u202eé", max_size=40))
def test_law_any_text_is_read_with_right_places_or_refused_in_words(text: str) -> None:
    document, _ = parse([Source("f0.toml", text)])
    if document is None:
        refuse(text)
    else:
        check_places(text, document)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, len(EVERY_FORM)), st.integers(0, 3), st.sampled_from(list("\"'[]{}=.,#\\\na1 ") + ["", '"""']))
def test_law_a_damaged_file_is_read_with_right_places_or_refused_in_words(at: int, cut: int, put: str) -> None:
    text = EVERY_FORM[:at] + put + EVERY_FORM[at + cut :]
    document, _ = parse([Source("f0.toml", text)])
    if document is None:
        refuse(text)
    else:
        check_places(text, document)


# -------------------------------------------------------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ("text", "code", "place", "help"),
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
        ("a = 07:32", "toml-syntax", "07:32", "quotes"),
        ("name: 'x'", "toml-syntax", ":", "key = value"),
        ("é = 1", "toml-syntax", "é", "quotes"),
        ("[a", "toml-syntax", "", "end it with ]"),
        ("a = 1 b = 2", "toml-syntax", "b", "one key = value on a line"),
        ("a =", "toml-syntax", "", "write one"),
        ("a = nan", "number-out-of-range", "nan", "as text"),
        ("a = [1, -inf]", "number-out-of-range", "-inf", "as text"),
        ("a = 9223372036854775808", "number-out-of-range", "9223372036854775808", "as text"),
        ("a = 1e1000000", "number-out-of-range", "1e1000000", "as text"),
        ("a = 1e99999999999999999999", "number-out-of-range", "1e99999999999999999999", "as text"),
        ("a = 1979-05-27 07:32:00Z # x", "date-value", "1979-05-27 07:32:00Z", '"1979-05-27 07:32:00Z"'),
        ("[x.'']\ny = 1", "empty-key", "''", "name"),
        ("a = 1 # \u202e", "hidden-character", "\u202e", "remove"),
        ('a = "\\u200b"', "hidden-character", '"\\u200b"', "remove"),
        ('"\\u200b" = 1', "hidden-character", '"\\u200b"', "remove"),
        ("a = 1\r\nb = 1", "hidden-character", "\r", "LF"),
    ],
)
def test_a_mistake_is_shown_where_it_is_with_what_to_write(text: str, code: str, place: str, help: str) -> None:  # noqa: A002
    diagnostics = refuse(text)
    assert [d.code for d in diagnostics] == [code]
    assert under(diagnostics[0], text) == place
    assert help in diagnostics[0].help


def test_a_duplicate_key_also_shows_the_first_one() -> None:
    text = "[a]\nb = 1\n\nb = 2\n"
    (diagnostic,) = refuse(text)
    (first,) = diagnostic.related
    assert isinstance(first.place, Offset)
    assert LineMap(text).position(first.place.start) == (2, 1)
    assert "a.b" in diagnostic.message


def test_all_refused_values_are_shown_at_once() -> None:
    codes = [d.code for d in refuse("a = nan\nb = 2026-11-20\n'' = 1\nc = 99999999999999999999\n")]
    assert sorted(codes) == ["date-value", "empty-key", "number-out-of-range", "number-out-of-range"]


def test_all_sources_are_read_before_giving_up() -> None:
    places = [d.primary.place for d in refuse("a = nan", "b = ")]
    assert [place.source for place in places if isinstance(place, Offset)] == ["f0.toml", "f1.toml"]


def vector_text(given: dict[str, Any]) -> str:
    """The text that a vector describes."""
    if "toml" in given:
        return str(given["toml"])
    text = given.get("prefix", "") + given["repeat"]["text"] * given["repeat"]["times"] + given.get("middle", "")
    closing = given.get("suffix_repeat", {"text": "", "times": 0})
    return str(text + closing["text"] * closing["times"] + given.get("suffix", ""))


@pytest.mark.parametrize(
    "vector", [v for v in VECTORS if v["area"] in ("toml.text", "toml.big")], ids=lambda vector: str(vector["id"])
)
def test_known_hostile_texts(vector: dict[str, Any]) -> None:
    text = vector_text(vector["input"])
    if vector["id"] in LEFT_TO_THE_MODEL:
        read(text)
    else:
        refuse(text)


def test_limits_are_exact() -> None:
    for opening, closing in (("[", "]"), ("{a=", "}")):
        inner = "1" if opening == "[" else "1"
        depth = MAX_DEPTH - 1
        read("a=" + opening * depth + inner + closing * depth)
        assert refuse("a=" + opening * (depth + 1) + inner + closing * (depth + 1))[0].code == "spec-too-complex"
    read(".".join("a" * MAX_KEY_PARTS) + " = 1")
    assert refuse(".".join("a" * (MAX_KEY_PARTS + 1)) + " = 1")[0].code == "spec-too-complex"
    read("#" * MAX_LINE + "\na = 1")
    assert refuse("a = 1\n" + "#" * (MAX_LINE + 1))[0].code == "spec-too-complex"
    read("a = 9223372036854775807\nb = -9223372036854775808")


def test_dotted_keys_that_nest_too_deep_together_are_refused() -> None:
    key = ".".join("a" * MAX_KEY_PARTS)
    assert refuse(f"{key} = {{ {key} = {{ {key} = {{ {key} = {{ a = 1 }} }} }} }}")[0].code == "spec-too-complex"


def test_dots_in_strings_and_comments_are_no_key_parts() -> None:
    dots = ".".join("a" * 40)
    read(f'# {dots}\na = "{dots}"\nb = [{", ".join(["1.5"] * 40)}]\nc = """\n{dots} = 1\n"""\n')
    quoted = ".".join(['"a,b"'] * 17)
    assert refuse(f"x = {{ {quoted} = 1 }}")[0].code == "spec-too-complex"


# ------------------------------------------------------------------------------------------------------------- overlays

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
    document, diagnostics = parse([Source(f"f{index}.toml", text) for index, text in enumerate(texts)])
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
    document = overlaid(BASE, 'remove = ["gateways.gw-eu", \'gateways . "gw-us".host\']\n[gateways.gw-eu]\nmode = "ai"\n')
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
    assert isinstance(related.place, Offset) and isinstance(diagnostic.primary.place, Offset)
    assert (diagnostic.primary.place.source, related.place.source) == ("f1.toml", "f0.toml")
    assert BASE[related.place.start : related.place.end] == under(diagnostic, overlay)


def test_parse_needs_a_source() -> None:
    with pytest.raises(ValueError, match="no source"):
        parse([])
