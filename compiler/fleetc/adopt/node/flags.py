"""The node's own rules for its settings: command line, environment, config file, and which of them wins.

In: the words of a process. Out: each setting with its place and where it comes from, and what the node ignores. The
rules are those of Go's flag package and of ff's plain parser, as the node at release v0.9.1 uses them: one or two
dashes, `=`, bool flags that take no next word, an end at the first word that is no flag, the last one wins; the
environment comes after the command line and a file after that, except for the two names of the data directory.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from fleetc.adopt.found.process import Word
from fleetc.places.diagnostic import Span
from fleetc.upstream import FLAGS

TYPES: Mapping[str, str] = {name: flag.type for name, flag in FLAGS.items()}
NAMES = tuple({name.lower(): name for name in sorted(TYPES, reverse=True)}.values())
"""The flags without datadir, a second name of dataDir."""
BY_VARIABLE: Mapping[str, str] = {flag.env: name for name, flag in FLAGS.items() if name != "datadir"}
"""The flag that each variable sets."""
GO_SPACE = "\t\n\v\f\r \x85\xa0"
"""What Go cuts off around a text."""
_TRUE = ("1", "t", "T", "true", "TRUE", "True")
_FALSE = ("0", "f", "F", "false", "FALSE", "False")
_UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_DURATION_PART = re.compile(r"([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)")
_PREFIXED = re.compile(r"0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|0(?:_?[0-7])*|[1-9](?:_?[0-9])*")
_FLOAT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE]([+-]?[0-9]+))?")
_SPECIAL = re.compile("[+-]?(?:inf|infinity|nan)", re.IGNORECASE)


class Setting(NamedTuple):
    """One flag with its text. `source` is flag, environment or file; `word` is the text's place."""

    flag: str
    word: Word
    source: str

    @property
    def text(self) -> str:
        """The value as the node gets it."""
        return self.word.text


class Wrong(NamedTuple):
    """A word that the node does not start with: a flag that it lacks, or a value that it cannot read."""

    name: str
    word: Word
    kind: str


@dataclass
class Parsed:
    """What a source of settings holds, in its order; `ignored` are the words that the node never reads.

    `unknown` are variables in the place of flags that no source gives a value: they may be any flags, or none.
    """

    given: list[Setting] = field(default_factory=list)
    wrong: list[Wrong] = field(default_factory=list)
    ignored: list[Word] = field(default_factory=list)
    unknown: list[Word] = field(default_factory=list)
    stopped_by: Word | None = None


def boolean(text: str) -> bool:
    """A bool as Go reads it. Raises ValueError."""
    if text not in (*_TRUE, *_FALSE):
        raise ValueError("not a bool")
    return text in _TRUE


def _signed(text: str) -> tuple[int, str]:
    return (-1, text[1:]) if text[:1] == "-" else (1, text.removeprefix("+"))


def integer(text: str) -> int:
    """An integer as Go reads it: 0x, 0o, 0b and a plain leading 0 choose the base. Raises ValueError."""
    sign, digits = _signed(text)
    if not _PREFIXED.fullmatch(digits) or len(digits) > 80:
        raise ValueError("not an integer")
    octal = len(digits) > 1 and digits[0] == "0" and digits[1] not in "xXoObB"
    value = sign * int(digits, 8 if octal else 0)
    if not -(2**63) <= value < 2**63:
        raise ValueError("out of range")
    return value


def number(text: str) -> Fraction:
    """A decimal number, exactly. Raises ValueError."""
    form = _FLOAT.fullmatch(text)
    if form is None or len(text) > 400 or abs(int(form[1] or 0)) > 400:
        raise ValueError("not a number")
    return Fraction(text)


def duration(text: str) -> int:
    """A duration in nanoseconds. Raises ValueError."""
    sign, rest = _signed(text)
    if rest == "0":
        return 0
    total, place = 0, 0
    while place < len(rest):
        part = _DURATION_PART.match(rest, place)
        if part is None or not (part[1] or part[2]) or len(part[0]) > 60:
            raise ValueError("not a duration")
        digits = part[2] or ""
        total += int(part[1] or 0) * _UNITS[part[3]] + int(digits or 0) * _UNITS[part[3]] // 10 ** len(digits)
        place = part.end()
    if not rest or total >= 2**63:
        raise ValueError("not a duration")
    return sign * total


def _floating(text: str) -> object:
    """A float as Go reads it: infinities and NaN are numbers too."""
    return text.lower() if _SPECIAL.fullmatch(text) else number(text)


_READERS: dict[str, Callable[[str], object]] = {
    "bool": boolean, "int": integer, "int64": integer, "float": _floating, "float64": _floating, "duration": duration,
}  # fmt: skip


def value_of(kind: str, text: str) -> object:
    """A value of a flag's type. Raises ValueError where the node does not read it."""
    return _READERS[kind](text) if kind in _READERS else text


def readable(kind: str, word: Word) -> bool:
    """Whether the node reads a value; one with a hole may be anything."""
    try:
        return bool(word.holes) or value_of(kind, word.text) is not None
    except ValueError:
        return False


