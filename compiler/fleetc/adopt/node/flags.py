"""The node's own rules for its settings: command line, environment, config file, and who wins.

In: the words of a process. Out: each setting with its place and where it came from, and what the node passes over. The
rules are those of Go's flag package and of ff's plain parser, as the node at release v0.9.1 uses them: one or two
dashes, `=`, bool flags that take no next word, an end at the first word that is no flag, the last one wins; the
environment comes after the command line and a file after that, except for the two names of the data directory.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from fleetc.adopt.found.words import Word
from fleetc.places.diagnostic import Span
from fleetc.text.suggestions import nearest_name
from fleetc.upstream import FLAGS

TYPES: Mapping[str, str] = {name: flag.type for name, flag in FLAGS.items()}

LONGEST_LINE = 64 * 1024 - 1
"""Bytes in a line of a config file; a longer one ends the reading, without a word."""

_GO_SPACE = "\t\n\v\f\r \x85\xa0"
_TRUE = ("1", "t", "T", "true", "TRUE", "True")
_FALSE = ("0", "f", "F", "false", "FALSE", "False")
_UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_DURATION_PART = re.compile(r"([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)")
_PREFIXED = re.compile(r"0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|0(?:_?[0-7])*|[1-9](?:_?[0-9])*")
_FLOAT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Setting:
    """One flag with its text. `source` is flag, environment or file; `word` is the text's place."""

    flag: str
    word: Word
    source: str

    @property
    def text(self) -> str:
        """The value as the node gets it."""
        return self.word.text


@dataclass(frozen=True, slots=True)
class Wrong:
    """A word that the node does not start with: a flag that it lacks, or a value that it cannot read."""

    name: str
    word: Word
    kind: str
    value: Word | None = None


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
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise ValueError("not a bool")


def integer(text: str) -> int:
    """An integer as Go reads it: 0x, 0o, 0b and a plain leading 0 choose the base. Raises ValueError."""
    sign, digits = (-1, text[1:]) if text[:1] == "-" else (1, text.removeprefix("+"))
    if not _PREFIXED.fullmatch(digits) or len(digits) > 80:
        raise ValueError("not an integer")
    octal = len(digits) > 1 and digits[0] == "0" and digits[1] not in "xXoObB"
    value = sign * (int(digits, 8) if octal else int(digits, 0))
    if not -(2**63) <= value < 2**63:
        raise ValueError("out of range")
    return value


def number(text: str) -> Fraction:
    """A decimal number, exactly. Raises ValueError."""
    if not _FLOAT.fullmatch(text) or len(text) > 400:
        raise ValueError("not a number")
    exponent = re.split("[eE]", text)[1:]
    if exponent and abs(int(exponent[0])) > 400:
        raise ValueError("out of range")
    return Fraction(text)


def duration(text: str) -> int:
    """A duration in nanoseconds. Raises ValueError."""
    sign, rest = (-1, text[1:]) if text[:1] == "-" else (1, text.removeprefix("+"))
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


_SPECIAL = re.compile("[+-]?(?:inf|infinity|nan)", re.IGNORECASE)

_READERS: dict[str, Callable[[str], object]] = {
    "bool": boolean, "int": integer, "int64": integer, "float": _floating, "float64": _floating, "duration": duration,
}  # fmt: skip


def value_of(kind: str, text: str) -> object:
    """A value of a flag's type. Raises ValueError where the node does not read it."""
    return _READERS[kind](text) if kind in _READERS else text


def _readable(kind: str, word: Word) -> bool:
    """Whether the node reads a value; one with a hole may be anything."""
    if word.holes:
        return True
    try:
        value_of(kind, word.text)
    except ValueError:
        return False
    return True


