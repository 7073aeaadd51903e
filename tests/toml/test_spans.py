"""Every value of a document can be traced to its text."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleetc.places.diagnostic import Span
from fleetc.toml.document import Source, read_document
from tests.toml.toml_texts import EVERY_FORM, check_places, read, refuse


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
    assert document.nearest(("host",)) == Span("fleet.toml", 0, 0)


def test_positions_count_characters_from_one() -> None:
    document = read('"é" = "😀"\nx = 1\n')
    span = document.span(("x",))
    assert span is not None
    assert document.position("fleet.toml", span.start) == (2, 5)
    assert document.position("fleet.toml", 8) == (1, 9)
    assert [document.line_text("fleet.toml", line) for line in (1, 2, 3)] == ['"é" = "😀"', "x = 1", ""]
    with pytest.raises(IndexError):
        document.line_text("fleet.toml", 4)
    with pytest.raises(KeyError):
        document.position("other.toml", 0)


KEYS = st.one_of(
    st.from_regex("[A-Za-z0-9_-]{1,6}", fullmatch=True),
    st.text("ab .#=[]{}\"'\\,é😀", min_size=1, max_size=6),
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
        return self.chance.choice(["", " ", "\n", ' # a ] comment, 2026-11-20 "\n\t'])

    def string(self, text: str, multi: bool = True) -> str:
        plain = "\n" not in text and "\t" not in text
        forms = ['"' + "".join(self.escaped(char) for char in text) + '"']
        if plain and "'" not in text:
            forms.append(f"'{text}'")
        if multi and "'" not in text:
            forms.append(f"'''\n{text}'''")
        if multi and "\\" not in text and '"' not in text:
            forms.append(f'"""\n{text}"""')
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
            f"{self.space()}{self.key(key)}{self.space()}={self.space()}{self.value(item, False)}\t"
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
                    name = f"{self.key(key)}{self.space()}.{self.space()}{self.key(inner)}"
                    head += f"{name} = {self.value(item)}\n"
            else:
                head += f"{self.space()}{self.key(key)}{self.space()}={self.space()}{self.value(value)} # c\n"
        return head + tail


@given(TREES, st.randoms(use_true_random=False))
def test_law_text_under_a_span_parses_to_the_value(tree: dict[str, Any], chance: random.Random) -> None:
    text = Writer(chance).table(tree)
    document = read(text)
    assert document.raw == tree
    check_places(text, document)


@given(st.text("ab1.-_=[]{}\"'\\\n #,:u\r\x00\u202eé", max_size=40))
def test_law_any_text_is_read_with_right_places_or_refused_in_words(text: str) -> None:
    document, _ = read_document([Source("f0.toml", text)])
    if document is None:
        refuse(text)
    else:
        check_places(text, document)


@given(
    st.integers(0, len(EVERY_FORM)),
    st.integers(0, 3),
    st.sampled_from([*"\"'[]{}=.,#\\\na1 ", "", '"""']),
)
def test_law_a_damaged_file_is_read_rightly_or_refused_in_words(at: int, cut: int, put: str) -> None:
    text = EVERY_FORM[:at] + put + EVERY_FORM[at + cut :]
    document, _ = read_document([Source("f0.toml", text)])
    if document is None:
        refuse(text)
    else:
        check_places(text, document)
