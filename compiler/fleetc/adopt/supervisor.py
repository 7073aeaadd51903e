"""Reads the configuration of supervisord: the nodes that its programs start.

In: a file with sections `[program:NAME]`. Out: a `Process` for each one that starts a node. Expressions such as
%(ENV_HOME)s, which only a running supervisord knows, are holes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from fleetc.adopt.flags import holes_in, starts_node
from fleetc.adopt.library import Library
from fleetc.adopt.reading import missing
from fleetc.adopt.shell import read_shell
from fleetc.adopt.words import Fate, Ledger, Process, Word
from fleetc.places.diagnostic import Span
from fleetc.toml.document import Source

_SECTION = re.compile(r"(?m)^\[(?P<kind>[A-Za-z_-]+)(?::(?P<name>[^\]\n]+))?\]")
_KEY = re.compile(r"([A-Za-z_]+)[ \t]*[=:][ \t]*")
_COMMENT = re.compile(r"\s;.*")
_VARIABLE = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^,\"']*))\s*(?:,|$)")
_EXPRESSION = re.compile(r"%\([A-Za-z0-9_]+\)[sd]")
_TOKEN = re.compile(r"(?:\"(?:\\.|[^\"\\])*\"|'[^']*'|\\.|[^\s\"'\\])+")
_PIECE = re.compile(r"\"((?:\\.|[^\"\\])*)\"|'([^']*)'|\\(.)|([^\"'\\]+)", re.DOTALL)
_TAKEN = frozenset({"command", "user", "directory", "environment"})


def is_supervisor(text: str) -> bool:
    """Whether a text is a configuration of supervisord."""
    return any(found["kind"] == "program" and found["name"] for found in _SECTION.finditer(text[:100_000]))


def read_supervisor(source: Source, library: Library, ledger: Ledger) -> Iterator[Process]:
    """The nodes of the programs of a file."""
    sections = list(_SECTION.finditer(source.text))
    ends = [section.start() for section in sections[1:]] + [len(source.text)]
    for section, end in zip(sections, ends, strict=True):
        settings = _settings(source, section.end(), end)
        program = section["kind"] == "program"
        for key, word in settings.items():
            if program and key in _TAKEN:
                ledger.note(word.span, key, Fate.UNDERSTOOD, "how the node starts")
            else:
                ledger.note(word.span, key, Fate.DROPPED, "fleetc writes itself what starts nodes and keeps their logs")
        if program and "command" in settings:
            yield from _started(section["name"].strip(), settings, library, ledger)


def _settings(source: Source, start: int, end: int) -> dict[str, Word]:
    """The settings of a section; a line that begins with a space goes on with the one before it."""
    found: dict[str, Word] = {}
    last = ""
    for line in source.text[start:end].split("\n"):
        begun, start = start, start + len(line) + 1
        text = _COMMENT.sub("", line).rstrip()
        if not text.strip() or text[0] in ";#":
            continue
        if text[0] in " \t" and last:
            word = found[last]
            gap = " " * (begun - word.span.start - len(word.text))  # so that each place in it is one of the file
            found[last] = _word(source, word.text + gap + text, word.span.start)
        elif (key := _KEY.match(text)) is not None:
            last = key[1].lower()
            found[last] = _word(source, text[key.end() :], begun + key.end())
    return found


def _word(source: Source, text: str, start: int) -> Word:
    holes = (*holes_in(text), *_EXPRESSION.findall(text))
    return Word(text, Span(source.name, start, start + max(1, len(text))), holes)


def _started(name: str, settings: Mapping[str, Word], library: Library, ledger: Ledger) -> Iterator[Process]:
    command = settings["command"]
    variables = _variables(settings["environment"]) if "environment" in settings else {}
    home = variables.pop("HOME").text if "HOME" in variables else ""
    user, directory = (settings[key].text if key in settings else "" for key in ("user", "directory"))
    words = _words(command)
    if not words:
        return
    base = Process(
        name, command.span, tuple(words[1:]), variables, user=user, directory=directory, home=home,
        program=words[0].text,
    )  # fmt: skip
    if starts_node(base.program, base.words):
        yield base
        return
    script = library.find(words[1].text if len(words) > 1 and words[0].text.endswith("sh") else base.program,
                          command.span.source)  # fmt: skip
    if script is not None:
        found = read_shell(script.name, script.text, ledger, dict(variables), library, not directory).processes
    else:  # a shell with a text, or docker run
        inner = read_shell(command.span.source, command.text, Ledger(), library=library)
        found = [one.at(command.span) for one in inner.processes]
        for file in {file for one in found for file in one.unread}:
            missing(Word(file.shown, command.span), "the environment file", ledger, file.optional)
    for one in found:
        own = one.variables if one.runtime == "docker" else {**variables, **one.variables}
        yield replace(
            one, name=one.name or name, variables=own, user=one.user or user, home=one.home or home,
            directory=one.directory or directory,
        )  # fmt: skip


def _variables(word: Word) -> dict[str, Word]:
    found: dict[str, Word] = {}
    place = 0
    while (one := _VARIABLE.match(word.text, place)) is not None and one.end() > place:
        place = one.end()
        text = next((group for group in one.groups()[1:] if group is not None), "").strip()
        start = word.span.start + one.start(1)
        span = Span(word.span.source, start, max(start + 1, word.span.start + one.end()))
        found[one[1]] = Word(text, span, tuple(hole for hole in word.holes if hole in text))
    return found


def _words(command: Word) -> list[Word]:
    """The words of a command; supervisord starts no shell, so a dollar sign is nothing special."""
    found: list[Word] = []
    for token in _TOKEN.finditer(command.text):
        text = "".join(next(group for group in piece.groups() if group is not None)
                       for piece in _PIECE.finditer(token[0]))  # fmt: skip
        start = command.span.start + token.start()
        span = Span(command.span.source, start, command.span.start + token.end())
        found.append(Word(text, span, tuple(hole for hole in command.holes if hole in text)))
    return found
