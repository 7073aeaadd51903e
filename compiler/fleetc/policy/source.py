"""The text of a rule: its name, its page, what it defines and which views of a fleet it mentions.

In: sources that `disk/` or git read. Out: `Policy` values, or diagnostics about invalid ones. It runs nothing: patterns
find the parts of a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from textwrap import dedent
from typing import NamedTuple

from fleetc.places.diagnostic import Diagnostic, Label, Span, error
from fleetc.toml.document import Source

FOLDER = "policy"
"""The folder beside a spec that has its rules."""
SUFFIX = ".star"
PREFIX = "policy/"
"""What codes of rules begin with."""
MOST = 100
"""Rules that a fleet may have."""
LIMIT_BYTES = 64 * 1024
"""The size that the text of a rule may have."""
NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_LONGEST = 60
_PAGE = re.compile(r'(?:[ \t]*(?:#[^\n]*)?\n)*("""|\'\'\')(.*?)\1', re.DOTALL)
_DEFINED = re.compile(r"^def[ \t]+(check|change)[ \t]*\(", re.MULTILINE)
_WORD = re.compile(r"\.\s*([a-z_]+)|\b(today)\b")
CHECK, CHANGE = "check", "change"
"""The functions of a rule: one judges a fleet, the other a change."""


class Policy(NamedTuple):
    """A rule: its name, its text, and the functions that it has: where each begins."""

    name: str
    source: Source
    functions: dict[str, int]

    @property
    def code(self) -> str:
        """The code of its findings."""
        return PREFIX + self.name

    @property
    def page(self) -> str:
        """Its docstring, which `fleetc explain` prints; a sentence where it has none."""
        return page_of(self.source.text) or f"A rule of this fleet; {self.name}{SUFFIX} has no docstring.\n"

    @property
    def words(self) -> frozenset[str]:
        """The attributes that its text names, and whether it uses today: unused views are not made."""
        return frozenset(word for groups in _WORD.findall(self.source.text) for word in groups if word)


def page_of(text: str) -> str:
    """The docstring of a rule, or "" where its text does not begin with one."""
    match = _PAGE.match(text)
    if match is None:
        return ""
    first, _, rest = match[2].strip().partition("\n")
    return "\n".join((first.strip(), dedent(rest))).rstrip() + "\n"


def name_of(source: Source) -> str:
    """The name of a rule by its file."""
    return re.split(r"[/\\:]", source.name)[-1].removesuffix(SUFFIX)


def read(sources: Iterable[Source]) -> tuple[tuple[Policy, ...], list[Diagnostic]]:
    """The rules, and what is wrong with texts that cannot be one."""
    rules, wrong = [], []
    for source in sources:
        name = name_of(source)
        functions = {match[1]: match.start() for match in _DEFINED.finditer(source.text)}
        if not NAME.fullmatch(name) or len(name) > _LONGEST:
            message = f'"{name}" cannot be the name of a rule'
            wrong.append(_invalid(source, message, "name the file with small letters, digits and hyphens"))
        elif not functions:
            advice = "write def check(fleet): ..., or def change(base, head): ..., which return a list of finding(...)"
            wrong.append(_invalid(source, f"the rule {name} has no function check or change", advice))
        else:
            rules.append(Policy(name, source, functions))
    return tuple(rules), wrong


def _invalid(source: Source, message: str, advice: str) -> Diagnostic:
    return error("policy-invalid", message, Label(Span(source.name, 0, 0)), help=advice)