def parse_words(words: Sequence[Word], types: Mapping[str, str] = TYPES) -> Parsed:
    """The command line. The node stops at a flag that it lacks; the reading goes on there, to find what was meant."""
    found = Parsed()
    place = 0
    while place < len(words):
        word = words[place]
        if word.text in word.holes:
            found.unknown.append(word)
            place += 1
            continue
        if len(word.text) < 2 or word.text[0] != "-":
            found.stopped_by, found.ignored = word, list(words[place:])
            break
        place += 1
        if word.text == "--":
            found.stopped_by, found.ignored = word, list(words[place:])
            break
        start = 2 if word.text.startswith("--") else 1
        name, equals, _ = word.text[start:].partition("=")
        value = word.part(start + len(name) + 1)
        if name not in types:
            takes = not equals and place < len(words) and words[place].text[:1] not in ("-", "")
            found.wrong.append(Wrong(name, word, "unknown", words[place] if takes else value if equals else None))
            place += takes  # nobody can know: a word that is no flag was meant to be its value
            continue
        if not equals:
            if types[name] == "bool":
                value = Word("true", word.span)
            elif place < len(words):
                value = words[place]
                place += 1
            else:
                found.wrong.append(Wrong(name, word, "missing"))
                continue
        if not _readable(types[name], value):
            found.wrong.append(Wrong(name, value, "invalid"))
            continue
        found.given.append(Setting(name, value, "flag"))
    return found


def parse_config(source: str, text: str, types: Mapping[str, str] = TYPES) -> Parsed:
    """A config file: `key value` lines. A key may also be the name of the variable of its flag."""
    variables = {"LP_" + name.upper(): name for name in types}
    found = Parsed()
    start = 0
    for raw in text.split("\n"):
        begun, start = start, start + len(raw) + 1
        if len(raw.encode()) > LONGEST_LINE:
            word = Word("", Span(source, begun, begun + 1))
            found.stopped_by = word
            found.ignored = [Word("", Span(source, begun, len(text)))]
            break
        line = raw.strip(_GO_SPACE)
        if not line or line[0] == "#":
            continue
        at = begun + raw.index(line[0])
        key, space, value = line.partition(" ")
        value = value.strip(_GO_SPACE) if space else "true"
        cut = value.find(" #")
        value = value[:cut].strip(_GO_SPACE) if cut >= 0 else value
        where = begun + raw.find(value, at - begun + len(key)) if space else at
        word = Word(value, Span(source, where, where + len(value)) if space else Span(source, at, at + len(key)))
        word = Word(word.text, word.span, holes_in(value))
        name = key if key in types else variables.get(key, "")
        if not name:
            found.wrong.append(Wrong(key, Word(line, Span(source, at, at + len(line))), "unknown", word))
        elif not _readable(types[name], word):
            found.wrong.append(Wrong(name, word, "invalid"))
        elif name != "config":
            found.given.append(Setting(name, word, "file"))
    return found


_PLACEHOLDER = re.compile(
    r"<[^<>\n]{1,80}>|\$\{[A-Za-z_:][^{}\n]{0,80}\}|\{\{[^{}\n]{1,80}\}\}|(?<![\w\"{])\{(?!proxy\})[A-Za-z_]{2,40}\}"
)


def holes_in(text: str) -> tuple[str, ...]:
    """The placeholders in a text, such as <YOUR_RPC_URL>, ${RPC} or {{ rpc }}."""
    if "<" not in text and "{" not in text:
        return ()
    return tuple(found[0] for found in _PLACEHOLDER.finditer(text))


_OTHER_PROGRAMS = frozenset({"livepeer_cli", "livepeer_bench", "livepeer_router", "livepeer_cli.exe"})
ROLES = frozenset({"gateway", "broadcaster", "orchestrator", "transcoder", "aiWorker", "remoteSigner", "redeemer"})


def starts_node(program: str, arguments: Sequence[Word]) -> bool:
    """Whether a program is the node: by its name, or, under another name, by flags that only the node has."""
    base = re.split(r"[/\\]", program)[-1]
    if base in _OTHER_PROGRAMS or program.startswith("-"):
        return False
    if base in ("livepeer", "livepeer.exe"):
        return True
    flags = [word.text.lstrip("-").partition("=")[0] for word in arguments if word.text.startswith("-")]
    known = [flag for flag in flags if flag in TYPES]
    return (
        bool(flags)
        and flags[0] in TYPES
        and len(known) > 1
        and (bool(ROLES.intersection(known)) or base.startswith("livepeer"))
    )


def storage_of(flag: str) -> str:
    """Where the value of a flag lands: datadir and dataDir are two flags over one place."""
    return "dataDir" if flag == "datadir" else flag


