"""Encoders: canonical forms, refusals, and laws that hold for any text."""

from __future__ import annotations

import html.parser
import json
import re
import shlex
import unicodedata
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fleetc.text import encoders
from fleetc.text.encoders import EncodingError
from tests import support_values as support
from tests.support import Test, for_each
from tests.support_values import VECTORS, has_noncharacter

BOOLEANS = frozenset({"b", "reward"})

ENCODERS: dict[str, Callable[[dict[str, Any]], object]] = {
    "encode.systemd_exec": lambda i: encoders.systemd_exec(i["value"]),
    "encode.systemd_env": lambda i: encoders.systemd_environment(i["key"], i["value"]),
    "encode.envfile_posix": lambda i: encoders.env_posix(i["key"], i["value"]),
    "encode.envfile_compose": lambda i: encoders.env_compose(i["key"], i["value"]),
    "encode.posix_sh": lambda i: encoders.posix_word(i["value"]),
    "encode.yaml": lambda i: encoders.yaml_string(i["value"]),
    "encode.compose_yaml": lambda i: encoders.compose_string(i["value"]),
    "encode.gfm_cell": lambda i: encoders.markdown_cell(i["value"]),
    "encode.gha_data": lambda i: encoders.github_data(i["value"]),
    "encode.gha_property": lambda i: encoders.github_property(i["value"]),
    "encode.html": lambda i: encoders.html(i["value"]),
    "encode.terminal": lambda i: encoders.visible(i["value"]),
    "encode.ansible_var": lambda i: encoders.ansible_unsafe(i["value"]),
}


def vectors(area: str) -> Callable[[Test], Test]:
    """A test over the vectors whose area starts with `area`."""
    return for_each("vector", [v for v in VECTORS if v["area"].startswith(area)])


# --- canonical forms and refusals -----------------------------------------------------------------


@vectors("encode.")
def test_vector_is_encoded_or_refused_as_expected(vector: dict[str, Any]) -> None:
    given_, expect = dict(vector["input"]), vector["expect"]
    if "repeat" in given_:
        given_["value"] = given_["repeat"]["text"] * given_["repeat"]["times"]
    encode = ENCODERS[vector["area"]]
    if "reject" in expect:
        with pytest.raises(EncodingError) as refused:
            encode(given_)
        assert refused.value.reason == expect["reject"]
    else:
        assert encode(given_) == expect.get("encoded", f'"{given_["value"]}"')


@pytest.mark.parametrize("value", ["a\0b", "\0", "\ud800", "a\udfffb"])
def test_nul_and_lone_surrogate_are_refused_by_every_exact_encoder(value: str) -> None:
    reason = "nul" if "\0" in value else "lone_surrogate"
    exact = [area for area in ENCODERS if not re.search("gfm|gha|html|terminal", area)]
    assert len(exact) == 8
    for area in exact:
        with pytest.raises(EncodingError) as refused:
            ENCODERS[area]({"value": value, "key": "V", "name": "v"})
        assert refused.value.reason == reason, area


def test_refusal_explains_itself_and_does_not_repeat_the_value() -> None:
    with pytest.raises(EncodingError) as refused:
        encoders.env_shared([("V", "hunter2\n")])
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("name", ["", "1A", "A B", "A=B", "A\n", "Á", "A-B"])
def test_name_that_is_no_variable_name_is_refused(name: str) -> None:
    for encode in (
        encoders.systemd_environment,
        encoders.env_posix,
        encoders.env_compose,
    ):
        with pytest.raises(EncodingError, match="name"):
            encode(name, "x")


