"""Which files a spec includes: `include = ["regions/*.toml"]`, always inside the directory of the spec.

In: the value of `include`, and paths of files relative to the spec. Out: what is wrong with a pattern, and whether a
path matches one. `disk/` lists the files, or git does; `document.py` judges what they found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

INCLUDE = "include"
"""The top-level key of a spec that names the files it consists of, besides itself."""

PARTS_LIMIT = 1000
"""How many files a spec may include."""

_SEGMENT = re.compile(r"[A-Za-z0-9_*?-][A-Za-z0-9._*?-]*")


def fault(pattern: object) -> str:
    """What is wrong with a pattern; "" if nothing is."""
    if not isinstance(pattern, str):
        return "a pattern is text"
    if not pattern.endswith(".toml"):
        return "a pattern names .toml files"
    if pattern.startswith("/") or ".." in pattern.split("/"):
        return "a spec includes only files in its own directory and below"
    if "**" in pattern or not all(_SEGMENT.fullmatch(segment) for segment in pattern.split("/")):
        return "a pattern has plain names and * for a part of a name, separated by /"
    return ""


def patterns_of(included: object) -> list[str]:
    """The patterns of a spec that are right."""
    return [pattern for pattern in included if not fault(pattern)] if isinstance(included, list) else []


def matches(pattern: str, part: str) -> bool:
    """Whether a pattern names a file, by its path from the spec. A star stays in one name, and skips hidden files."""
    wanted, names = pattern.split("/"), part.split("/")
    return len(wanted) == len(names) and all(
        fnmatchcase(name, segment) and not name.startswith(".") for name, segment in zip(names, wanted, strict=True)
    )


def begins(pattern: str, part: str) -> bool:
    """Whether a pattern names a file, or a directory on the way to its files."""
    return matches("/".join(pattern.split("/")[: part.count("/") + 1]), part)


def matching(patterns: Iterable[str], parts: Iterable[str]) -> Iterator[str]:
    """The files that any of the patterns names, sorted."""
    known = list(patterns)
    yield from (part for part in sorted(parts) if any(matches(pattern, part) for pattern in known))
