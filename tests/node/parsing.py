"""The node's sources of settings: command line, environment, config file, defaults, and who wins.

In: words after the program name, variables, and files by path. Out: `Settings`, or `StartupError` for the rules
P1 to P5. Called by `meaning` and by tests.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.node import values
from tests.node.values import trim

Value = bool | int | float | str

LONGEST_LINE = 64 * 1024 - 1
"""Bytes in a line of a config file; a longer one ends the reading, silently."""

_TABLE = Path(__file__).parent.parent / "data" / "node_flags.json"
_READERS: dict[str, Callable[[str], Value]] = {
    "string": str,
    "bool": values.boolean,
    "int": values.integer,
    "int64": values.integer,
    "float": values.floating,
    "float64": values.floating,
    "duration": values.duration,
}


class StartupError(Exception):
    """The node refuses to start, or stops itself. `rules` are the ids of the broken rules, `rule` the first one."""

    def __init__(self, *rules: str, detail: str = "") -> None:
        super().__init__(", ".join(rules) + (f": {detail}" if detail else ""))
        self.rules = rules
        self.rule = rules[0]


class FlagRow(NamedTuple):
    """One flag: its type, its default as written, the roles that read it."""

    type: str
    default: Value
    roles: tuple[str, ...]

    def read(self, text: str) -> Value:
        """The value that a text stands for. Raises ValueError."""
        return _READERS[self.type](text)


@cache
def node_flags() -> dict[str, FlagRow]:
    """Every flag of the node."""
    table = json.loads(_TABLE.read_text(encoding="utf-8"))
    return {name: FlagRow(row["type"], row["default"], tuple(row["roles"])) for name, row in table.items()}


def variable_of(flag: str) -> str:
    """The environment variable of a flag."""
    return "LP_" + flag.upper()


def storage_of(flag: str) -> str:
    """Where a flag's value lands: datadir and dataDir are two flags over one place."""
    return "dataDir" if flag == "datadir" else flag


@dataclass(frozen=True)
class Settings:
    """What the node knows after parsing: a value for every flag, and which were set by anybody."""

    values: Mapping[str, Value]
    given: frozenset[str]
    rest: tuple[str, ...]
    env: Mapping[str, str]
    files: Mapping[str, str]

    def text(self, flag: str) -> str:
        """A string flag."""
        value = self.values[flag]
        assert isinstance(value, str), flag
        return value

    def on(self, flag: str) -> bool:
        """A boolean flag."""
        return self.values[flag] is True

    def number(self, flag: str) -> int:
        """An integer flag, or a duration in nanoseconds."""
        value = self.values[flag]
        assert isinstance(value, int), flag
        return value

    def amount(self, flag: str) -> float:
        """A float flag."""
        value = self.values[flag]
        assert isinstance(value, int | float), flag
        return float(value)

    def secret_text(self, flag: str) -> str:
        """A flag that is a path or the text itself: an unreadable or empty file leaves the text."""
        text = self.text(flag)
        content = self.files.get(text, "")
        return (content if flag == "FVfailGskey" else trim(content)) or text


def parse_words(flags: Mapping[str, FlagRow], words: Sequence[str]) -> tuple[list[tuple[str, str]], tuple[str, ...]]:
    """Go's flag package: (flag, text) in order, and the words from the first that is no flag. Raises StartupError."""
    found: list[tuple[str, str]] = []
    place = 0
    while place < len(words):
        word = words[place]
        if len(word) < 2 or word[0] != "-":
            break
        place += 1
        if word == "--":
            break
        name, equals, text = (word[2:] if word.startswith("--") else word[1:]).partition("=")
        if not name or name[0] == "-":
            raise StartupError("P1", detail=word)
        if name not in flags:
            raise StartupError("exit-0" if name in ("h", "help") else "P1", detail=word)
        if not equals:
            if flags[name].type == "bool":
                text = "true"
            elif place < len(words):
                text = words[place]
                place += 1
            else:
                raise StartupError("P2", detail=f"{word} has no value")
        _check(flags, name, text, "P2")
        found.append((name, text))
    return found, tuple(words[place:])


def parse_config(text: str) -> list[tuple[str, str]]:
    """The (key, value) lines of a config file, as far as the node reads them."""
    lines: list[tuple[str, str]] = []
    for raw in text.split("\n"):
        if len(raw.encode()) > LONGEST_LINE:
            break
        line = trim(raw)
        if not line or line[0] == "#":
            continue
        key, space, value = line.partition(" ")
        value = trim(value) if space else "true"
        cut = value.find(" #")
        lines.append((key, trim(value[:cut]) if cut >= 0 else value))
    return lines


def _check(flags: Mapping[str, FlagRow], name: str, text: str, rule: str) -> None:
    try:
        flags[name].read(text)
    except ValueError as problem:
        raise StartupError(rule, detail=f"{name}: {problem}") from None


def read(
    words: Sequence[str],
    env: Mapping[str, str] | None = None,
    files: Mapping[str, str] | None = None,
    flags: Mapping[str, FlagRow] | None = None,
) -> Settings:
    """All sources together. A flag is asked for in the next source only when no source before has set it."""
    flags, env, files = flags or node_flags(), env or {}, files or {}
    found = {storage_of(name): row.default for name, row in flags.items()}
    for name, row in flags.items():
        if row.type == "duration" and isinstance(row.default, str):
            found[name] = values.duration(row.default)
    given: set[str] = set()

    def put(name: str, text: str) -> None:
        found[storage_of(name)] = flags[name].read(text)

    from_words, rest = parse_words(flags, words)
    for name, text in from_words:
        put(name, text)
        given.add(name)
    for name in flags:
        text = env.get(variable_of(name), "")
        if text and name not in given:
            _check(flags, name, text, "P3")
            put(name, text)
            given.add(name)
    config = found.get("config", "")
    if config:
        for name, text in _config_settings(flags, files, str(config), frozenset(given)):
            put(name, text)
            given.add(name)
    if found.get("version") is True or found.get("j") is True:
        raise StartupError("exit-0")
    return Settings(found, frozenset(map(storage_of, given)), rest, env, files)


def _config_settings(
    flags: Mapping[str, FlagRow], files: Mapping[str, str], path: str, given: frozenset[str]
) -> list[tuple[str, str]]:
    if path not in files:
        raise StartupError("P4", detail=path)
    by_variable = {variable_of(name): name for name in flags}
    settings = []
    for key, text in parse_config(files[path]):
        name = key if key in flags else by_variable.get(key)
        if name is None:
            raise StartupError("P5", detail=key)
        if name not in given:
            _check(flags, name, text, "P5")
            settings.append((name, text))
    return settings
