"""What adopting asks, and why a compiled setting differs: values with a kind, a place and facts.

In: kinds with their facts. Out: `Question`s and `Reason`s, whose text is made only here; `read` makes a question of its
text again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache

import tomli

from fleetc.text import leaks
from fleetc.text.encoders import visible

Facts = tuple[tuple[str, str], ...]
_FACT = re.compile(r"\{([a-z_]+)\}")


class Ask(Enum):
    """What a question is about. The value is its text; `{name}` stands for a fact."""

    # any setting
    NO_FILE = "{file} says it and is none of the sources: copy it from the host and name it too"
    NO_VALUE = "the source says {text}"
    # nodes
    # fleet, hosts and wallets
    RPC = "the JSON-RPC address of the chain; no source has one"
    SEVERAL_RPC = "a host has one RPC address, but {nodes}"
    CONTROLLER = "the contract of the protocol; the node knows none for this network"
    NETWORK = "no source names the network"
    RELEASE = "which release runs? livepeer -version says it"
    REWARD = "{nodes} have this wallet and none says who calls reward: today each does, if it is registered"
    WORKER_MODELS = "what it sells; these are the models of its AI workers"
    UNREAD_PRICE = "the list of {worker} says so, where the node does not read it"
    ADDRESS = "where you log in; no source says it"
    LOGIN = "where you log in; this is its public address"
    BINARIES = "its nodes run {programs}; a spec has one program for each host"
    BINARY = "the source starts {text}: where is it on the host?"
    USER = "who starts {node} today? no source says it, and whoever is written here must own {path}"
    HIDDEN = "the source has a hidden character there, which no spec may have"
    # models and live runners
    # avatar stacks


class Why(Enum):
    """Why a setting of the compiled node differs from the one of today; `same` ones mean the same to the node."""

    def __init__(self, text: str, same: bool = False) -> None:
        self.text = text
        self.same = same

    ASKED = "asked: {question}"
    UNKNOWN = "{file} may set it and is none of the sources"
    # nodes
    # fleet, hosts and wallets
    RPC_OF_SPEC = "no source says it; it gets that of the spec"
    RPC_REFERENCE = "a reference in the spec has the same address", True
    NO_SCHEME = "without a scheme the node takes the address for the path of a local socket"
    REWARD = "one process of a wallet calls reward, and the others say that they do not"
    # models and live runners
    # avatar stacks


@dataclass(frozen=True, slots=True)
class Question:
    """Something that no source says: the place of the spec that has the answer, as table, name and key.

    `example` is a value as TOML, "" where there is none to offer.
    """

    kind: Ask
    place: tuple[str, ...]
    facts: Facts = ()
    example: str = ""

    @property
    def key(self) -> str:
        """The key in its table; a dotted one is of a table within."""
        return ".".join(self.place[1 if self.place[0] == "fleet" else 2 :])

    @property
    def text(self) -> str:
        """What is asked."""
        return _filled(self.kind.value, self.facts)

    @property
    def line(self) -> str:
        """The comment that asks in a spec, behind its "# "; without "TODO " and the sentence it is the answer."""
        return f"TODO {self.key} = {self.example}  # {self.text}" if self.example else f"TODO {self.key}: {self.text}"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why one setting differs."""

    why: Why
    facts: Facts = ()

    @property
    def same(self) -> bool:
        """Whether the node does the same with both values."""
        return self.why.same

    @property
    def asked(self) -> bool:
        """Whether the spec asks for the value."""
        return self.why is Why.ASKED

    def __str__(self) -> str:
        return _filled(self.why.text, self.facts)


@dataclass(frozen=True, slots=True)
class Difference:
    """A setting that a compiled node has differently, with both values as people may see them. `reason` is None where
    nothing explains it. `flag` is a variable where `node` is a stack of avatars.
    """

    node: str
    flag: str
    today: str
    compiled: str
    reason: Reason | str | None

    @property
    def setting(self) -> str:
        """The setting as a source writes it."""
        return self.flag if self.flag.isupper() else f"-{self.flag}"

    @property
    def same(self) -> bool:
        """Whether the node does the same with both values."""
        return isinstance(self.reason, Reason) and self.reason.same

    @property
    def unknown(self) -> bool:
        """Whether no source says the value of today."""
        return isinstance(self.reason, Reason) and self.reason.why in (Why.UNKNOWN, Why.RPC_OF_SPEC)


def facts_of(facts: Mapping[str, object]) -> Facts:
    """Facts as people may see them: nothing of a secret, and no hidden character."""
    return tuple((name, leaks.shown(visible(str(fact))).replace("\n", " ")) for name, fact in facts.items())


def read(table: tuple[str, ...], line: str) -> Question | None:
    """The question of a comment in a table, such as ("wallets", "payer"); None for another comment."""
    head = re.fullmatch(r"TODO ([A-Za-z_][A-Za-z0-9_.]*)( = |: )(.*)", line)
    if head is None:
        return None
    example, text = ("", head[3]) if head[2] == ": " else _parts(head[3])
    for kind in Ask:
        facts = _pattern(kind.value).fullmatch(text)
        if facts is not None:
            return Question(kind, (*table, *head[1].split(".")), tuple(facts.groupdict().items()), example)
    return None


def _parts(text: str) -> tuple[str, str]:
    """An example as TOML, and what is asked behind it; twice "" where there is no example."""
    place = text.find("  # ")
    while place >= 0 and not _is_toml(text[:place]):
        place = text.find("  # ", place + 1)
    return (text[:place], text[place + 4 :]) if place >= 0 else ("", "")


def _filled(template: str, facts: Facts) -> str:
    known = dict(facts)
    return _FACT.sub(lambda name: known[name[1]], template)


@cache
def _pattern(template: str) -> re.Pattern[str]:
    parts = _FACT.split(template)
    return re.compile("".join(f"(?P<{part}>.*?)" if at % 2 else re.escape(part) for at, part in enumerate(parts)))


def _is_toml(text: str) -> bool:
    try:
        tomli.loads(f"x = {text}")
    except tomli.TOMLDecodeError:
        return False
    return True