_BY_VARIABLE: dict[str, list[str]] = {}
for _name, _flag in FLAGS.items():
    _BY_VARIABLE.setdefault(_flag.env, []).append(_name)


def environment_flags(variables: Mapping[str, Word]) -> Iterator[tuple[str, Word]]:
    """The flags that variables set, with their texts; an empty one counts as unset. Two flags share one variable."""
    for variable in sorted(name for name in variables if name.startswith("LP_")):
        word = variables[variable]
        if word.text:
            yield from ((name, word) for name in _BY_VARIABLE.get(variable, ()))


@dataclass
class Effective:
    """The settings of a process by flag; `lost` are settings that another one outdoes, each with that one."""

    settings: dict[str, Setting] = field(default_factory=dict)
    lost: list[tuple[Setting, Setting]] = field(default_factory=list)


def effective(words: Parsed, variables: Mapping[str, Word], config: Parsed | None) -> Effective:
    """All sources together. A source gives a flag only where none before it has."""
    found = Effective()
    given: set[str] = set()

    def put(setting: Setting) -> None:
        name = storage_of(setting.flag)
        before = found.settings.get(name)
        if before is not None:
            found.lost.append((before, setting))
        found.settings[name] = setting

    for setting in words.given:
        put(setting)
        given.add(setting.flag)
    in_environment = set()
    for name, word in environment_flags(variables):
        setting = Setting(name, word, "environment")
        if name in given:
            if storage_of(name) != "dataDir":
                found.lost.append((setting, found.settings[storage_of(name)]))
            continue
        put(setting)
        in_environment.add(name)
    given |= in_environment
    for setting in config.given if config else ():
        if setting.flag in given:
            found.lost.append((setting, found.settings[storage_of(setting.flag)]))
        else:
            put(setting)
    return found


def role_of(on: Mapping[str, bool]) -> str:
    """The one role that a process has: the first in this order, whatever else is set. "" if it stops at its start."""
    order = (
        ("redeemer", "redeemer"), ("remoteSigner", "remote-signer"), ("orchestrator", "orchestrator"),
        ("transcoder", "transcoder"), ("aiWorker", "ai-worker"), ("broadcaster", "gateway"), ("gateway", "gateway"),
        ("reward", "reward"), ("initializeRound", "reward"),
    )  # fmt: skip
    return next((role for flag, role in order if on.get(flag)), "")


_ALL = tuple({name.lower(): name for name in sorted(TYPES, reverse=True)}.values())
"""The flags without datadir, a second name of dataDir."""
_ALIKE = 5
"""Characters with which a flag has to begin like another one to be meant by it."""


def flags_like(name: str) -> list[str]:
    """The flags that an unknown one may stand for: those that begin the most like it, and the most similar one."""
    shared = {flag: len(posixpath.commonprefix((flag.lower(), name.lower()))) for flag in _ALL}
    most = max(shared.values(), default=0)
    first = [flag for flag, count in shared.items() if count == most >= max(_ALIKE, len(name) // 2)]
    found = dict.fromkeys([*(first if len(first) < 3 else []), nearest_name(name, _ALL)])
    return [flag for flag in found if flag]


SECRET_VARIABLES = {
    "ethUrl": "RPC_URL", "ethPassword": "PASSWORD", "orchSecret": "SECRET", "authWebhookUrl": "AUTH_WEBHOOK",
    "orchWebhookUrl": "DISCOVERY_WEBHOOK", "objectStore": "OBJECT_STORE", "recordStore": "RECORD_STORE",
    "kafkaPassword": "KAFKA_PASSWORD", "metadataQueueUri": "QUEUE_URI",
    "remoteSignerHeaders": "SIGNER_HEADERS", "remoteSignerWebhookUrl": "WEBHOOK",
    "remoteSignerWebhookHeaders": "WEBHOOK_HEADERS", "liveAIAuthWebhookUrl": "LIVE_AI_AUTH_WEBHOOK",
    "liveAIAuthApiKey": "LIVE_AI_API_KEY", "liveAIHeartbeatHeaders": "HEARTBEAT_HEADERS",
    "mediaMTXApiPassword": "MEDIAMTX_PASSWORD", "FVfailGskey": "FAILED_VERIFICATION_KEY",
}  # fmt: skip
"""The names of variables that the spec has for secrets, by their flags."""
