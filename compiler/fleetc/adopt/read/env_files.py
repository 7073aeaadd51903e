"""Reads environment files: KEY=VALUE lines as systemd, Compose and shells read them.

In: text, or the paths of files. Out: variables with places, the references that fleetc itself wrote into comments of
such a file, and which files are none of the sources.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from fleetc.adopt.found.ledger import Fate, Ledger
from fleetc.adopt.found.library import Library
from fleetc.adopt.found.process import Unread
from fleetc.adopt.found.words import Word
from fleetc.adopt.node.flags import holes_in
from fleetc.adopt.node.reading import missing
from fleetc.places.diagnostic import Span

_LINE = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*(.*)")
_REFERENCE = re.compile(r"# ([A-Za-z_][A-Za-z0-9_]*): from (env|host_file|vault|command) (\S+), filled in by a rollout")


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
    start = 0
    for line in text.split("\n"):
        begun, start = start, start + len(line) + 1
        plain = line.rstrip("\r")
        reference = _REFERENCE.fullmatch(plain)
        if reference is not None:
            result.secrets[reference[1]] = (reference[2], reference[3])
            referred[reference[1]] = Word(reference[3], Span(source, begun, begun + len(line)))
            continue
        if not plain.strip() or plain.lstrip()[0] in "#;":
            continue
        match = _LINE.fullmatch(plain)
        if match is None:
            result.odd.append(Span(source, begun, begun + max(1, len(plain))))
            continue
        value = _value(match[2])
        span = Span(source, begun + match.start(2), begun + max(match.end(2), match.start(2) + 1))
        result.variables[match[1]] = Word(value, span, holes_in(value))
    result.variables |= referred  # a rollout fills these in, so what stands there is the name of the reference
    return result


def of_files(named: Iterable[tuple[Word, bool]], library: Library | None, ledger: Ledger) -> EnvironmentFile:
    """What the files of a container say together; each path with whether the file need not be there."""
    result = EnvironmentFile()
    for word, optional in named:
        source = library.find(word.text, word.span.source) if library is not None else None
        if source is not None and library is not None:
            read = environment(source.name, source.text)
            replace_variables(result.variables, read.variables, library, ledger)
            result.secrets |= read.secrets
        elif not (result.secrets and "secret" in word.text):  # that of fleetc, whose references are known
            result.unread.append(missing(word, "the environment file", ledger, optional))
    return result


def replace_variables(known: dict[str, Word], new: dict[str, Word], library: Library, ledger: Ledger) -> None:
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
