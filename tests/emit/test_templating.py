"""Templates: each folder quotes for its grammar, template text stays, and nothing else gets through."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import jinja2
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fleetc.emit.templates import GRAMMARS, Encoded, TemplateError, Templates, Word, _compiled
from fleetc.text import encoders
from fleetc.text.encoders import EncodingError
from tests.support_values import nasty_values


@dataclass(frozen=True)
class Service:
    """A record such as the formats hand to templates."""

    name: Word
    image: str
    arguments: tuple[str, ...]


COMPOSE = """\
# "kept" as it is: $HOME {x}
services:
{% for service in services %}
  {{ service.name }}:
    image: {{ service.image }}
    {% if service.arguments %}
    command:
      {% for argument in service.arguments %}
      - {{ argument }}
      {% endfor %}
    {% endif %}
{% endfor %}
"""


def render(text: str, folder: str = "yaml", **view: object) -> str:
    """Render one template text in the grammar of a folder."""
    return Templates({f"{folder}/x.j2": text}).render(f"{folder}/x.j2", view)


def test_template_text_is_kept_and_values_are_quoted() -> None:
    services = [Service(Word("gw-eu"), "x:1", ("-a=$b", "-c")), Service(Word("off"), "y", ())]
    assert render(COMPOSE, "compose", services=services) == (
        '# "kept" as it is: $HOME {x}\nservices:\n  gw-eu:\n    image: "x:1"\n    command:\n'
        '      - "-a=$$b"\n      - "-c"\n  off:\n    image: "y"\n'
    )


@pytest.mark.parametrize(("folder", "encode"), GRAMMARS.items(), ids=GRAMMARS)
def test_folder_decides_the_encoder(folder: str, encode: Callable[[str], str]) -> None:
    for value in ("$a %b", "it's", "{{ x }}", "a|b", "no", "192.0.2.0/24"):
        try:
            encode(value)
        except EncodingError:
            continue
        assert render("<{{ v }}>\n", folder, v=value) == f"<{encode(value)}>\n"


COMPOSE_TEMPLATES = Templates({"compose/x.j2": COMPOSE})


@given(st.sampled_from(nasty_values()) | st.text())
def test_any_text_in_a_compose_file_comes_back(value: str) -> None:
    view = {"services": [Service(Word("a"), value, (value,))]}
    if "\0" in value:
        with pytest.raises(EncodingError, match="NUL"):
            COMPOSE_TEMPLATES.render("compose/x.j2", view)
        return
    text = COMPOSE_TEMPLATES.render("compose/x.j2", view)
    doubled = value.replace("$", "$$")
    assert yaml.safe_load(text) == {"services": {"a": {"image": doubled, "command": [doubled]}}}


def test_constant_expression_is_quoted_too() -> None:
    assert render('{{ "a" }} {{ 7 }} a\n') == '"a" 7 a\n'
    with pytest.raises(TemplateError, match="bool"):
        render("{{ true }}")


def test_words_encoded_text_and_integers_are_printed_as_they_are() -> None:
    line = Encoded(encoders.systemd_environment("A", "b c"))
    view = {"line": line, "user": Word("livepeer"), "port": 8935, "below": -1}
    text = "{{ line }}\nUser={{ user }}\nPort={{ port }}{{ below }}\n"
    assert render(text, "systemd", **view) == 'Environment="A=b c"\nUser=livepeer\nPort=8935-1\n'


class Colour(StrEnum):
    """A kind of str that could print itself differently."""

    RED = "red"


@pytest.mark.parametrize("value", [True, None, 1.5, [], (), {}, b"a", Colour.RED, object(), len])
def test_other_types_are_refused(value: object) -> None:
    with pytest.raises(TemplateError, match=rf"template yaml/x\.j2: .*{type(value).__name__}"):
        render("{{ v }}", v=value)


@pytest.mark.parametrize("text", ["", " ", "a b", "a\n", "$a", "%h", '"', "a;b", "é", "a#b", "{{a}}", "a=b", "\\"])
def test_word_with_another_character_is_refused(text: str) -> None:
    with pytest.raises(EncodingError) as refused:
        Word(text)
    assert refused.value.reason == "word"


def test_word_takes_paths_units_and_images() -> None:
    for text in ("/var/lib/x_y", "livepeer-gw@1.service", "ghcr.io/a/b:v1", "_", "0"):
        assert Word(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "{{ absent }}",
        "{{ record.absent }}",
        "{{ record['absent'] }}",
        "{% if absent %}{% endif %}",
        "{% for x in absent %}{% endfor %}",
        "{% if record.name == absent %}{% endif %}",
    ],
)
def test_undefined_name_is_an_error_that_names_it(text: str) -> None:
    with pytest.raises(TemplateError, match=r"template yaml/x\.j2: .*absent"):
        render(text, record=Service(Word("a"), "b", ()))


@pytest.mark.parametrize(
    "text",
    [
        "{{ a|upper }}",
        "{{ a|default('x') }}",
        "{% if a is defined %}{% endif %}",
        "{{ a.upper() }}",
        "{{ range(3) }}",
        "{{ a ~ 'x' }}",
        "{{ a + 'x' }}",
        "{% if a < b %}{% endif %}",
        "{% if a in b %}{% endif %}",
        "{% if a == b == c %}{% endif %}",
        "{{ 'x' if a else 'y' }}",
        "{% set b = a %}",
        "{% include 'other' %}",
        "{% import 'other' as o %}",
        "{% extends 'other' %}",
        "{% macro m() %}{% endmacro %}",
        "{% filter upper %}x{% endfilter %}",
        "{% block b %}{% endblock %}",
        "{{ cycler }}",
        "{{ dict }}",
        "{% if dict %}{% endif %}",
        "{% for x in range %}{% endfor %}",
        "{{ self }}",
    ],
)
def test_all_but_text_for_and_if_is_refused(text: str) -> None:
    with pytest.raises(TemplateError):
        render(text, a="a", b="b", c="c")


def test_absent_can_be_told_from_zero() -> None:
    text = "{% for n, v in pairs %}{% if v is not none %}{{ n }}={{ v }}{% endif %}{% endfor %}"
    assert render(text, pairs=[(Word("a"), None), (Word("b"), 0)]) == "b=0"


def test_syntax_error_names_template() -> None:
    with pytest.raises(TemplateError, match=r"template yaml/x\.j2: "):
        render("{% if %}")


def test_unknown_template_and_unknown_folder_are_errors() -> None:
    templates = Templates({"poetry/x.j2": "", "yaml/x.j2": ""})
    for name in ("yaml/y.j2", "poetry/x.j2"):
        with pytest.raises(TemplateError, match=name):
            templates.render(name, {})


def test_value_that_the_grammar_cannot_hold_keeps_its_reason() -> None:
    with pytest.raises(EncodingError) as refused:
        render("ExecStart=/bin/x {{ v }}\n", "systemd", v="\uffff")
    assert refused.value.reason == "noncharacter"


def test_line_ends_of_a_template_are_kept() -> None:
    assert render("a\n\n  b\n\n") == "a\n\n  b\n\n"
    assert render("a") == "a"


def test_template_is_compiled_once_in_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = []
    parse = jinja2.Environment.parse

    def counting(self: jinja2.Environment, *arguments: str) -> jinja2.nodes.Template:
        parsed.append(arguments[1])
        return parse(self, *arguments)

    monkeypatch.setattr(jinja2.Environment, "parse", counting)
    texts = {"yaml/a.j2": "{{ v }}", "yaml/b.j2": "{{ v }}", "yaml/unused.j2": ""}
    _compiled.cache_clear()
    for templates in (Templates(texts), Templates(texts)):
        assert templates.render("yaml/a.j2", {"v": "1"}) == '"1"'
        assert templates.render("yaml/b.j2", {"v": "2"}) == '"2"'
    assert parsed == ["yaml/a.j2", "yaml/b.j2"]


@pytest.mark.usefixtures("processes")
def test_jinja_is_not_imported_before_the_first_rendering() -> None:
    program = (
        "import sys; from fleetc.emit.templates import Templates; t = Templates({'yaml/a.j2': 'x'});"
        "before = 'jinja2' in sys.modules; t.render('yaml/a.j2', {}); print(before, 'jinja2' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False True\n"
