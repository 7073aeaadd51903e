"""Emits `spec/`: the texts that the tree was compiled from, so that a tree alone can be compared and explained.

In: the sources. Out: `spec/base.toml`, `spec/parts/` with what it includes and, for overlays in their order,
`spec/overlay-1.toml` and so on. A spec holds references to secrets but never a secret, so its copy has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fleetc.emit.draft import Draft, Verbatim
from fleetc.emit.tree import PARTS_FOLDER, SPEC_FOLDER
from fleetc.places.origin import Origin
from fleetc.toml.document import Source

BASE = f"{SPEC_FOLDER}base.toml"


def copies(sources: Sequence[Source]) -> list[str]:
    """Where a tree has each source: the base is the first, and an overlay is what is no part of it."""
    overlays = (f"{SPEC_FOLDER}overlay-{number}.toml" for number in range(1, len(sources) + 1))
    paths = (f"{PARTS_FOLDER}{source.part}" if source.part else next(overlays) for source in sources[1:])
    return [BASE, *paths] if sources else []


def originals(files: Mapping[str, bytes]) -> list[str]:
    """The copies that a tree has, in the order of the sources that they are of."""
    parts = sorted(path for path in files if path.startswith(PARTS_FOLDER))
    overlays = (path for path in files if path.startswith(f"{SPEC_FOLDER}overlay-"))
    numbered = sorted(overlays, key=lambda path: (len(path), path))
    return [*([BASE] if BASE in files else []), *parts, *numbered]


def part_of(path: str) -> str:
    """The path from the spec of an included file, by that of its copy; "" for other copies."""
    return path.removeprefix(PARTS_FOLDER) if path.startswith(PARTS_FOLDER) else ""


def emit(sources: Sequence[Source]) -> Iterator[Draft]:
    """One copy of each source; the manifest has their names."""
    for path, source in zip(copies(sources), sources, strict=True):
        yield Draft(path, Verbatim(source.text, Origin("given", (), "the spec itself")))
