"""The rules that fleetc ships to copy: `policy` lists and copies them, `explain` shows their pages.

In: nothing. Out: their texts, names and pages. Raises `FilesError` where they cannot be read.
"""

from __future__ import annotations

from fleetc.disk import files
from fleetc.policy.source import FOLDER, PREFIX, SUFFIX, page_of


def ready_texts() -> dict[str, str]:
    """The shipped texts below policy/, by path from there."""
    start = f"{FOLDER}/"
    return {path.removeprefix(start): text for path, text in files.read_starter().items() if path.startswith(start)}


def names_of(texts: dict[str, str]) -> list[str]:
    """The rules among these texts."""
    return [path.removesuffix(SUFFIX) for path in texts if path.endswith(SUFFIX)]


def ready_pages() -> dict[str, str]:
    """The page of each ready rule, by code."""
    texts = ready_texts()
    return {PREFIX + name: page_of(texts[f"{name}{SUFFIX}"]) for name in names_of(texts)}
