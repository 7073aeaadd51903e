"""Texts with and without secrets, made from `tests/data/leaks.toml` and a seed; none is anybody's key."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import re
import string
import tomllib
import uuid
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

_DATA = tomllib.loads((Path(__file__).parents[1] / "data" / "leaks.toml").read_text(encoding="utf-8"))
_FIELD = re.compile(r"(?<!\$)\{([A-Za-z0-9-]+)(?::(\d+))?\}")
_ALPHABETS = {
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "Hex": "0123456789abcdefABCDEF",
    "digits": string.digits,
    "letters": string.ascii_letters,
    "lower": string.ascii_lowercase,
    "lowd": string.ascii_lowercase + string.digits,
    "upd": string.ascii_uppercase + string.digits,
    "b32": string.ascii_uppercase + "234567",
    "b58": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "b62": string.ascii_letters + string.digits,
    "b64": string.ascii_letters + string.digits + "+/",
    "url": string.ascii_letters + string.digits + "-_",
    "bech": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
}
_SPACED: dict[str, Callable[[Sequence[str]], str]] = {
    "words": " ".join,
    "WORDS": lambda words: " ".join(words).upper(),
    "Words": lambda words: " ".join(words).title(),
    "words-lines": "\n".join,
    "words-commas": ", ".join,
    "words-wide": "  \t ".join,
    "words-numbers": lambda words: " ".join(f"{number}. {word}" for number, word in enumerate(words, 1)),
}


def texts(group: str, seed: int = 0) -> dict[str, str]:
    """The texts of a group (env, rpc, harmless) by what they are."""
    return {name: _filled("".join(parts), random.Random(f"{seed} {name}")) for name, *parts in _DATA[group]}


def _filled(text: str, chance: random.Random) -> str:
    return _FIELD.sub(lambda found: _made(found[1], int(found[2] or 0), chance), text)


def _made(kind: str, size: int, chance: random.Random) -> str:
    if kind in _ALPHABETS:
        return "".join(chance.choice(_ALPHABETS[kind]) for _ in range(size))
    if kind in _SPACED:
        return _SPACED[kind](phrase(size, chance))
    if kind == "low4":
        return "-".join(_made("lowd", 4, chance) for _ in range(size))
    if kind in ("uuid", "UUID"):
        text = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        return text if kind == "uuid" else text.upper()
    if kind == "basic":
        return base64.b64encode(f"fleet:{_made('b62', 14, chance)}".encode()).decode()
    if kind == "name":
        return "-".join(chance.choice(words()) for _ in range(3))
    if kind == "jwt":
        parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": _made("digits", 9, chance), "name": "fleet"})
        made = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
        return ".".join([*made, _made("url", 43, chance)])
    raise ValueError(f"no such field: {kind}")


@cache
def words() -> list[str]:
    """The English words of recovery phrases."""
    path = Path(__file__).parents[2] / "compiler" / "fleetc" / "upstream" / "recovery_words.txt"
    return path.read_text(encoding="ascii").split()


def phrase(size: int, chance: random.Random) -> list[str]:
    """A recovery phrase of so many words, with its checksum."""
    bits = size * 11 * 32 // 33
    entropy = chance.getrandbits(bits).to_bytes(bits // 8, "big")
    check = hashlib.sha256(entropy).digest()[0] >> (8 - bits // 32)
    number = int.from_bytes(entropy, "big") << bits // 32 | check
    return [words()[number >> 11 * place & 2047] for place in reversed(range(size))]
