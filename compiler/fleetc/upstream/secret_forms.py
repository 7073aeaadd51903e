"""What secrets look like, read from `secret_forms.toml`, and the words of recovery phrases.

In: the data files beside this one, read when first asked for. Out: `forms`, `recovery_words`. Called by `text/leaks/`.
Sources: each row of the TOML file names its own. `recovery_words.txt` is the English list of BIP-39, in its order, as
the package `mnemonic` 0.21 (MIT licence) has it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fleetc.upstream import load


@dataclass(frozen=True, slots=True)
class Provider:
    """Providers with a key in the address: `key` is path or label, `least` its shortest length, `words` what is no key
    there.

    `before` counts the segments of the path that come before it.
    """

    hosts: tuple[str, ...]
    key: str
    least: int
    words: frozenset[str]
    before: int


@dataclass(frozen=True, slots=True)
class Forms:
    """All forms: tokens, and hashes behind their word, as one expression each; providers by host; names and hosts as
    sets.
    """

    token: re.Pattern[str]
    providers: dict[str, Provider]
    query_parts: tuple[str, ...]
    query_names: frozenset[str]
    rpc_words: frozenset[str]
    hash: re.Pattern[str]
    id_hosts: frozenset[str]
    hash_hosts: frozenset[str]


@cache
def forms() -> Forms:
    """The tables, ready to be asked."""
    data = load("secret_forms.toml")
    tokens = [form for row in data["tokens"] for form in row["forms"]]
    providers = [
        Provider(tuple(row["hosts"]), row["key"], row["least"], frozenset(row["words"]), row.get("before", 0))
        for row in data["providers"]
    ]
    return Forms(
        token=re.compile("(?<![A-Za-z0-9])(?:" + "|".join(tokens) + ")"),
        providers={host: provider for provider in providers for host in provider.hosts},
        query_parts=tuple(data["names"]["query_parts"]),
        query_names=frozenset(data["names"]["query"]),
        rpc_words=frozenset(data["names"]["rpc_words"]),
        hash=re.compile(
            rf"(?<![A-Za-z0-9])(?:{'|'.join(data['names']['hashes'])})[\s:=@/~\"'-]{{1,4}}"
            r"(?:(?:0x)?[0-9a-f]{7,128}(?:\.\.\.[0-9a-f]{7,64})?(?![0-9A-Za-z])|[A-Za-z0-9+/]{43,88}={1,2})",
            re.IGNORECASE,
        ),
        id_hosts=frozenset(data["ids"]["hosts"]),
        hash_hosts=frozenset(data["ids"]["paths"]),
    )


@cache
def recovery_words() -> dict[str, int]:
    """The 2,048 words of recovery phrases and their numbers."""
    text = Path(__file__).with_name("recovery_words.txt").read_text(encoding="ascii")
    return {word: number for number, word in enumerate(text.split())}
