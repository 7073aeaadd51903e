"""The known log lines, as data: one file in `signatures/` for each error pattern.

In: the TOML files, read when `signatures` is first called. Out: a `Signature` by code. Asked by `observe/`, which finds
them in logs, and by `messages/explain.py`, which has a page for each.

The keys of a file: `severity` is error, warning or note, and a note is benign; `what`, `why` and `handling` are the
page; `patterns` are texts of a log line behind its source, as in "transcoder.go:282] text". {} is any text of the line;
^ is its beginning. A short text that other programs write too has the file of the node before it. A test ties patterns
to `call_sites.toml`. Those in `others` have words of another program (kernel, driver, library, RPC); those in
`documents` are how documents put it, and no program prints them. `change` names the fields that may need a change, and
`checks` the codes of `fleetc check` for the same fault. A `general` signature only counts in lines that match no other.
`lines` are lines that it must find, in real forms and in the wording of the documents, and `misses` those that it must
not.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import tomli

FOLDER = Path(__file__).parent / "signatures"


class Signature(NamedTuple):
    """One error pattern; `change` has fields such as "orchestrators.max_sessions"."""

    code: str
    severity: str
    what: str
    why: str
    handling: str
    patterns: tuple[str, ...]
    change: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    general: bool = False
    lines: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()

    @property
    def benign(self) -> bool:
        """Whether it needs no action."""
        return self.severity == "note"


@lru_cache(maxsize=1)
def signatures() -> dict[str, Signature]:
    """Every signature by code, sorted. The code is the name of its file."""
    return {path.stem: _read(path) for path in sorted(FOLDER.glob("*.toml"))}


def _read(path: Path) -> Signature:
    row = tomli.loads(path.read_text(encoding="utf-8"))
    keys = ("patterns", "change", "checks", "lines", "misses", "others", "documents")
    lists = {key: tuple(row.get(key, ())) for key in keys}
    lists["patterns"] += lists["others"] + lists["documents"]
    return Signature(path.stem, **{**row, **lists})