def test_longest_argument_is_counted_in_bytes() -> None:
    longest = "y" * encoders.MAX_ARGUMENT_BYTES
    multibyte = "é" * (encoders.MAX_ARGUMENT_BYTES // 2)
    for encode in (
        encoders.systemd_exec,
        encoders.posix_word,
        encoders.compose_string,
        encoders.posix_quoted,
    ):
        encode(longest)
        encode(multibyte)
        for too_long in (longest + "y", multibyte + "é"):
            with pytest.raises(EncodingError, match="longer"):
                encode(too_long)
    for assign in (encoders.env_posix, encoders.env_compose, encoders.systemd_environment):
        assign("V", longest[2:])
        with pytest.raises(EncodingError, match="longer"):
            assign("V", longest[1:])


# --- what a spec may not contain ------------------------------------------------------------------


def test_hidden_are_controls_bidi_marks_surrogates_and_noncharacters() -> None:
    bidi = {"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"}
    for code in range(0x110000):
        char = chr(code)
        must_hide = (
            unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")
            or unicodedata.bidirectional(char) in bidi
            or has_noncharacter(char)
            or char in "\u00ad\u061c\u180e\u200b\u200c\u200d\u200e\u200f\ufeff\ufff9\ufffa\ufffb"
            or 0x2060 <= code <= 0x206F
            or 0xE0000 <= code <= 0xE007F
        )
        if must_hide and char not in "\n\t":
            assert encoders.HIDDEN.fullmatch(char), f"U+{code:04X}"
        elif unicodedata.category(char)[0] in "LMNPSZ":
            assert not encoders.HIDDEN.fullmatch(char), f"U+{code:04X}"
    assert not encoders.HIDDEN.fullmatch("\n")
    assert not encoders.HIDDEN.fullmatch("\t")


# --- laws: any text is refused for a reason, or comes back ----------------------------------------

SPECIAL = "\"\\$%`'\n\r\t #\0:{}=~;|<>&,-nxu0\x1b\x85\u00a0\u2028\ufeff\ud800\uffff\U0001f600"
TEXT = st.text(st.one_of(st.sampled_from(SPECIAL), st.characters(exclude_categories=())), max_size=30)


def is_refused(encode: Callable[[str], object], value: str, expected: bool) -> bool:
    """Whether `encode` refuses the value, which must be as expected."""
    try:
        encode(value)
    except EncodingError:
        assert expected, f"{value!r} was refused"
        return True
    assert not expected, f"{value!r} was accepted"
    return False


def forbidden(value: str) -> bool:
    """NUL or a lone surrogate, by Python's own strict codec."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return True
    return "\0" in value


@given(TEXT)
def test_systemd_argument_comes_back_or_is_refused(value: str) -> None:
    if not is_refused(encoders.systemd_exec, value, forbidden(value) or has_noncharacter(value)):
        line = f'"-x" {encoders.systemd_exec(value)} {encoders.systemd_exec(value)}'
        assert support.read_systemd_words(line, expand_dollar=True) == ["-x", value, value]


@given(TEXT)
def test_systemd_environment_comes_back_or_is_refused(value: str) -> None:
    def encode(text: str) -> str:
        return encoders.systemd_environment("K", text)

    if not is_refused(encode, value, forbidden(value) or has_noncharacter(value)):
        line = encode(value).removeprefix("Environment=")
        assert support.read_systemd_words(line, expand_dollar=False) == [f"K={value}"]


@given(TEXT, TEXT)
def test_env_lines_come_back_or_are_refused(first: str, second: str) -> None:
    for encode, read, refuses in (
        (encoders.env_posix, support.read_posix_env, has_noncharacter),
        (encoders.env_compose, support.read_compose_env, lambda _: False),
    ):
        values = {
            name: value
            for name, value in {"A": first, "B": second}.items()
            if not is_refused(partial(encode, name), value, forbidden(value) or refuses(value))
        }
        assert read("".join(encode(name, value) + "\n" for name, value in values.items())) == values


@given(TEXT)
def test_shell_word_comes_back_or_is_refused(value: str) -> None:
    if not is_refused(encoders.posix_word, value, forbidden(value)):
        assert shlex.split(f"x {encoders.posix_word(value)}") == ["x", value]


@given(TEXT)
def test_yaml_string_comes_back_or_is_refused(value: str) -> None:
    if not is_refused(encoders.yaml_string, value, forbidden(value)):
        text = encoders.yaml_string(value)
        assert yaml.load(f"k: {text}\nl: [{text}]\n", yaml.CSafeLoader) == {"k": value, "l": [value]}
        assert yaml.safe_load(f"{text}: 1\n") == {value: 1}
        assert encoders.HIDDEN.search(text) is None
        compose = encoders.compose_string(value)
        assert yaml.safe_load(compose) == value.replace("$", "$$")


@given(TEXT)
def test_github_escapes_come_back(value: str) -> None:
    shown = re.sub("[\0\ud800-\udfff]", lambda m: encoders.visible(m[0]), value)
    for encode in (encoders.github_data, encoders.github_property):
        text = encode(value)
        assert "\n" not in text
        assert "\r" not in text
        assert re.sub("%([0-9A-F]{2})", lambda m: chr(int(m[1], 16)), text) == shown
    assert not {":", ","} & set(encoders.github_property(value))


@given(TEXT)
def test_visible_form_hides_nothing_and_is_stable(value: str) -> None:
    shown = encoders.visible(value)
    assert not {"\n", "\t"} & set(shown)
    assert encoders.HIDDEN.search(shown) is None
    assert encoders.visible(shown) == shown
    shown.encode()


@given(TEXT)
def test_html_and_labels_decode_to_the_visible_form(value: str) -> None:
    shown = encoders.visible(value)
    text = encoders.html(value)
    page = PageReader(f"<i title=\"{text}\" class='{text}'>{text}</i>")
    assert page.tags == [("i", {"title": shown, "class": shown})]
    assert page.text == shown
    label = encoders.mermaid_label(value)
    assert re.fullmatch(r'"([A-Za-z0-9 ._/,-]|#\d+;)*"', label)
    assert re.sub(r"#(\d+);", lambda m: chr(int(m[1])), label[1:-1]) == shown


class PageReader(html.parser.HTMLParser):
    """Start tags with their attributes, and the text, as Python's HTML parser sees them."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_forge_finds_no_mail_address_in_a_cell() -> None:
    assert encoders.markdown_cell("a@b.c") == "<code>a<wbr>&#64;b&#46;c</code>"
    assert encoders.markdown_cell("@a@") == "<code>&#64;a<wbr>&#64;</code>"


def test_markdown_text_keeps_sentences_and_turns_names_into_code() -> None:
    assert encoders.markdown_text("pays 1,200 wei / pixel, 20.5% more (2 nodes): yes.") == (
        "pays 1,200 wei / pixel, 20.5% more (2 nodes): yes."
    )
    assert encoders.markdown_text("gateway gw-eu, (eu.example.net)") == "gateway `gw-eu`, (`eu.example.net`)"
    for dangerous in ("@me", "#1", "x/y#2", "www.a.b", "a://b", "a@b.c", ":smile:", "0123abc", "[x](y)", "<b>", "GH-1"):
        assert re.fullmatch(r"(<code>.*</code>|`.*`)[:)]?|.*&#.*", encoders.markdown_text(dangerous)), dangerous
    assert encoders.markdown_text("1. a") == "1&#46; a"
    assert encoders.markdown_text("2) a") == "2&#41; a"
    assert encoders.markdown_text("- a * b") == "&#45; a &#42; b"


@given(TEXT)
def test_markdown_text_and_code_hold_nothing_but_the_visible_form(value: str) -> None:
    for encode in (encoders.markdown_text, encoders.markdown_code):
        shown = encode(value)
        assert "\n" not in shown
        outside = re.sub(r"<code>([^<`]|<wbr>)*</code>|`[^`<]*`", "", shown)
        assert not re.search(r"[@`<>\[\]*_~|\\!#](?<!&#)|://|www", outside)
        plain = html.unescape(re.sub(r"</?code>|<wbr>|`", "", shown))
        assert plain == encoders.visible(value)


def test_mermaid_label_keeps_names_readable_and_starts_no_list() -> None:
    assert encoders.mermaid_label("gw-eu.example_1") == '"gw-eu.example_1"'
    assert encoders.mermaid_label("- a") == '"#45; a"'
    assert encoders.mermaid_label("1. a") == '"1#46; a"'
    assert encoders.mermaid_label("asks 1 wei / pixel, or a/b") == '"asks 1 wei / pixel, or a/b"'
    assert encoders.mermaid_label("/a/, , //b") == '"#47;a#47;#44; #44; #47;#47;b"'
    assert encoders.mermaid_label("one", "<br/>") == '"one<br/>#60;br#47;#62;"'
    assert encoders.mermaid_label('a"]; end -->') == '"a#34;#93;#59; end #45;#45;#62;"'


@vectors("ci.plain_output")
def test_plain_output_vector_is_no_runner_command(vector: dict[str, Any]) -> None:
    assert_no_runner_command(vector["input"]["message"])


@given(st.text(st.one_of(st.sampled_from("::##[ \t\n\r\u3000\x1c\ufeffvso"), st.characters()), max_size=20))
def test_plain_output_is_one_line_and_no_runner_command(value: str) -> None:
    assert_no_runner_command(value)


def assert_no_runner_command(message: str) -> None:
    """One line that does not start with `::` after white space and holds no `##[`."""
    line = encoders.plain_output(message)
    assert len(line.splitlines()) <= 1
    assert not line.strip().startswith("::")
    assert "##[" not in line
    assert "##vso[" not in line


def test_plain_output_leaves_ordinary_text_alone() -> None:
    for text in ("fine :: text", "# heading ##", "a[1]#[2]", "fleet.toml:3:1: error"):
        assert encoders.plain_output(text) == text
    assert encoders.plain_output("##vso[task]x") == r"\x23#vso[task]x"
    assert encoders.plain_output("::error::x") == r"\x3a:error::x"
    assert encoders.plain_output("a ##[error]x") == r"a \x23#[error]x"


# --- the models of the grammars are right -----------------------------------------------------------


@vectors("fact.plain_conf")
def test_ff_model_reads_as_the_node_does(vector: dict[str, Any]) -> None:
    given_, expect = vector["input"], vector["expect"]
    text = given_.get("text", "")
    if "repeat" in given_:
        text = given_["prefix"] + given_["repeat"]["text"] * given_["repeat"]["times"] + given_["suffix"]
    if expect.get("error"):
        with pytest.raises(ValueError, match=r"unknown flag|byte order mark"):
            support.read_ff(text)
    else:
        expected = {name: json.dumps(v) if v is False else v for name, v in expect.items()}
        assert {"s": "DEF", "b": "false", **support.read_ff(text)} == {"s": "DEF", "b": "false", **expected}


@vectors("fact.go_flag")
def test_go_flag_model_reads_as_the_flag_package_does(vector: dict[str, Any]) -> None:
    expect = vector["expect"]
    if expect.get("error"):
        with pytest.raises(ValueError, match=r"flag|boolean"):
            support.read_go_flags(vector["input"]["args"], BOOLEANS)
    else:
        values, rest = support.read_go_flags(vector["input"]["args"], BOOLEANS)
        booleans = {name: value in ("true", "T") for name, value in values.items() if name in BOOLEANS}
        shown = {"s": "DEF", **values, "rest": rest, **booleans}
        assert {name: shown[name] for name in expect} == expect


@vectors("fact.yaml_plain")
def test_yaml_string_is_a_string_where_the_plain_scalar_is_not(vector: dict[str, Any]) -> None:
    scalar = vector["input"]["scalar"]
    assert yaml.safe_load(encoders.yaml_string(scalar)) == scalar
    if {"pyyaml", "all"} & set(vector["expect"]["plain_is_not_string_for"]):
        try:
            plain = yaml.safe_load(f"k: {scalar}\n")["k"]
        except yaml.YAMLError:
            plain = None
        assert not isinstance(plain, str)