def parse_words(words: Sequence[Word], types: Mapping[str, str] = TYPES) -> Parsed:
    """The command line. The node stops at a flag that it lacks; the reading goes on there, to find what was meant."""
    parsed = Parsed()
    place = 0
    while place < len(words):
        word = words[place]
        if word.text in word.holes:
            parsed.unknown.append(word)
            place += 1
            continue
        if len(word.text) < 2 or word.text[0] != "-" or word.text == "--":
            parsed.stopped_by, parsed.ignored = word, list(words[place:])
            break
        place += 1
        start = 2 if word.text.startswith("--") else 1
        name, equals, _ = word.text[start:].partition("=")
        value = word.part(start + len(name) + 1)
        if name not in types:
            parsed.wrong.append(Wrong(name, word, "unknown"))
            # nobody can know: a word that is no flag was meant to be its value
            place += not equals and place < len(words) and words[place].text[:1] not in ("-", "")
            continue
        if not equals and types[name] == "bool":
            value = Word("true", word.span)
        elif not equals and place == len(words):
            parsed.wrong.append(Wrong(name, word, "missing"))
            continue
        elif not equals:
            value = words[place]
            place += 1
        if readable(types[name], value):
            parsed.given.append(Setting(name, value, "flag"))
        else:
            parsed.wrong.append(Wrong(name, value, "invalid"))
    return parsed


def parse_config(source: str, text: str, types: Mapping[str, str] = TYPES) -> Parsed:
    """A config file: `key value` lines. A key may also be the name of the variable of its flag."""
    variables = {"LP_" + name.upper(): name for name in types}
    parsed = Parsed()
    start = 0
    for raw in text.split("\n"):
        begun, start = start, start + len(raw) + 1
        line = raw.strip(GO_SPACE)
        if not line or line[0] == "#":
            continue
        at = begun + raw.index(line[0])
        key, space, value = line.partition(" ")
        value = value.strip(GO_SPACE).partition(" #")[0].strip(GO_SPACE) if space else "true"
        where = begun + raw.find(value, at - begun + len(key))
        span = Span(source, where, where + len(value)) if space else Span(source, at, at + len(key))
        word = Word(value, span, holes_in(value))
        name = key if key in types else variables.get(key, "")
        if not name:
            parsed.wrong.append(Wrong(key if space else "", Word(line, Span(source, at, at + len(line))), "unknown"))
        elif not readable(types[name], word):
            parsed.wrong.append(Wrong(name, word, "invalid"))
        elif name != "config":
            parsed.given.append(Setting(name, word, "file"))
    return parsed


_PLACEHOLDER = re.compile(
    r"<[^<>\n]{1,80}>|\$\{[A-Za-z_:][^{}\n]{0,80}\}|\{\{[^{}\n]{1,80}\}\}|(?<![\w\"{])\{(?!proxy\})[A-Za-z_]{2,40}\}"
)


def holes_in(text: str) -> tuple[str, ...]:
    """The placeholders in a text, such as <YOUR_RPC_URL>, ${RPC} or {{ rpc }}."""
    return tuple(hole[0] for hole in _PLACEHOLDER.finditer(text)) if "<" in text or "{" in text else ()


_OTHER_PROGRAMS = frozenset({"livepeer_cli", "livepeer_bench", "livepeer_router", "livepeer_cli.exe"})
ROLES = {
    "redeemer": "redeemer", "remoteSigner": "remote-signer", "orchestrator": "orchestrator",
    "transcoder": "transcoder", "aiWorker": "ai-worker", "broadcaster": "gateway", "gateway": "gateway",
}  # fmt: skip
"""The role that each flag gives a process: it has the first in this order, whatever else is set."""


def starts_node(program: str, arguments: Sequence[Word]) -> bool:
    """Whether a program is the node: by its name, or, under another name, by flags that only the node has."""
    base = re.split(r"[/\\]", program)[-1]
    if base in _OTHER_PROGRAMS or program.startswith("-"):
        return False
    flags = [word.text.lstrip("-").partition("=")[0] for word in arguments if word.text.startswith("-")]
    several = flags[:1] and flags[0] in TYPES and sum(flag in TYPES for flag in flags) > 1
    own = bool(several) and (not ROLES.keys().isdisjoint(flags) or base.startswith("livepeer"))
    return base in ("livepeer", "livepeer.exe") or own


def environment_flags(variables: Mapping[str, Word]) -> Iterator[Setting]:
    """The settings of variables; an empty one counts as unset. Two flags share one variable."""
    for variable in sorted(name for name in variables if name.startswith("LP_") and variables[name].text):
        for name in (flag.name for flag in FLAGS.values() if flag.env == variable):
            yield Setting(name, variables[variable], "environment")


def effective(
    words: Parsed, variables: Mapping[str, Word], config: Parsed | None
) -> tuple[dict[str, Setting], list[tuple[Setting, Setting]]]:
    """The settings of all sources by flag, and those that another one outdoes, each with that one. A source gives a
    flag only where none before it has.
    """
    settings, lost, before = dict[str, Setting](), list[tuple[Setting, Setting]](), set[str]()
    for source in (words.given, [*environment_flags(variables)], config.given if config else ()):
        for setting in source:
            place = "dataDir" if setting.flag == "datadir" else setting.flag  # two flags over one place
            known = settings.get(place)
            if setting.flag not in before:
                settings[place] = setting
                lost += [(known, setting)] if known is not None else []
            elif known is not None and (setting.source == "file" or place != "dataDir"):
                lost.append((setting, known))
        before |= {setting.flag for setting in source}
    return settings, lost
