"""Emits `spec/`: the texts that the tree was compiled from, so that a tree can be compared and explained by itself.

In: the sources. Out: `spec/base.toml` and, for overlays in their order, `spec/overlay-1.toml` and so on. A spec holds
references to secrets and never a secret, so its copy holds none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fleetc.emit.tracing import TracedLine, traced
from fleetc.emit.tree import Artifact
from fleetc.places.origin import Origin
from fleetc.toml.document import Source

BASE = "spec/base.toml"


def emit(sources: Sequence[Source]) -> Iterator[Artifact]:
    """One artifact for each source; the manifest has their names."""
    for index, source in enumerate(sources):
        yield Artifact(BASE if index == 0 else f"spec/overlay-{index}.toml", source.text.encode())


def trace(source: Source) -> list[TracedLine]:
    """The lines of a copy: each is itself."""
    return [traced(line, [Origin("given", (), "the spec itself")]) for line in source.text.splitlines()]
