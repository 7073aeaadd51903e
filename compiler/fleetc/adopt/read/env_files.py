"""Reads environment files, KEY=VALUE lines as systemd, Compose and shells read them, and fills variables into commands.

In: text, or the paths of files. Out: variables with places, the references that fleetc itself wrote into comments of
such a file, and which files are none of the sources; the words of a command.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from fleetc.adopt.found.ledger import Fate, Ledger
from fleetc.adopt.found.library import Library
from fleetc.adopt.found.process import Unread, Word, unknown
from fleetc.adopt.node.flags import holes_in
from fleetc.adopt.node.secrets import harmless
from fleetc.adopt.node.settings import missing
from fleetc.places.diagnostic import Span

_LINE = re.compile(
    r"(?m)^(?:[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_]\w*)[ \t]*=[ \t]*(?P<value>[^\n\r]*)|(?P<odd>[^\n\r]*))", re.A
)
_REFERENCE = re.compile(r"# ([A-Za-z_][A-Za-z0-9_]*): from (env|host_file|vault|command) (\S+), filled in by a rollout")

_TOKEN = re.compile(
    r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|\$\{(?:[^{}]|\{[^{}]*\})*\}|<[A-Za-z][^<>\n]{0,80}>"
    r"|\{\{[^{}\n]{0,80}\}\}|(?:\\.|[^\s\"'\\$<{])+|[$<{]",
    re.DOTALL,
)
"""What a word is made of: quoted texts, variables, placeholders such as <YOUR RPC> and {{ rpc }}, plain text."""


@dataclass
class EnvironmentFile:
    """Variables, references in comments, and lines that are no variable; of several files, those that are no source."""

    variables: dict[str, Word] = field(default_factory=dict)
    secrets: dict[str, tuple[str, str]] = field(default_factory=dict)
    odd: list[Span] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)


def environment(source: str, text: str) -> EnvironmentFile:
    """Read an environment file."""
    result = EnvironmentFile()
    referred: dict[str, Word] = {}
    for line in _LINE.finditer(text):
        reference = _REFERENCE.fullmatch(line[0])
        if reference is not None:
            result.secrets[reference[1]] = (reference[2], reference[3])
            referred[reference[1]] = Word(reference[3], Span(source, *line.span()))
        elif line["name"]:
            value, start = _value(line["value"]), line.start("value")
            span = Span(source, start, max(line.end(), start + 1))
            result.variables[line["name"]] = Word(value, span, holes_in(value))
        elif line[0].strip() and line[0].lstrip()[0] not in "#;":
            result.odd.append(Span(source, *line.span()))
    result.variables |= referred  # a rollout fills these in, so what stands there is the name of the reference
    return result


def of_files(
    named: Iterable[tuple[Word, bool]], library: Library, ledger: Ledger, known: Mapping[str, Word] | None = None
) -> EnvironmentFile:
    """What the files of a process say together, behind variables that are `known`; each path with whether the file need
    not be there. Of what stands before one that is no source, nobody knows whether it counts.
    """
    result = EnvironmentFile(dict(known or {}))
    for word, optional in named:
        source = library.find(word.text, word.span.source)
        if source is not None:
            read = environment(source.name, source.text)
            for span in read.odd:
                ledger.note(span, "a line", Fate.DROPPED, "it sets no variable")
            replace_variables(result.variables, read.variables, library, ledger)
            result.secrets |= read.secrets
        elif not (result.secrets and "secret" in word.text):  # that of fleetc, whose references are known
            result.unread.append(missing(word, "the environment file", ledger, optional))
            result.variables = {name: unknown(name, before) for name, before in result.variables.items()}
    return result


def replace_variables(known: dict[str, Word], new: Mapping[str, Word], library: Library, ledger: Ledger) -> None:
    """Take variables that come after the known ones, whose values they replace."""
    for name in known.keys() & new.keys():
        if known[name].text != new[name].text:
            ledger.note(known[name].span, name, Fate.REPLACED, library.place(new[name].span))
    known |= new


def _value(raw: str) -> str:
    raw = raw.strip()
    if len(raw) >= 2 and raw[0] == raw[-1] == '"':
        return re.sub(r"\\(.)", lambda m: m[1] if m[1] in '"\\$`' else m[0], raw[1:-1]).replace("$$", "$")
    if len(raw) >= 2 and raw[0] == raw[-1] == "'":
        return raw[1:-1]
    cut = re.search(r"[ \t]#", raw)
    return raw[: cut.start()].rstrip() if cut else raw


class Piece(NamedTuple):
    """A word of a command without its quotes, and where it stands in the text of the command."""

    text: str
    start: int
    end: int


def cut(text: str, unescaped: Callable[[str, str], str]) -> Iterator[Piece]:
    """The words of a command; `unescaped` makes a text of one within quotes, which are "" for none."""
    parts: list[str] = []
    start = end = -1
    for token in _TOKEN.finditer(text):
        if token.start() != end and parts:
            yield Piece("".join(parts), start, end)
            parts = []
        start = start if parts else token.start()
        quote = token[0][0] if len(token[0]) > 1 and token[0][0] in "\"'" else ""
        parts.append(unescaped(token[0][1:-1] if quote else token[0], quote))
        end = token.end()
    if parts:
        yield Piece("".join(parts), start, end)


def filled(raw: str, span: Span, variables: re.Pattern[str], value: Callable[[re.Match[str]], Word]) -> Word:
    """A text with its variables filled in, which `variables` finds by their `name` or `bare` name. The value of one
    whose place is `span` stands in the text itself, or nowhere.
    """
    known: list[tuple[str, Word]] = []
    holes: list[str] = []

    def put(found: re.Match[str]) -> str:
        if found[0] in ("$$", "%%"):
            return found[0][0]
        word = value(found)
        holes.extend(word.holes)
        known.extend([(found["name"] or found["bare"] or "", word)] if word.span != span else [])
        return word.text

    text = variables.sub(put, raw)
    holes += [hole for hole in holes_in(text) if hole not in holes]
    behind = raw.rfind("=", 0, raw.find("$") + 1) + 1
    lone = variables.fullmatch(raw, behind) if "$" in raw else None
    name = (lone["name"] or lone["bare"] or "") if lone is not None else ""
    places = [word.said or word.span for variable, word in known if name or not harmless(variable)]
    said = places[0] if len(places) == 1 else None
    return Word(text, span, tuple(dict.fromkeys(holes)), name, said, behind if name else 0)
