"""Renders templates with the quoting of their target, so that no template can forget it.

In: template texts by name ("systemd/service.j2"), read by `disk/files.py`, and one view per rendering. Out: text.
Called by the formats. A template's folder sets its grammar, and every `{{ expression }}` passes that encoder. Only the
template's own text is copied literally. A value that is already written in the target grammar is an `Encoded`, a path
or key without quotes is a `Word`. `Rendered` is a file that a template makes.

Templates contain text, `for` and `if`; any other Jinja feature is refused when the template is compiled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from fleetc.emit.traced import Mark, Traced, TracedLine, plain
from fleetc.emit.tracing import Recorder, recording
from fleetc.text import encoders
from fleetc.text.encoders import EncodingError

if TYPE_CHECKING:
    from jinja2 import Environment, Template

View = Mapping[str, object]
"""The values of a template by name: str, Encoded, Word, int, bool (in `lines` each `Traced`); lists, mappings, records;
files as `Rendered`."""

GRAMMARS: Mapping[str, Callable[[str], str]] = {
    "ansible": encoders.yaml_string,
    "compose": encoders.compose_string,
    "diagram": encoders.mermaid_label,
    "docs": encoders.markdown_cell,
    "env": encoders.posix_quoted,
    "html": encoders.html,
    "monitoring": encoders.yaml_string,
    "nftables": encoders.nft_address,
    "systemd": encoders.systemd_exec,
    "yaml": encoders.yaml_string,
}
"""The encoder of plain strings, by the folder of the template."""

_WORD = re.compile(r"[A-Za-z0-9_./:@-]+")

_ALLOWED_SYNTAX = frozenset(
    {
        *("Template", "Output", "TemplateData", "For", "If", "Name", "Const", "Getattr", "Getitem"),
        *("Compare", "Operand", "Not", "And", "Or", "Test", "Tuple"),
    }
)


class TemplateError(Exception):
    """One of fleetc's templates is wrong, or the view does not fit it. Never the fault of a spec."""


class Encoded(str):
    """Text already written in the template's grammar: only ever made from the result of an encoder."""

    __slots__ = ()


class Word(str):
    """A path, key or unit name, printed unchanged: [A-Za-z0-9_./:@-]+, or else EncodingError("word").

    It has no syntax characters of any target. YAML may read it as a number or boolean, so templates quote it there.
    """

    __slots__ = ()

    def __new__(cls, value: str) -> Word:
        if not _WORD.fullmatch(value):
            raise EncodingError("word")
        return super().__new__(cls, value)


class Templates:
    """A set of templates, each compiled on first use.

    `texts` maps "<folder>/<artifact>.j2" to template text; the folder is one of GRAMMARS.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = dict(texts)

    def render(self, name: str, view: View) -> str:
        """Render one template.

        Raises EncodingError when a string cannot be written in the grammar; TemplateError when the template
        is missing or refused, a name is undefined, or it prints a bool, None, float, list or another type.
        """
        return self._run(name, view)

    def lines(self, name: str, view: View) -> list[TracedLine]:
        """The lines of the same text, each with the origins of its values. Raises as `render` does."""
        recorder = Recorder()
        self._run(name, view, recorder)
        return recorder.lines(name)

    def _run(self, name: str, view: View, recorder: Recorder | None = None) -> str:
        from jinja2 import TemplateError as JinjaError  # costs 60 ms, so it is only imported to render

        folder = name.partition("/")[0]
        try:
            if name not in self._texts or folder not in GRAMMARS:
                raise TemplateError("there is no such template, or no grammar for its folder")
            if recorder is not None:
                view = {**view, **recorder.functions(_printer(folder))}
            return _compiled(name, self._texts[name], recorder is not None).render(view)
        except (JinjaError, TemplateError) as error:
            raise TemplateError(f"template {name}: {error}") from error


@lru_cache(maxsize=64)  # a review compiles two fleets, `why` forty: Jinja's work is done once
def _compiled(name: str, text: str, records: bool) -> Template:
    from jinja2 import Template, nodes

    environment = _environment(name.partition("/")[0])
    tree = environment.parse(text, name, name)
    for node in tree.find_all(nodes.Node):
        kind = type(node).__name__
        if kind not in _ALLOWED_SYNTAX:
            raise TemplateError(f"line {node.lineno}: only text, for and if are allowed, not {kind}")
        if isinstance(node, nodes.Compare) and [operand.op for operand in node.ops] not in (["eq"], ["ne"]):
            raise TemplateError(f"line {node.lineno}: two values are compared with == or != alone")
    if records:
        recording(tree).set_environment(environment)
    code = environment.compile(tree, name, name)
    # The empty mapping: none of the names that Jinja offers by default.
    return Template.from_code(environment, code, {})


class Rendered:
    """A file that a template makes. `view` gets the function that makes its leaves; every read calls it again."""

    __slots__ = ("_name", "_templates", "_view")

    def __init__(self, templates: Templates, name: str, view: Callable[[Mark], View]) -> None:
        self._templates = templates
        self._name = name
        self._view = view

    def text(self) -> str:
        """The text as a rollout gets it. Raises EncodingError."""
        return self._templates.render(self._name, self._view(plain))

    def lines(self) -> list[TracedLine]:
        """The same text, line by line, each with the origins of its values."""
        return self._templates.lines(self._name, self._view(Traced))


@cache
def _environment(folder: str) -> Environment:
    """A Jinja environment that only prints strings by the encoder of a folder; it loads nothing and offers no names."""
    from jinja2 import Environment, StrictUndefined
    from jinja2.tests import TESTS

    environment = Environment(
        undefined=StrictUndefined,
        finalize=_printer(folder),
        autoescape=False,  # noqa: S701  HTML has its own encoder
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        cache_size=0,
    )
    environment.tests = {"none": TESTS["none"]}
    return environment


def _printer(folder: str) -> Callable[[object], object]:
    """The function that prints the values of templates in a folder."""
    from jinja2 import StrictUndefined

    encode = GRAMMARS[folder]

    def printed(value: object) -> object:
        # Exact types: a subclass that prints differently must not pass. The template's own text does not come through
        # here; a constant expression such as {{ "a" }} does.
        kind = type(value)
        if kind is str:
            return encode(value)  # type: ignore[arg-type]  # `type(x) is str` does not narrow
        if kind is Word or kind is Encoded or kind is int:
            return value
        if isinstance(value, Rendered):
            return value.text()
        if isinstance(value, StrictUndefined):
            return str(value)  # raises, and names what is undefined
        raise TemplateError(f"a value of type {kind.__name__} cannot be printed")

    return printed
