"""Emits `spec/`: the texts that the tree was compiled from, so that a tree alone can be compared and explained.

In: the sources. Out: `spec/base.toml` and, for overlays in their order, `spec/overlay-1.toml` and so on. A spec holds
references to secrets but never a secret, so its copy has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fleetc.emit.draft import Draft, Verbatim
from fleetc.places.origin import Origin
from fleetc.toml.document import Source

BASE = "spec/base.toml"


def emit(sources: Sequence[Source]) -> Iterator[Draft]:
    """One copy of each source; the manifest has their names."""
    for index, source in enumerate(sources):
        body = Verbatim(source.text, Origin("given", (), "the spec itself"))
        yield Draft(BASE if index == 0 else f"spec/overlay-{index}.toml", body)
