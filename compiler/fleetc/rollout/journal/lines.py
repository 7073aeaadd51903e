"""The lines of a journal: one JSON object each, bound to the line before by a digest.

In: entries, or the bytes of a journal. Out: bytes, or entries. The digest of a line covers the digest before it and its
text, so changed, removed or moved lines are found. Only the last line can be torn, by a machine that stopped while it
was written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

FORMAT = 1
_START = "0" * 64
_OWN = ("format", "fleet", "at", "run", "what", "chain")


class JournalEntry(NamedTuple):
    """An event: its time (UTC), run, kind, and facts. No value of a secret."""

    at: str
    run: str
    what: str
    facts: Mapping[str, Any]


class Decoded(NamedTuple):
    """The content of a journal. `size` is how many bytes are whole lines; what follows them is a torn one."""

    entries: tuple[JournalEntry, ...]
    chain: str
    size: int


class JournalLineError(Exception):
    """A line that no rollout of this fleet wrote: `code` is one of journal-damaged, -newer and -other-fleet."""

    def __init__(self, code: str, line: int, message: str) -> None:
        super().__init__(message)
        self.code, self.line = code, line


def encode(entry: JournalEntry, fleet: str, chain: str) -> tuple[bytes, str]:
    """The line of an entry, with its line feed, and the digest that the next line is bound to."""
    own = {"format": FORMAT, "fleet": fleet, "at": entry.at, "run": entry.run, "what": entry.what}
    text = _text({**entry.facts, **own})
    digest = _chained(chain, text)
    return (_text({**entry.facts, **own, "chain": digest}) + "\n").encode(), digest


def decode(content: bytes, fleet: str) -> Decoded:
    """All entries of a journal. Raises JournalLineError."""
    entries: list[JournalEntry] = []
    chain, size = _START, 0
    lines = content.split(b"\n")
    for number, line in enumerate(lines[:-1], 1):
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            entry = None
        if not isinstance(entry, dict):
            raise JournalLineError("journal-damaged", number, "it is no line of a journal")
        if entry.get("format") != FORMAT:
            raise JournalLineError("journal-newer", number, "another version of fleetc wrote it")
        if entry.get("fleet") != fleet:
            raise JournalLineError("journal-other-fleet", number, "it is of another fleet")
        written = entry.pop("chain", None)
        chain = _chained(chain, _text(entry))
        if written != chain or not all(isinstance(entry.get(key), str) for key in ("at", "run", "what")):
            raise JournalLineError("journal-damaged", number, "it, or a line before it, was changed")
        facts = {key: value for key, value in entry.items() if key not in _OWN}
        entries.append(JournalEntry(entry["at"], entry["run"], entry["what"], facts))
        size += len(line) + 1
    return Decoded(tuple(entries), chain, size)


def _text(value: Mapping[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def _chained(chain: str, text: str) -> str:
    return hashlib.sha256(f"{chain}\n{text}".encode()).hexdigest()
