"""Renders templates with the quoting of their target, which no template can forget.

In: template texts by name ("systemd/service.j2"), read by `disk/files.py`, and for each rendering one view. Out:
text. Called by the formats. The folder of a template decides its grammar, and every `{{ expression }}` in it
passes that grammar's encoder; only the template's own words are copied as they stand. A value that is already
written in the target grammar comes as `Encoded`, a path or key that stands bare as `Word`.

Templates hold text, `for` and `if`; whatever else Jinja offers is refused when the template is compiled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from fleetc.text import encoders
from fleetc.text.encoders import EncodingError

if TYPE_CHECKING:
    from jinja2 import Environment, Template, nodes

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
"""The encoder of plain strings, by the folder that a template lies in."""

_WORD = re.compile(r"[A-Za-z0-9_./:@-]+")

_ALLOWED_SYNTAX = frozenset(
    {
        *("Template", "Output", "TemplateData", "For", "If", "Name", "Const", "Getattr", "Getitem"),
        *("Compare", "Operand", "Not", "And", "Or", "Test", "Tuple"),
    }
)


class TemplateError(Exception):
    """A template of ours is wrong, or the view does not fit it. Never the fault of a spec."""


class Encoded(str):
    """Text already written in the template's grammar: made from an encoder's result and nothing else."""

    __slots__ = ()


class Word(str):
    """A path, key or unit name, printed as it is: [A-Za-z0-9_./:@-]+, or else EncodingError("word").

    It holds nothing that a target takes as syntax, but a YAML reader may take a bare one for a number or a
    boolean: as a YAML value it stands inside quotes that the template writes.
    """

    __slots__ = ()

    def __new__(cls, value: str) -> Word:
        if not _WORD.fullmatch(value):
            raise EncodingError("word")
        return super().__new__(cls, value)


class Templates:
    """A set of templates, compiled when first used.

    `texts` maps "<folder>/<artifact>.j2" to template text; the folder is one of GRAMMARS.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = dict(texts)
        self._environments: dict[str, Environment] = {}
        self._compiled: dict[str, Template] = {}

    def render(self, name: str, view: Mapping[str, object]) -> str:
        """Render one template. `view` holds str, Encoded, Word, int, and lists, mappings, records of these.

        Raises EncodingError when a string cannot be written in the grammar; TemplateError when the template
        is missing or refused, a name is undefined, or it prints a bool, None, float, list or another type.
        """
        from jinja2 import TemplateError as JinjaError  # costs 60 ms, so only where something is rendered

        try:
            template = self._compiled.get(name) or self._compile(name)
            return template.render(view)
        except (JinjaError, TemplateError) as error:
            raise TemplateError(f"template {name}: {error}") from error

    def parsed(self, name: str) -> nodes.Template:
        """The syntax tree of a template, for `tracing.py`. Raises TemplateError."""
        from jinja2 import nodes

        environment = self._environment(name)
        tree = environment.parse(self._texts[name], name, name)
        for node in tree.find_all(nodes.Node):
            kind = type(node).__name__
            if kind not in _ALLOWED_SYNTAX:
                raise TemplateError(f"line {node.lineno}: only text, for and if are allowed, not {kind}")
        for comparison in tree.find_all(nodes.Compare):
            if [operand.op for operand in comparison.ops] not in (["eq"], ["ne"]):
                raise TemplateError(f"line {comparison.lineno}: two values are compared with == or != alone")
        return tree

    def finalizer(self, name: str) -> Callable[[object], object]:
        """What prints the values of a template, for `tracing.py`. Raises TemplateError."""
        finalize = self._environment(name).finalize
        assert finalize is not None  # noqa: S101  # every environment of ours has one
        return finalize

    def _environment(self, name: str) -> Environment:
        folder = name.partition("/")[0]
        if name not in self._texts or folder not in GRAMMARS:
            raise TemplateError("there is no such template, or no grammar for its folder")
        if folder not in self._environments:
            self._environments[folder] = _environment(GRAMMARS[folder])
        return self._environments[folder]

    def _compile(self, name: str) -> Template:
        from jinja2 import Template

        environment = self._environment(name)
        code = environment.compile(self.parsed(name), name, name)
        # The empty mapping: none of the names that Jinja offers by default.
        template = self._compiled[name] = Template.from_code(environment, code, {})
        return template


def _environment(encode: Callable[[str], str]) -> Environment:
    """A Jinja environment that prints strings by `encode` only; it loads nothing and offers no names."""
    from jinja2 import Environment, StrictUndefined
    from jinja2.tests import TESTS

    def finalize(value: object) -> object:
        # Exact types: a subclass that prints differently must not slip through. The template's own text does
        # not pass here; a constant expression such as {{ "a" }} does.
        kind = type(value)
        if kind is str:
            return encode(value)  # type: ignore[arg-type]  # `type(x) is str` does not narrow
        if kind is Word or kind is Encoded or kind is int:
            return value
        if isinstance(value, StrictUndefined):
            return str(value)  # raises, and names what is undefined
        raise TemplateError(f"a value of type {kind.__name__} cannot be printed")

    environment = Environment(
        undefined=StrictUndefined,
        finalize=finalize,
        autoescape=False,  # noqa: S701  HTML has its own encoder
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        cache_size=0,
    )
    environment.tests = {"none": TESTS["none"]}
    return environment
